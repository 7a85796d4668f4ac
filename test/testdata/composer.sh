#!/bin/sh
# A stand-in for Claude Code in scripts: a composer, as far as Berth looks at one, and the hooks of a turn. Files of
# its folder change what it does: with stuck Enter does nothing, and with deaf nothing tells of a turn; a turn
# asks for a permission where there is asks (for two with asks.too), and goes on as long as there is slow. A script whose agent does
# something else has a file turn.sh, which replaces begin and turn. SAID, if set, names a file that gets each message.
stty raw -echo
nl='
'
text= aside= said= footer='? for shortcuts' n=1
while [ $# -gt 0 ]; do
	[ "$1" = --session-id ] && id=$2
	shift
done
key() { printf "\\$1"; }
call() { printf '{"hook_event_name":"%s","session_id":"%s","prompt_id":"p%s"%s}' "$1" "$id" $n "$2"; }
hook() { call "$1" "$2" | "$HOOK" hook --tell "$1"; }
draw() {
	foot=$footer
	[ -n "$aside" ] && foot="$foot › stashed"
	printf '\033[H\033[2J'
	printf '%s' "$said" | tail -n 8 | while IFS= read -r line; do printf '%s\r\n' "$line"; done
	printf '────────\r\n❯\302\240%s\033[7m \033[m\r\n────────\r\n  %s' "$text" "$foot"
}
working() {
	printf '\033]0;⠂ Claude Code\007'
	footer='esc to interrupt'
	draw
}
turn() {
	hook UserPromptSubmit ',"prompt":"'"$message"'"'
	working
	[ -f asks ] && hook PermissionRequest ',"tool_name":"Bash","tool_input":{"command":"make clean'"$(cat asks)"'"}'
	[ -f asks.too ] && hook PermissionRequest ',"tool_name":"Bash","tool_input":{"command":"make clean'"$(cat asks.too)"'"}'
	while [ -f slow ]; do sleep 0.05; done
	hook Stop ',"last_assistant_message":"I did: '"$message"'"'
}
enter() {
	[ -f stuck ] || [ -z "$text" ] && return
	message=$text text=$aside aside=
	[ -z "$SAID" ] || printf '%s\n' "$message" >> "$SAID"
	draw # an agent's composer is empty at once, however long its hooks take
	said=$said"said: $message$nl"
	[ -f deaf ] && return
	rests='? for shortcuts'
	turn
	n=$((n+1)) footer=$rests
	printf '\033]0;✳ Claude Code\007'
}
begin() { :; }
[ -f turn.sh ] && . ./turn.sh
begin
printf '\033[?2004h\033]0;✳ Claude Code\007'
draw
esc=$(key 033) enter=$(key 015) clear=$(key 025) stash=$(key 023)
while chunk=$(dd bs=65536 count=1 2>/dev/null; echo .); chunk=${chunk%.}; chunk=${chunk%$nl}; [ -n "$chunk" ]; do
	while [ -n "$chunk" ]; do # one read may have several keys
		rest=${chunk#?}
		case $chunk in
		"$esc[200~"*"$esc[201~"*) chunk=${chunk#"$esc[200~"}; text=$text${chunk%%"$esc[201~"*} rest=${chunk#*"$esc[201~"} ;;
		"$enter"*) enter ;;
		"$clear"*) text= ;;
		"$stash"*) if [ -n "$text" ]; then aside=$text text=; else text=$aside aside=; fi ;;
		'!hook'*)
			rest=${chunk#'!hook'}
			hook Notification ',"text":"'$(head -c 90000 /dev/zero | tr '\0' x)'"'
			said=${said}hooked$nl ;;
		*) text=$text$chunk rest= ;;
		esac
		chunk=$rest
	done
	draw
done
