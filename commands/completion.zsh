# The verbs of the server that ssh finds as HOST, as a command with completion.
berth() {
	if [ -t 0 ] && [ -t 1 ]; then ssh -t HOST "$@"; else ssh HOST "$@"; fi
}
_berth_ssh() {
	local -a found
	found=(${(f)"$(ssh -o BatchMode=yes -o ConnectTimeout=3 HOST complete --text -- "${(j: :)words[2,CURRENT]}" 2>/dev/null </dev/null)"})
	compadd -Q -a found
}
compdef _berth_ssh berth
