package terminal

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// maxTitle is how many runes of a title are kept.
	maxTitle = 256
	// maxTitles is how many titles XTPUSHTITLE keeps.
	maxTitles = 10
	// maxLink is the longest target of a link that is kept, as in VTE.
	maxLink = 2083
)

// command is an OSC string: a number, and what it is about.
func (t *Terminal) command(content []byte) {
	s := string(content)
	head, rest, _ := strings.Cut(s, ";")
	n, err := strconv.Atoi(head)
	if err != nil || len(head) > 5 || head[0] < '0' || head[0] > '9' {
		return
	}
	switch n {
	case 0, 2:
		t.setTitle(rest)
	case 4:
		t.paletteCommand(rest)
	case 10, 11, 12:
		t.colorCommand(n, rest)
	case 104:
		t.resetPalette(rest)
	case 110, 111, 112:
		t.setTermColor(n-100, DefaultColor)
		t.passCommand(head)
	case 8:
		t.linkCommand(rest)
	case 1337:
		t.itermImage(rest)
	case 52:
		t.clipboardCommand(rest)
	case 7, 9, 99, 133, 777, 7501:
		t.notice(n, strings.ToValidUTF8(rest, ""))
		if n == 9 || n == 777 {
			t.passNotice(n, rest)
		}
		if n == 133 && (rest == "A" || strings.HasPrefix(rest, "A;")) {
			t.row(t.scr.y).prompt = true
		}
	}
}

func (t *Terminal) setTitle(s string) {
	title := cleanText(s, maxTitle)
	t.passCommand("2;" + title)
	if title == t.title {
		return
	}
	t.title = title
	t.revision++
	t.tellTitle()
}

// cleanText is the printable part of s, at most limit runes of it.
func cleanText(s string, limit int) string {
	var b strings.Builder
	for _, r := range s {
		if r == utf8.RuneError || isUnsafe(r) {
			continue
		}
		if limit--; limit < 0 {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}

func (t *Terminal) pushTitle() {
	if len(t.titles) == maxTitles {
		t.titles = append([]string(nil), t.titles[1:]...)
	}
	t.titles = append(t.titles, t.title)
}

func (t *Terminal) popTitle() {
	if len(t.titles) == 0 {
		return
	}
	last := len(t.titles) - 1
	title := t.titles[last]
	t.titles = t.titles[:last]
	t.setTitle(title)
}

// paletteCommand is OSC 4: pairs of an index and a colour or a question mark.
func (t *Terminal) paletteCommand(s string) {
	parts := strings.Split(s, ";")
	answer := "" // one for all, as each reply needs an offset of its own
	for i := 0; i+1 < len(parts) && i < 512; i += 2 {
		n, err := strconv.ParseUint(parts[i], 10, 8)
		if err != nil {
			continue
		}
		if parts[i+1] == "?" {
			c, set := t.colors.palette[uint8(n)]
			if !set {
				c = Palette(uint8(n))
			}
			answer += fmt.Sprintf("\x1b]4;%d;%s\x1b\\", n, colorReport(c))
			continue
		}
		if c, ok := parseColor(parts[i+1]); ok {
			if t.colors.palette == nil {
				t.colors.palette = make(map[uint8]Color)
			}
			t.colors.palette[uint8(n)] = c
			t.revision++
			t.passCommand(fmt.Sprintf("4;%d;%s", n, colorReport(c)))
		}
	}
	t.reply(answer)
}

func (t *Terminal) resetPalette(s string) {
	t.revision++
	if s == "" {
		t.colors.palette = nil
		t.passCommand("104")
		return
	}
	for _, part := range strings.Split(s, ";") {
		if n, err := strconv.ParseUint(part, 10, 8); err == nil {
			delete(t.colors.palette, uint8(n))
			t.passCommand(fmt.Sprintf("104;%d", n))
		}
	}
	if len(t.colors.palette) == 0 {
		t.colors.palette = nil
	}
}

// colorCommand is OSC 10, 11 and 12. More than one value goes on with the next
// number.
func (t *Terminal) colorCommand(n int, s string) {
	answer := ""
	for _, part := range strings.Split(s, ";") {
		if n > 12 {
			break
		}
		if part == "?" {
			c := t.foreground()
			switch n {
			case 11:
				c = t.background()
			case 12:
				c = firstSet(t.colors.cursor, c)
			}
			answer += fmt.Sprintf("\x1b]%d;%s\x1b\\", n, colorReport(c))
		} else if c, ok := parseColor(part); ok {
			t.setTermColor(n, c)
			t.passCommand(fmt.Sprintf("%d;%s", n, colorReport(c)))
		}
		n++
	}
	t.reply(answer)
}

func (t *Terminal) setTermColor(n int, c Color) {
	switch n {
	case 10:
		t.colors.foreground = c
	case 11:
		t.colors.background = c
	case 12:
		t.colors.cursor = c
	}
	t.revision++
}

// linkCommand is OSC 8: parameters, and a target. Only http and https targets
// are links; any other text is plain.
func (t *Terminal) linkCommand(s string) {
	_, target, _ := strings.Cut(s, ";")
	if !isWebLink(target) {
		target = ""
	}
	t.pen.extra.link = target
	t.passCommand("8;;" + target)
}

// isWebLink says whether target is one that may reach a client: printable
// ASCII, as an URL has to be, and http or https.
func isWebLink(target string) bool {
	if len(target) > maxLink {
		return false
	}
	for i := range len(target) {
		if target[i] <= 0x20 || target[i] >= 0x7f {
			return false
		}
	}
	lower := strings.ToLower(target[:min(len(target), len("https://"))])
	return strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://")
}

// clipboardCommand is OSC 52. Asking what is on the clipboard is never
// answered. A write goes to the handler and not into the stream for clients,
// because who gets it isn't a matter of the screen.
func (t *Terminal) clipboardCommand(s string) {
	where, data, ok := strings.Cut(s, ";")
	if t.options.Handlers.Clipboard == nil || !ok || len(where) > 8 {
		return
	}
	for i := range len(where) {
		if strings.IndexByte("cpqs01234567", where[i]) < 0 {
			return
		}
	}
	for i := range len(data) {
		if b := data[i]; !(b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '+' || b == '/' || b == '=') {
			return
		}
	}
	t.options.Handlers.Clipboard(where + ";" + data)
}
