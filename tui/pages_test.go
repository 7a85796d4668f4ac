package tui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/api"
	"berth/terminal"
)

// typeText presses the keys of a text.
func typeText(m *Model, text string) {
	for _, r := range text {
		press(m, later, string(r))
	}
}

// A search on a page: n goes to the next row, around at the end, and N back. Text that isn't there is
// reported.
func TestPageSearch(t *testing.T) {
	m := started(60, 12, world(at("alpha", agent.Idle, 1)))
	var text []string
	for i := range 60 {
		text = append(text, "row "+string(rune('a'+i%26))+strings.Repeat("x", i/26))
	}
	m.Finish(Done{Act: Act{Kind: "page explain", title: "Evidence"}, Out: strings.Join(text, "\n")}, later)
	if drawn(m); !strings.Contains(drawn(m), " 1-9 of 60 ") {
		t.Fatalf("the page is drawn as\n%s", drawn(m))
	}
	press(m, later, "/")
	typeText(m, "row z")
	press(m, later, "enter")
	if got := drawn(m); m.page.found != 25 || !strings.Contains(got, "row z") || !strings.Contains(got, "/row z") {
		t.Errorf("found row %d:\n%s", m.page.found, got)
	}
	for _, step := range []struct {
		key  string
		want int
	}{{"n", 51}, {"n", 25}, {"N", 51}, {"N", 25}} {
		if press(m, later, step.key); m.page.found != step.want {
			t.Errorf("%s finds row %d, want %d", step.key, m.page.found, step.want)
		}
	}
	press(m, later, "/")
	typeText(m, "nowhere")
	if press(m, later, "enter"); !strings.Contains(m.flash.text, "not found: nowhere") {
		t.Errorf("the message is %q", m.flash.text)
	}
}

// The work in a worktree is drawn as the changes on cards are: numbers, signs and colours.
func TestWorktreePage(t *testing.T) {
	s := at("alpha", agent.Idle, 1)
	s.Cwd = "/srv/shop"
	w := world(s)
	w.May = Rights{"worktree": true}
	m := started(60, 20, w)
	if e := press(m, later, "D"); e != nil || m.flash.text != "alpha has no worktree: it works in /srv/shop itself" {
		t.Errorf("D without a worktree does %v and says %q", e, m.flash.text)
	}
	m.Finish(Done{
		Act: Act{Kind: "page diff", title: "Work"},
		Out: "alpha: 0 commits since main\r\n\r\nNot committed:\r\ndiff --git a/x b/x\r\nindex 1..2 100644\r\n--- a/x\r\n+++ b/x\r\n@@ -7,2 +7,2 @@\r\n same\r\n-old\r\n+new\r\n",
	}, later)
	f := NewFrame(60, 20)
	m.Draw(f)
	rows := f.Text()
	for text, of := range map[string]tone{" 7   same": plain, "   - old": removed, " 8 + new": added} {
		y := slices.Index(rows, text)
		if y < 0 {
			t.Errorf("no row %q:\n%s", text, strings.Join(rows, "\n"))
			continue
		}
		if got := f.palette.styles[f.cells[y*60+7].style]; got != m.theme.style(of) {
			t.Errorf("%q is drawn as %v", text, got)
		}
	}
}

// The page of a queue: x asks, y removes the chosen message, and the answer is the new list. Who may
// not send messages removes none.
func TestQueuePage(t *testing.T) {
	const both = `[{"queue_id":"q1","text":"first text","by":{"identity":"ann"},"why":"the agent is busy"},{"queue_id":"q2","text":"second text","by":{"identity":"bob"}}]`
	w := world(at("alpha", agent.Working, 1))
	w.May = Rights{"queue": true, "nudge": true}
	m := started(80, 20, w)
	page, ok := press(m, later, "u").(Act)
	if !ok || page.Text {
		t.Fatalf("u does %v", page)
	}
	m.Finish(Done{Act: page, Out: both}, later)
	if got := drawn(m); !strings.Contains(got, "q1") || !strings.Contains(got, "by ann") || !strings.Contains(got, "  second text") {
		t.Fatalf("the queue is drawn as\n%s", got)
	}
	if press(m, later, "j", "x"); m.confirm == nil || !strings.Contains(drawn(m), "Remove q2 from the queue of alpha?") {
		t.Fatalf("x asks nothing:\n%s", drawn(m))
	}
	if e := press(m, later, "n"); e != nil || m.page == nil {
		t.Errorf("without a yes it does %v", e)
	}
	press(m, later, "x")
	removal, ok := press(m, later, "y").(Act)
	if !ok || strings.Join(removal.Words, " ") != "queue id-alpha rm q2" {
		t.Fatalf("y does %v", removal)
	}
	m.Finish(Done{Act: removal, Out: `[{"queue_id":"q1","text":"first text","by":{"identity":"ann"}}]`}, later)
	if got := drawn(m); strings.Contains(got, "q2") || !strings.Contains(got, "q1") {
		t.Errorf("afterwards the queue is drawn as\n%s", got)
	}
	if again, ok := press(m, later, "r").(Act); !ok || strings.Join(again.Words, " ") != "queue id-alpha" {
		t.Errorf("r does %v", again)
	}
	again, _ := press(m, later, "r").(Act)
	if m.Finish(Done{Act: again, Out: "(earlier output omitted)\n"}, later); !strings.Contains(drawn(m), "too long for this page") {
		t.Errorf("a queue that is cut off is drawn as\n%s", drawn(m))
	}
	m.Finish(Done{Act: page, Out: both}, later)
	press(m, later, "j")
	again, _ = press(m, later, "r").(Act)
	m.Finish(Done{Act: again, Out: both[:1] + both[strings.Index(both, `{"queue_id":"q2"`):]}, later)
	if press(m, later, "x"); m.confirm == nil || !strings.Contains(drawn(m), "Remove q2") || !strings.Contains(drawn(m), "second text") {
		t.Errorf("after a refresh the chosen message is another:\n%s", drawn(m))
	}
	press(m, later, "n")
	m.world.May = Rights{"queue": true}
	if press(m, later, "x"); m.confirm != nil || !strings.Contains(m.flash.text, "you may not remove messages") {
		t.Errorf("without the right, x says %q", m.flash.text)
	}
}

// A message to a busy agent is queued, also when the agent has become busy since.
func TestMessageToABusyAgent(t *testing.T) {
	for state, want := range map[agent.State]string{agent.Working: "nudge --queue id-api -", agent.Prompt: "nudge --queue id-api -", agent.Idle: "nudge id-api -"} {
		s := at("api", state, 1)
		s.Driven = true
		w := world(s)
		w.May = Rights{"nudge": true}
		m := started(80, 24, w)
		press(m, later, "m")
		typeText(m, "hello")
		a, ok := press(m, later, "enter").(Act)
		if !ok || strings.Join(a.Words, " ") != want {
			t.Errorf("%s: enter does %v", state, a)
			continue
		}
		if state == agent.Idle {
			s.Now = agent.Working
			e := m.Finish(Done{Act: a, Status: 5, Out: `{"error":{"code":"AGENT_BUSY","message":"busy"}}`}, later)
			if a, ok = e.(Act); !ok || strings.Join(a.Words, " ") != "nudge --queue id-api -" || a.Stdin != "hello" {
				t.Errorf("after AGENT_BUSY the dashboard does %v", e)
			}
		}
		m.Finish(Done{Act: a, Out: `{"queued":true,"queue_id":"q7"}`}, later)
		is := map[agent.State]string{agent.Working: "is working", agent.Prompt: "needs an answer"}[s.Now]
		if got := m.flash.text; got != "queued as q7: api "+is+"; it is delivered when the agent is idle" {
			t.Errorf("%s: the dashboard says %q", state, got)
		}
	}
}

// A terminal wider than the preview is scrolled sideways, or its rows are broken. Its own background is
// drawn.
func TestWidePreview(t *testing.T) {
	term := terminal.New(terminal.Options{Cols: 160, Rows: 10})
	_, _ = term.Write([]byte("\x1b]11;#102030\x1b\\\x1b[?25l" + strings.Repeat("0123456789", 7) + "012345678漢字の端です"))
	m := started(80, 24, world(at("alpha", agent.Idle, 1)))
	m.SetScreen("id-alpha", term.Snapshot(0), "")
	if got := drawn(m); strings.Contains(got, "端") {
		t.Fatalf("it is drawn as\n%s", got)
	}
	press(m, later, ">", ">")
	if got := drawn(m); !strings.Contains(got, "端です") || !strings.Contains(got, "columns 81-160 of 160") {
		t.Errorf("scrolled, it is drawn as\n%s", got)
	}
	press(m, later, "<")
	if got := drawn(m); !strings.Contains(got, "columns 41-120 of 160") {
		t.Errorf("scrolled back, it is drawn as\n%s", got)
	}
	press(m, later, "z")
	got := drawn(m)
	if !strings.Contains(got, "\n"+strings.Repeat("0123456789", 7)+"012345678\n漢字の端です\n") {
		t.Errorf("with broken rows it is drawn as\n%s", got)
	}
	f := NewFrame(80, 24)
	m.Draw(f)
	y := slices.Index(f.Text(), strings.Repeat("0123456789", 7)+"012345678")
	if st := f.palette.styles[f.cells[y*80].style]; st.Bg != terminal.RGB(0x10, 0x20, 0x30) {
		t.Errorf("the background is %v", st.Bg)
	}
	press(m, later, "z")
	m.Resize(200, 60)
	m.SetScreen("id-alpha", terminal.New(terminal.Options{Cols: 40, Rows: 10}).Snapshot(0), "")
	if press(m, later, ">"); !strings.Contains(m.flash.text, "isn't wider") {
		t.Errorf("a narrow terminal: %q", m.flash.text)
	}
}

// A row says which input a tool has, and until when an error lasts if the agent has said it.
func TestDoing(t *testing.T) {
	s := at("alpha", agent.Working, 1)
	s.Cwd = "/srv/shop"
	for input, want := range map[string]string{"go test ./...": "Bash go test ./...", "/srv/shop/main.go": "Bash main.go", "": "Bash fix the parser"} {
		s.Title, s.Activity = "fix the parser", &api.Activity{Kind: "tool", Tool: "Bash", Input: input}
		if got := doingOf(s, noon).String(); got != want {
			t.Errorf("%q: %q", input, got)
		}
	}
	now := time.Date(2026, 11, 20, 14, 0, 0, 0, time.Local)
	for after, want := range map[time.Duration]string{
		80 * time.Minute: "rate limited, until 15:20: resets 3:20pm",
		49 * time.Hour:   "rate limited, until Nov 22 15:00: resets 3:20pm",
		-time.Second:     "rate limited, over: resets 3:20pm",
	} {
		end := api.At(now.Add(after))
		if got := failure(&api.Failure{Class: "rate_limited", Text: "resets 3:20pm", ResumeAt: &end}, now); got != want {
			t.Errorf("%v: it is shown as %q, want %q", after, got, want)
		}
	}
	if got := failure(&api.Failure{Class: "rate_limited", Text: "slow down"}, now); got != "rate limited: slow down" {
		t.Errorf("without an end it is shown as %q", got)
	}
}
