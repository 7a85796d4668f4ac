package attach

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"berth/terminal"
)

// randomOutput is what programs might write: text of all widths, styles, cursor
// movement, erasing, scrolling, regions, modes, both screens.
func randomOutput(r *rand.Rand, n int) []byte {
	var b strings.Builder
	words := []string{"plain", "日本語", "naïve", "e\u0301", "👩\u200d💻", "🇩🇪", "─│┌", "⠂", "✳\ufe0f", "a b", "한글"}
	for range n {
		switch r.IntN(22) {
		case 0, 1, 2, 3, 4:
			b.WriteString(words[r.IntN(len(words))])
		case 5, 6:
			b.WriteString("\r\n")
		case 7:
			fmt.Fprintf(&b, "\x1b[%d;%dH", r.IntN(30), r.IntN(90))
		case 8:
			fmt.Fprintf(&b, "\x1b[%d;3%dm", r.IntN(10), r.IntN(8))
		case 9:
			fmt.Fprintf(&b, "\x1b[38;2;%d;%d;%dm\x1b[48;5;%dm", r.IntN(256), r.IntN(256), r.IntN(256), r.IntN(256))
		case 10:
			fmt.Fprintf(&b, "\x1b[%dK", r.IntN(3))
		case 11:
			fmt.Fprintf(&b, "\x1b[%dJ", r.IntN(3))
		case 12:
			fmt.Fprintf(&b, "\x1b[%d%c", r.IntN(5), "@PLMXSTAB"[r.IntN(9)])
		case 13:
			fmt.Fprintf(&b, "\x1b[%d;%dr", 1+r.IntN(5), 6+r.IntN(12))
		case 14:
			b.WriteString("\x1b[r")
		case 15:
			b.WriteString([]string{"\x1bM", "\x1bD", "\t", "\b"}[r.IntN(4)])
		case 16:
			fmt.Fprintf(&b, "\x1b[?%d%c", []int{1, 5, 7, 25, 1000, 1002, 1006, 1004, 2004}[r.IntN(9)], "hl"[r.IntN(2)])
		case 17:
			if r.IntN(4) == 0 {
				fmt.Fprintf(&b, "\x1b[r\x1b[?1049%c", "hl"[r.IntN(2)])
			}
		case 18:
			fmt.Fprintf(&b, "\x1b]2;title %d\x1b\\", r.IntN(9))
		case 19:
			b.WriteString([]string{"\x1b[4:3m", "\x1b[0m", "\x1b[4h", "\x1b[4l", "\x1b[>1u", "\x1b[<u", "\x1b[3 q"}[r.IntN(7)])
		case 20:
			b.WriteString("\x1b]8;;https://example.org/\x1b\\link\x1b]8;;\x1b\\")
		case 21:
			b.WriteString(strings.Repeat("x", r.IntN(100)))
		}
	}
	return []byte(b.String())
}

// TestRandomStreams holds three people to a session of random output, resizes
// and stalls: one of the session's size, one smaller, one larger.
func TestRandomStreams(t *testing.T) {
	seeds := 20
	if testing.Short() {
		seeds = 5
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(seed), 7))
			clock := newFakeClock()
			s := newFakeSession(60, 18)
			s.write(randomOutput(r, 300))
			exact := attach(t, s, 60, 18, func(o *Options) { o.Clock = clock })
			small := attach(t, s, 33, 9, func(o *Options) { o.Clock, o.ReadOnly = clock, true })
			large := attach(t, s, 90, 30, func(o *Options) { o.Clock, o.ReadOnly = clock, true })
			checks := []func() string{
				same(exact, s),
				func() string { return findCrop(small, s) },
				func() string { return sameCrop(large.sees(), s.snapshot(), 0, 0) },
			}
			for range 15 {
				var resume func()
				switch r.IntN(5) {
				case 0:
					cols, rows := 35+r.IntN(50), 10+r.IntN(18)
					exact.resize(cols, rows)
					s.resize(cols, rows)
				case 1:
					resume = exact.stall()
				}
				for range 1 + r.IntN(3) {
					s.write(randomOutput(r, r.IntN(200)))
				}
				if resume != nil {
					resume()
				}
				if m := s.snapshot().Modes; m.AutoWrap == false && r.IntN(2) == 0 {
					s.write([]byte("\x1b[?7h"))
				}
				for i, check := range checks {
					eventually(t, func() string {
						clock.advance(time.Second)
						if why := check(); why != "" {
							return fmt.Sprintf("person %d: %s", i, why)
						}
						return ""
					})
				}
			}
			exact.press("\x1dd")
			if err := exact.left(); err != nil {
				t.Fatal(err)
			}
			if m := exact.sees().Modes; m.AltScreen || m.Mouse != terminal.MouseNone || m.KittyFlags != 0 || m.BracketedPaste {
				t.Errorf("left in modes %+v", m)
			}
		})
	}
}
