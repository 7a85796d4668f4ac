# The verbs of the server that ssh finds as HOST, as a command with completion.
berth() {
	if [ -t 0 ] && [ -t 1 ]; then ssh -t HOST "$@"; else ssh HOST "$@"; fi
}
_berth_ssh() {
	local IFS=$'\n'
	COMPREPLY=($(ssh -o BatchMode=yes -o ConnectTimeout=3 HOST complete --text -- "$(IFS=' '; echo "${COMP_WORDS[*]:1:COMP_CWORD}")" 2>/dev/null </dev/null))
}
complete -o default -F _berth_ssh berth
