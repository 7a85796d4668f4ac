package qwen_test

import (
	"testing"
	"time"

	"berth/agent"
	"berth/agent/qwen"
	"berth/detect"
)

// TestDigestOfAPage: a hook reports all pages of a question's dialog. An answer that names the digest of the one page
// that was seen isn't one to the others.
func TestDigestOfAPage(t *testing.T) {
	const (
		page  = "\n   Which color?\n\n   ❯ 1. Red\n        r\n     2. Green\n        g\n     3. Type something...\n\n\n   ↑/↓: Navigate | Enter: Select | Esc: Cancel\n" + waiting
		color = `{"question":"Which color?","header":"Color","options":[{"label":"Red","description":"r"},{"label":"Green","description":"g"}]}`
		drop  = `{"question":"What to drop?","header":"Size","options":[{"label":"All","description":"a"},{"label":"None","description":"n"}]}`
	)
	for _, c := range []struct {
		screen, questions string
		same              bool
	}{
		{"  ? AskUserQuestion Ask user 1 question ←\n\n   Color\n" + page, color, true},
		{"  ? AskUserQuestion Ask user 2 questions ←\n\n   ▸ Color   Size  Submit\n" + page, color + "," + drop, false},
	} {
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		fold := detect.New(qwen.Driver{}, detect.Options{Start: now})
		apply := func(f agent.Fact) {
			now = now.Add(300 * time.Millisecond)
			f.Time, f.At = now, now
			fold.Apply(f)
			fold.Tick(now.Add(200 * time.Millisecond))
		}
		apply(hook(t, `"hook_event_name":"SessionStart","source":"startup"`))
		apply(hook(t, `"hook_event_name":"UserPromptSubmit","prompt":"go"`))
		apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: draw(80, 24, c.screen)})
		seen, ok := fold.Pending("")
		if !ok || seen.Told || len(seen.Request.Questions) == 0 {
			t.Fatalf("it isn't seen: %+v", seen.Request)
		}
		apply(hook(t, `"hook_event_name":"PermissionRequest","tool_name":"ask_user_question","tool_input":{"questions":[`+c.questions+`]}`))
		whole, ok := fold.Pending("")
		if !ok || !whole.Told || whole.Request.ID != seen.Request.ID {
			t.Fatalf("it isn't reported: %+v", whole.Request)
		}
		if same := whole.Before == seen.Request.Digest; same != c.same {
			t.Errorf("%s: an answer to what was seen counts: %v, want %v", c.questions, same, c.same)
		}
	}
}
