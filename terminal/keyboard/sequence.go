package keyboard

import (
	"strconv"
	"strings"
)

// Kind is what a complete ESC [ or ESC O sequence from a terminal is.
type Kind int

// The kinds of sequences.
const (
	Pressed    Kind = iota // a key
	Reply                  // to a query
	Mouse                  // a mouse event
	Focus                  // came or went
	PasteBegin             // what follows is pasted
)

// Classify sorts a complete sequence. No key has a private marker other than
// `<` of the mouse, so those are replies: DA1 `?c`, DA2 `>c`, DA3 `=c`, DECRPM
// `?$y`, kitty flags `?u`, DECXCPR `?R`, XTSMGRAPHICS `?S`, XTMODKEYS `>m`,
// theme `?997n`. So are, without a marker, DECRPM `$y`, DSR `n`, window
// reports `t` and DECREPTPARM `x`.
func Classify(seq []byte) Kind {
	if len(seq) < 3 || seq[1] != '[' {
		return Pressed
	}
	final, body := seq[len(seq)-1], string(seq[2:len(seq)-1])
	if seq[2] == 'M' && len(seq) == 6 { // X10 coordinates follow the final
		return Mouse
	}
	if body == "" {
		if final == 'I' || final == 'O' {
			return Focus
		}
		return Pressed
	}
	switch body[0] {
	case '?', '>', '=':
		return Reply
	case '<':
		if final == 'M' || final == 'm' {
			return Mouse
		}
		return Reply
	}
	switch final {
	case 'M': // urxvt's mouse form
		return Mouse
	case 'y', 'n', 't', 'x':
		return Reply
	case 'R':
		if cursorReport(body) {
			return Reply
		}
	case '~':
		if body == "200" {
			return PasteBegin
		}
	}
	return Pressed
}

// cursorReport distinguishes CPR `row;col` from F3 with modifiers, which xterm sends as
// `1;m` with m from 2 to 16, and with an event type as `1;m:e`. A report from
// row 1, column 2 to 16 passes as F3: eating a key that a person pressed is the
// worse mistake, because no program asks the client's terminal where its cursor is.
func cursorReport(body string) bool {
	row, col, ok := strings.Cut(body, ";")
	if !ok || strings.ContainsAny(body, ":") {
		return false
	}
	r, err1 := strconv.Atoi(row)
	c, err2 := strconv.Atoi(col)
	if err1 != nil || err2 != nil {
		return false
	}
	return r != 1 || c < 2 || c > 16
}

// ReplyString says whether c may go on from the start of a string so that it
// is a reply: OSC with a number (colours) or l, L (titles), DCS of DECRQSS
// `$r`, XTGETTCAP `+r`, XTVERSION `>|`, DA3 `!|`, APC G (kitty graphics).
func ReplyString(start []byte, c byte) bool {
	if c < 0x20 || c == 0x7f {
		return false
	}
	if len(start) > 16 { // long since decided
		return true
	}
	body := string(append(start[2:len(start):len(start)], c))
	switch start[1] {
	case ']':
		return len(body) > 1 || c >= '0' && c <= '9' || c == 'l' || c == 'L'
	case 'P':
		rest := strings.TrimLeft(body, "0123456789;")
		switch len(rest) {
		case 0:
			return len(body) <= 8
		case 1:
			return strings.Contains("$+>!", rest)
		default:
			return dcsReply(rest)
		}
	case '_':
		return body[0] == 'G'
	default: // PM, SOS: nothing replies so
		return false
	}
}

func dcsReply(rest string) bool {
	switch rest[:2] {
	case "$r", "+r", ">|", "!|":
		return true
	}
	return false
}

// ReplyStringDone says whether a complete string, with its end, is a reply.
func ReplyStringDone(seq []byte) bool {
	if seq[1] != 'P' {
		return true
	}
	rest := strings.TrimLeft(string(seq[2:]), "0123456789;")
	return len(rest) >= 2 && dcsReply(rest)
}
