# The verbs of the server that ssh finds as HOST, as a command with completion.
function berth
	if test -t 0; and test -t 1
		ssh -t HOST $argv
	else
		ssh HOST $argv
	end
end
function __berth_ssh
	set -l words (commandline -opc) (commandline -ct)
	ssh -o BatchMode=yes -o ConnectTimeout=3 HOST complete --text -- (string join ' ' -- $words[2..-1]) 2>/dev/null </dev/null
end
complete -c berth -f -a '(__berth_ssh)'
