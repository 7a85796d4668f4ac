package gemini_test

import (
	"testing"
	"time"

	"berth/agent"
	"berth/agent/gemini"
	"berth/detect"
	"berth/terminal"
)

// BenchmarkLook is what a look at the screen costs after one line of it has
// changed: the view, the reading, the fold.
func BenchmarkLook(b *testing.B) {
	t := terminal.New(terminal.Options{Cols: 200, Rows: 50})
	_, _ = t.Write([]byte("\x1b[40;1H ⠧ Thinking... (esc to cancel, 3s)\r\n" + ruled + "\r\n Shift+Tab to accept edits\r\n" + upper + "\r\n > \x1b[7m \x1b[27m Type your message or @path/to/file\r\n" + lower + "\r\n" + foot))
	var w detect.Viewer
	fold := detect.New(gemini.Driver{}, detect.Options{Start: time.Unix(0, 0)})
	now := time.Unix(0, 0)
	b.ReportAllocs()
	for i := range b.N {
		_, _ = t.Write([]byte("\x1b[40;2H" + []string{"⠧", "⠇", "⠏"}[i%3]))
		now = now.Add(25 * time.Millisecond)
		r := gemini.Driver{}.Screen(w.View(t.Snapshot(0)))
		if r.Composer == nil || r.Busy == "" {
			b.Fatalf("%+v", r)
		}
		fold.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Time: now, Reading: r})
	}
}
