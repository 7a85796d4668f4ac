package tui

import (
	"fmt"
	"strings"
	"testing"

	"berth/agent"
	"berth/terminal"
)

// BenchmarkPage opens a page, and draws it after a key: a history of 5000 coloured lines, and a
// text of a quarter of a page's maximum.
func BenchmarkPage(b *testing.B) {
	term := terminal.New(terminal.Options{Cols: 200, Rows: 50, Scrollback: historyLines})
	var text strings.Builder
	for i := range historyLines {
		fmt.Fprintf(term, "\x1b[3%dm%d %s\x1b[0m 漢字 %s\r\n", i%8, i, strings.Repeat("word ", 20), strings.Repeat("x", 30))
		fmt.Fprintf(&text, "%d %s\r\n", i, strings.Repeat("word ", 10))
	}
	pic := term.Snapshot(historyLines)
	m := started(200, 60, world(at("a", agent.Idle, 1)))
	f := NewFrame(200, 60)
	for name, done := range map[string]Done{
		"history": {Act: Act{Kind: "history", end: true}, Lines: append(pic.History, pic.Lines...)},
		"text":    {Act: Act{Kind: "page watch", end: true}, Out: text.String()},
	} {
		b.Run(name+"/open", func(b *testing.B) {
			from := processor(b)
			for range b.N {
				m.Finish(done, noon)
				m.Draw(f)
			}
			b.ReportMetric(float64((processor(b)-from).Microseconds())/float64(b.N), "cpu-µs/op")
		})
		b.Run(name+"/key", func(b *testing.B) {
			m.Finish(done, noon)
			m.Draw(f)
			from := processor(b)
			for range b.N {
				m.Press(Key{Name: "k"}, noon)
				m.Draw(f)
			}
			b.ReportMetric(float64((processor(b)-from).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}
