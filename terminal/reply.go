package terminal

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// reply hands out the answer to the query that ends here. A query is answered at
// most once: offsets tell answers apart.
func (t *Terminal) reply(answer string) {
	if f := t.options.Handlers.Reply; f != nil && answer != "" {
		f([]byte(answer), t.at())
	}
}

func (t *Terminal) notice(osc int, payload string) {
	if f := t.options.Handlers.Notice; f != nil {
		f(Notice{OSC: osc, Payload: payload, At: t.at()})
	}
}

func (t *Terminal) tellTitle() {
	if f := t.options.Handlers.Title; f != nil {
		f(t.title)
	}
}

// reportStatus is DSR.
func (t *Terminal) reportStatus(n int, private bool) {
	mark := ""
	if private {
		mark = "?"
	}
	switch {
	case n == 5 && !private:
		t.reply("\x1b[0n")
	case n == 6:
		c := t.Cursor()
		t.reply(fmt.Sprintf("\x1b[%s%d;%dR", mark, t.originRow()+1, c.Col+1))
	case n == 996 && private:
		theme := 2
		if isDark(t.background()) {
			theme = 1
		}
		t.reply(fmt.Sprintf("\x1b[?997;%dn", theme))
	}
}

// reportMode is DECRQM.
func (t *Terminal) reportMode(private bool, n int) {
	mark := ""
	if private {
		mark = "?"
	}
	t.reply(fmt.Sprintf("\x1b[%s%d;%d$y", mark, n, t.modeState(private, n)))
}

// Cells are reported as this many pixels: no one draws pixels here, but a
// program that asks divides by them.
const cellWidth, cellHeight = 10, 20

// windowOperation is XTWINOPS: sizes are reported, titles pushed and popped,
// the rest is the client's business.
func (t *Terminal) windowOperation(p *params) {
	switch p.at(0, 0) {
	case 14:
		t.reply(fmt.Sprintf("\x1b[4;%d;%dt", t.rows*cellHeight, t.cols*cellWidth))
	case 16:
		t.reply(fmt.Sprintf("\x1b[6;%d;%dt", cellHeight, cellWidth))
	case 18:
		t.reply(fmt.Sprintf("\x1b[8;%d;%dt", t.rows, t.cols))
	case 19:
		t.reply(fmt.Sprintf("\x1b[9;%d;%dt", t.rows, t.cols))
	case 22:
		if what := p.at(1, 0); what == 0 || what == 2 {
			t.pushTitle()
		}
	case 23:
		if what := p.at(1, 0); what == 0 || what == 2 {
			t.popTitle()
		}
	}
}

// deviceControl answers the two DCS queries, and prints the placeholder of an image; other strings are swallowed.
func (t *Terminal) deviceControl(content []byte) {
	s := string(content)
	switch {
	case strings.HasPrefix(s, "$q"):
		t.reportSetting(s[2:])
	case strings.HasPrefix(s, "+q"):
		t.reportCapabilities(s[2:])
	default:
		t.sixelImage(s)
	}
}

// reportSetting is DECRQSS.
func (t *Terminal) reportSetting(name string) {
	value := ""
	switch name {
	case "m":
		value = string(t.pen.style().appendGraphics(nil)) + "m"
	case "r":
		value = fmt.Sprintf("%d;%dr", t.scr.top+1, t.scr.bottom+1)
	case " q":
		value = fmt.Sprintf("%d q", t.modes.shape)
	case `"p`:
		value = `61;1"p`
	case `"q`:
		value = `0"q`
		if t.pen.attr&cellProtected != 0 {
			value = `1"q`
		}
	default:
		t.reply("\x1bP0$r\x1b\\")
		return
	}
	t.reply("\x1bP1$r" + value + "\x1b\\")
}

// capabilities are the answers to XTGETTCAP.
var capabilities = map[string]string{
	"TN": "xterm-256color", "name": "xterm-256color", "Co": "256", "colors": "256", "RGB": "8",
}

// reportCapabilities is XTGETTCAP: names in hex, up to the first unknown one.
func (t *Terminal) reportCapabilities(names string) {
	var known []string
	for i, name := range strings.Split(names, ";") {
		if i == 16 {
			break
		}
		plain, err := hex.DecodeString(name)
		value, ok := capabilities[string(plain)]
		if err != nil || !ok {
			break
		}
		known = append(known, name+"="+strings.ToUpper(hex.EncodeToString([]byte(value))))
	}
	if len(known) == 0 {
		t.reply("\x1bP0+r\x1b\\")
		return
	}
	t.reply("\x1bP1+r" + strings.Join(known, ";") + "\x1b\\")
}
