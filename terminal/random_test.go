package terminal

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// randomStream makes what a program might write, with more than is usual of what
// repaints and clients' streams find hard: edges, clusters in pieces, saved
// cursors, and the two screens.
type randomStream struct {
	*rand.Rand
	cols, rows int
}

// randomTexts are what is printed beside ASCII: combining marks, marks and
// joiners on their own, wide runes, Hangul in parts, flags, emoji.
var randomTexts = []string{
	"e\u0301", "\u0301", "\u200d", "\ufe0f", "\u4f60\u597d", "\u4f60", "\u1112\u1161\u11ab", "\u1100", "\u1161", "\uac00\u200d",
	"a\u200d", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f468\u200d", "\U0001f469", "\u26a0", "\u26a0\ufe0f",
	"\U0001f44d\U0001f3fd", "\U0001f3fd", "\U0001f44d", "\U0001f1e9\U0001f1ea", "\U0001f1e9", "\U0001f1ea\U0001f1ea\U0001f1ea",
	"\u00ad", "\u200b", "\ufeff", "\u00e9", "\u2500\u2502", "\u0915\u094d\u0937", "#\ufe0f\u20e3", "\u20e3",
}

func (r *randomStream) pick(from ...string) string { return from[r.IntN(len(from))] }

func (r *randomStream) row() int { return r.IntN(r.rows+2) + r.IntN(2) }
func (r *randomStream) col() int {
	if r.IntN(3) == 0 {
		return r.cols - r.IntN(3)
	}
	return r.IntN(r.cols+2) + r.IntN(2)
}

func (r *randomStream) letters() string {
	n := r.IntN(12)
	if r.IntN(6) == 0 {
		n = r.cols + r.IntN(r.cols)
	}
	b := make([]byte, n)
	for i := range b {
		b[i] = "abcdefghijklmnopqrstuvwxyz  ~#"[r.IntN(30)]
	}
	return string(b)
}

// token is one thing a program writes.
func (r *randomStream) token() string {
	switch r.IntN(27) {
	case 0, 1, 2, 3:
		return r.letters()
	case 4, 5, 6, 7:
		return r.pick(randomTexts...)
	case 8:
		return r.pick("\r\n", "\n", "\r", "\b", "\t", "\v")
	case 9, 10:
		return fmt.Sprintf("\x1b[%d;%dH", r.row(), r.col())
	case 11:
		return fmt.Sprintf("\x1b[%d%s", r.IntN(6), r.pick("A", "B", "C", "D", "E", "F", "G", "d", "a", "e", "I", "Z", "b"))
	case 12:
		return fmt.Sprintf("\x1b[%d%s", r.IntN(4), r.pick("J", "K", "X", "@", "P", "L", "M", "S", "T", " @", " A", "'}", "'~"))
	case 26:
		return r.pick("\x1b[1\"q", "\x1b[1\"q", "\x1b[0\"q") + r.letters() + fmt.Sprintf("\x1b[?%d%s", r.IntN(4), r.pick("J", "K"))
	case 13, 14:
		return r.graphics()
	case 15:
		top := r.IntN(r.rows) + 1
		return fmt.Sprintf("\x1b[%d;%dr", top, top+r.IntN(r.rows))
	case 16:
		return r.pick("\x1b[?6h", "\x1b[?6l", "\x1b[r", "\x1b[?7l", "\x1b[?7h", "\x1b[?7h", "\x1b[?45h")
	case 17:
		return r.pick("\x1b7", "\x1b[s", "\x1b[?1048h")
	case 18:
		return r.pick("\x1b8", "\x1b[u", "\x1b[?1048l")
	case 19:
		return "\x1b[?" + r.pick("1049", "1049", "47", "1047") + r.pick("h", "l")
	case 20:
		return r.pick("\x1b(0", "\x1b(B", "\x1b)0", "\x0e", "\x0f", "\x1b(A")
	case 21:
		return r.pick("\x1bH", "\x1b[g", "\x1b[3g", "\x1b[?5W", "\x1bD", "\x1bE", "\x1bM", "\x1bM")
	case 22:
		return r.pick("\x1b[4h", "\x1b[4l", "\x1b[4l", "\x1b[20h", "\x1b[20l")
	case 23:
		return r.pick("\x1b[?1h", "\x1b[?1l", "\x1b=", "\x1b>", "\x1b[?25l", "\x1b[?25h", "\x1b[?2004h", "\x1b[?1002h", "\x1b[?1000l",
			"\x1b[?1006h", "\x1b[5 q", "\x1b[>5u", "\x1b[<u", "\x1b[=3u", "\x1b[?5h", "\x1b[?5l", "\x1b[?2026h", "\x1b[?2026l", "\x1b[>4;2m", "\x1b[?12h")
	case 24:
		return r.pick("\x1b]0;a title\x07", "\x1b]8;;https://e.com/a\x07", "\x1b]8;;\x07", "\x1b]11;#102030\x07", "\x1b[22t", "\x1b[23t")
	default:
		if r.IntN(6) > 0 {
			return ""
		}
		return r.pick("\x1b[!p", "\x1bc", "\x1b#8", "\x1b[2J", "\x1b[3J")
	}
}

func (r *randomStream) graphics() string {
	return "\x1b[" + r.pick("0", "1", "1;31", "44", "48;5;100", "38;2;1;2;3", "7", "4", "4:3", "58:5:9", "22;27", "49", "") + "m"
}

func (r *randomStream) bytes(tokens int) []byte {
	var b strings.Builder
	for range tokens {
		b.WriteString(r.token())
	}
	return []byte(b.String())
}

// TestRandomStreamsLookTheSameToClients follows random streams with three
// clients: one from the start, one from a repaint midway, and one that is
// repainted again and again. A resize comes between in some. After each piece
// all show what the terminal does, and so do they after what brings back saved
// cursors and the other screen.
func TestRandomStreamsLookTheSameToClients(t *testing.T) {
	seeds := 1500
	if raceDetector {
		seeds = 150
	}
	for seed := range seeds {
		if diff := followRandomly(t, uint64(seed)); diff != "" {
			t.Errorf("seed %d: %s", seed, diff)
		}
	}
}

func followRandomly(t *testing.T, seed uint64) string {
	r := &randomStream{Rand: rand.New(rand.NewPCG(seed, 7)), cols: 20, rows: 6}
	if seed%3 == 0 {
		r.cols, r.rows = 5, 4
	}
	term := New(Options{Cols: r.cols, Rows: r.rows, Scrollback: 20, Now: fixedClock})
	term.SetPass(true)
	start, late, again := quiet(t, term), quiet(t, term), quiet(t, term)
	write := func(piece []byte) string {
		term.Write(piece)
		out := term.TakePass()
		for i, client := range []*Terminal{start, late, again} {
			client.Write(out)
			if diff := samePicture(client.Snapshot(0), term.Snapshot(0)); diff != "" {
				return fmt.Sprintf("client %d after %q as %q: %s", i, piece, out, diff)
			}
		}
		again.Write(term.Repaint(RepaintOptions{History: r.IntN(2) * 5}))
		if diff := sameState(again, term); diff != "" {
			return fmt.Sprintf("repaint %q after %q: %s", term.Repaint(RepaintOptions{}), piece, diff)
		}
		return ""
	}
	for part := range 4 {
		for range 6 {
			if diff := write(r.bytes(1 + r.IntN(6))); diff != "" {
				return diff
			}
		}
		if part == 1 && seed%2 == 0 {
			r.cols, r.rows = max(r.cols+r.IntN(7)-3, 3), max(r.rows+r.IntN(5)-2, 2)
			term.Resize(r.cols, r.rows)
			term.TakePass()
			start, again = quiet(t, term), quiet(t, term)
			start.Write(term.Repaint(RepaintOptions{}))
			again.Write(term.Repaint(RepaintOptions{}))
		}
		if part == 1 {
			late = quiet(t, term)
			late.Write(term.Repaint(RepaintOptions{History: 5}))
		}
	}
	for _, end := range []string{"\x1b8x", "\x1b[?1049lx", "\x1b8x", "\x1b[?1047hx", "\x1b8x\n", "\x1b[?1049h\x1b[B", "\x1b[?1049l\n\n\nx"} {
		if diff := write([]byte(end)); diff != "" {
			return diff
		}
	}
	return ""
}
