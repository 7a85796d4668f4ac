package claude_test

import (
	"testing"
	"time"

	"berth/agent"
	"berth/agent/claude"
	"berth/detect"
	"berth/terminal"
)

// BenchmarkLook is what a look at the screen costs after one line of it has
// changed: the view, the reading, the fold.
func BenchmarkLook(b *testing.B) {
	t := terminal.New(terminal.Options{Cols: 200, Rows: 50})
	_, _ = t.Write([]byte("\x1b[40;1H" + "✻ Brewing… (1s)\r\n\r\n" + rule + "\r❯\u00a0" + caret + "\r\n" + rule + "\r" + footer))
	var w detect.Viewer
	fold := detect.New(claude.Driver{}, detect.Options{Start: time.Unix(0, 0)})
	now := time.Unix(0, 0)
	b.ReportAllocs()
	for i := range b.N {
		_, _ = t.Write([]byte("\x1b[40;1H" + []string{"✻", "✽", "✶"}[i%3] + " Brewing…"))
		now = now.Add(25 * time.Millisecond)
		fold.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Time: now, Reading: claude.Driver{}.Screen(w.View(t.Snapshot(0)))})
	}
}

// BenchmarkHook is what a hook's event costs.
func BenchmarkHook(b *testing.B) {
	payload := []byte(`{"session_id":"s","transcript_path":"/t","cwd":"/w","prompt_id":"p","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls -l","description":"list"},"tool_use_id":"k"}`)
	fold := detect.New(claude.Driver{}, detect.Options{Start: time.Unix(0, 0)})
	b.ReportAllocs()
	for range b.N {
		facts, err := claude.Driver{}.Hook(payload)
		if err != nil {
			b.Fatal(err)
		}
		facts[0].Time = time.Unix(1, 0)
		fold.Apply(facts[0])
	}
}
