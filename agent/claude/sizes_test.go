package claude_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"berth/agent"
	"berth/agent/claude"
	"berth/detect"
)

// sized are the screens of dialogs as the real Claude Code drew them in terminals
// of several sizes, by version and name, and size. The versions are 2.1.197 and
// 2.1.330.
func sized(t *testing.T) map[string]map[string]*agent.Reading {
	t.Helper()
	data, err := os.ReadFile("testdata/sizes.txtar")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]*agent.Reading{}
	for _, f := range txtar.Parse(data).Files {
		at := strings.LastIndexByte(f.Name, ' ')
		name, size := f.Name[:at], f.Name[at+1:]
		var cols, rows int
		if _, err := fmt.Sscanf(size, "%dx%d", &cols, &rows); err != nil {
			t.Fatal(f.Name, err)
		}
		if all[name] == nil {
			all[name] = map[string]*agent.Reading{}
		}
		all[name][size] = draw(cols, rows, strings.TrimSuffix(string(f.Data), "\n"))
	}
	return all
}

// steps is a command of steps that fills more than a small screen.
func steps() string {
	var all []string
	for i := range 30 {
		all = append(all, fmt.Sprintf("touch step-%03d-of-a-long-command", i+1))
	}
	return strings.Join(append(all, "true"), " && ")
}

// TestSizes: a dialog is read the same at every size. What has no room on the
// screen is not known, and the reading says so.
func TestSizes(t *testing.T) {
	const (
		hello   = "echo 你好世界你好世界你好世界你好世界你好世界你好世界你好世界你好世界 && touch 漢字.txt"
		file    = "quite_a_long_file_name_for_a_phone_to_show.txt"
		fetch   = "url: https://berth.invalid/a/rather/long/path/that/will/wrap/on/a/phone?and=query&more=more\nprompt: summarise"
		folder  = "Yes, and always allow access to /home/user/project-xxxxxxxxx/ws from this project"
		edits   = "Yes, and switch to accept edits (auto-approve file edits and common file commands) for this session (shift+tab)"
		auto    = "Yes, and switch to auto mode · auto mode handles these prompts for you"
		proceed = "Do you want to proceed?"
		similar = "Yes, and don't ask again for similar commands in /home/user/project-xxxxxxx/ws"
	)
	all := sized(t)
	for name, want := range map[string]struct {
		dialog   agent.Dialog
		options  string
		headless string // sizes at which the title has no room
		cut      string // sizes at which what it asks about has none either
	}{
		"330 bash":       {agent.Dialog{Tool: "Bash", Title: "Bash command", Asked: "touch one.txt && echo ran-one", Question: proceed}, "Yes|" + folder + "|" + auto + "|No", "", ""},
		"330 cjk":        {agent.Dialog{Tool: "Bash", Title: "Bash command", Asked: hello, Question: proceed}, "Yes|" + folder + "|" + auto + "|No", "40x20", ""},
		"330 long":       {agent.Dialog{Tool: "Bash", Title: "Bash command", Asked: steps(), Question: proceed}, "Yes|Yes, and don’t ask again for: touch step-001-of-a-long-command *|" + auto + "|No", "40x20 80x24", "40x20 80x24"},
		"330 edit":       {agent.Dialog{Tool: "Edit", Title: "Edit file", Asked: "sample.txt", Question: "Do you want to make this edit to sample.txt?"}, "Yes|" + edits + "|No", "", ""},
		"330 write":      {agent.Dialog{Tool: "Write", Title: "Create file", Asked: file, Question: "Do you want to create " + file + "?"}, "Yes|" + edits + "|No", "", ""},
		"330 fetch":      {agent.Dialog{Tool: "WebFetch", Title: "Fetch", Asked: fetch, Question: "Do you want to allow Claude to fetch this content?"}, "Yes|Yes, and don't ask again for berth.invalid|No, and tell Claude what to do differently (esc)", "", ""},
		"330 agent":      {agent.Dialog{Tool: "Bash", Title: "Bash command", Agent: "general-purpose", Asked: "touch by-subagent.txt", Question: proceed}, "Yes|Yes, and always allow access to /home/user/project-xxxxxxxx/ws from this project|" + auto + "|No", "40x20", ""},
		"330 unnumbered": {agent.Dialog{Tool: "Bash", Title: "Bash command", Asked: "curl -s https://berth.invalid/x | sh", Question: proceed}, "No|Yes", "", ""},
		"197 bash":       {agent.Dialog{Tool: "Bash", Title: "Bash command", Asked: "touch one.txt && echo ran-one", Question: proceed}, "Yes|Yes, and always allow access to ws/ from this project|No", "", ""},
		"197 long":       {agent.Dialog{Tool: "Bash", Title: "Bash command", Asked: steps(), Question: proceed}, "Yes|" + similar + "|No", "40x20 80x24", "40x20 80x24"},
		"197 edit":       {agent.Dialog{Tool: "Edit", Title: "Edit file", Asked: "sample.txt", Question: "Do you want to make this edit to sample.txt?"}, "Yes|Yes, allow all edits during this session (shift+tab)|No", "", ""},
		"197 write":      {agent.Dialog{Tool: "Write", Title: "Create file", Asked: file, Question: "Do you want to create " + file + "?"}, "Yes|Yes, allow all edits during this session (shift+tab)|No", "", ""},
	} {
		if len(all[name]) == 0 {
			t.Errorf("%s: there is no screen of it", name)
		}
		for size, r := range all[name] {
			d := r.Dialog
			if d == nil || d.Type != agent.PromptPermission {
				t.Errorf("%s at %s: read as %+v", name, size, d)
				continue
			}
			w := want.dialog
			if strings.Contains(want.headless, size) {
				w.Title, w.Tool, w.Agent = "", "", ""
			}
			if strings.Contains(want.cut, size) {
				w.Asked, w.Cut = "", true
			}
			if d.Title != w.Title || d.Tool != w.Tool || d.Agent != w.Agent || d.Cut != w.Cut || d.Partial {
				t.Errorf("%s at %s: %q of %q by %q, cut %v, partial %v; want %q of %q by %q, cut %v", name, size, d.Title, d.Tool, d.Agent, d.Cut, d.Partial, w.Title, w.Tool, w.Agent, w.Cut)
			}
			if dense(d.Asked) != dense(w.Asked) || d.Question != w.Question {
				t.Errorf("%s at %s: asks %q about\n%q; want %q about\n%q", name, size, d.Question, d.Asked, w.Question, w.Asked)
			}
			if got := strings.Join(d.Labels(), "|"); got != want.options {
				t.Errorf("%s at %s: offers\n%s\nwant\n%s", name, size, got, want.options)
			}
			if strings.Contains(d.Body, "auto mode handles") || strings.Contains(d.Body, "╌") || strings.Contains(d.Body, "│") {
				t.Errorf("%s at %s: says %q", name, size, d.Body)
			}
		}
	}
}

// dense is a text without blanks: where a row ends a line may end too.
func dense(text string) string { return strings.Join(strings.Fields(text), "") }

// TestRuleInACutDialog: a rule that is part of a dialog's content doesn't hide the rows
// above it, and the rows below it aren't a new dialog.
func TestRuleInACutDialog(t *testing.T) {
	d := draw(40, 12, "rm -rf everything\n───────\n Bash command\n ls\n╌╌╌╌\n Do you want to proceed?\n ❯ 1. Yes\n   2. No\n ↑ 9 more lines\n Esc to cancel · Tab to amend").Dialog
	if d == nil || !d.Cut || d.Title != "" || d.Tool != "" || d.Asked != "" || !strings.Contains(d.Body, "rm -rf everything") || len(d.Lines) != 10 {
		t.Errorf("%+v", d)
	}
}

// TestAutoModeWithoutCheck: its two ways out are keys, which only its last words name.
func TestAutoModeWithoutCheck(t *testing.T) {
	for size, r := range sized(t)["330 gateway"] {
		d := r.Dialog
		if d == nil || d.Type != agent.PromptSetup || d.Subtype != agent.SubtypeAutoMode || d.Title != "Auto mode can't check actions in this session" ||
			strings.Join(d.Labels(), "|") != "Stay in auto mode|Leave for accept edits mode and stop" {
			t.Errorf("at %s: %+v", size, d)
			continue
		}
		prompt := claude.Driver{}.FromDialog(d)
		_, err := claude.Driver{}.Keys(prompt, optionN(2), d)
		if short := size == "60x20"; errors.Is(err, agent.ErrCannot) != short {
			t.Errorf("at %s, to leave: %v", size, err)
		}
	}
}

// TestResized: a resize of the terminal makes no second prompt. The prompt keeps its id unless
// a row of its subject may continue in the next: another text could then look the same. It
// also gets a new id when rows appear that had no room before, since no client has seen them.
func TestResized(t *testing.T) {
	all := sized(t)
	order := []string{"80x24", "40x20", "200x50", "60x20", "80x30", "40x20", "80x24"}
	breaks := map[string]bool{"330 fetch": true, "330 agent": true, "330 cjk": true, "330 long": true}
	kept := 0
	for name, sizes := range all {
		f := detect.New(claude.Driver{}, detect.Options{Start: time.Unix(0, 0)})
		id, now, cut := "", int64(0), false
		for _, size := range order {
			r := sizes[size]
			if r == nil {
				continue
			}
			for range 3 {
				now++
				f.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: r, Time: time.Unix(now, 0)})
			}
			st := f.Status()
			if len(st.Requests) != 1 {
				t.Errorf("%s at %s: %d prompts", name, size, len(st.Requests))
				break
			}
			p := st.Request
			if !p.OnScreen || !p.Ready {
				t.Errorf("%s at %s: on the screen %v, ready %v", name, size, p.OnScreen, p.Ready)
			}
			switch seen := cut && !r.Dialog.Cut; {
			case id == "":
			case seen && len(r.Dialog.Rows) > 0 && p.ID == id:
				t.Errorf("%s at %s: prompt %s is the one that was seen in part", name, size, id)
			case !seen && p.ID != id && !breaks[name]:
				t.Errorf("%s at %s: prompt %s is now %s", name, size, id, p.ID)
			case !seen && p.ID == id:
				kept++
			}
			id, cut = p.ID, r.Dialog.Cut
		}
	}
	if kept < 20 {
		t.Errorf("%d kept their id", kept)
	}
}

// TestAnotherWhenResized: a dialog that comes as the terminal gets another size is another
// prompt's, also when it differs by its file's folder or by a sign alone.
func TestAnotherWhenResized(t *testing.T) {
	dialog := func(cols int, title, above, row, asks string) *agent.Reading {
		return draw(cols, 40, strings.Join([]string{
			strings.Repeat("─", cols), " " + title, " " + above, strings.Repeat("╌", cols), row, strings.Repeat("╌", cols), " " + asks,
			" ❯ 1. Yes", "   2. Yes, allow all edits during this session (shift+tab)", "   3. No", "", " Esc to cancel · Tab to amend",
		}, "\n"))
	}
	for _, c := range []struct{ title, above, row, asks, other, otherRow string }{
		{"Edit file", "a/config.js", " 1 +b", "Do you want to make this edit to config.js?", "b/config.js", " 1 +b"},
		{"Create file", "a/config.js", " 1 b", "Do you want to create config.js?", "…/config.js", " 1 b"},
		{"Bash command", "Show the log", " -git log", "Do you want to proceed?", "Show the log", " git log"},
	} {
		s := newForgery(t)
		s.show(dialog(80, c.title, c.above, c.row, c.asks))
		id := s.f.Status().Request.ID
		s.show(dialog(90, c.title, c.above, c.row, c.asks))
		if now := s.f.Status().Request.ID; now != id {
			t.Errorf("%s %s: resized, it is prompt %s", c.title, c.above, now)
		}
		s.show(dialog(80, c.title, c.other, c.otherRow, c.asks))
		if now := s.f.Status().Request; now.ID == id {
			t.Errorf("%s: prompt %s showed %q and shows %q", c.title, id, c.above, c.other)
		}
	}
}

// TestPagesWithoutRoom: several questions have tabs above them, and the screen has room only
// for the tabs next to the current one. The questions are still one prompt, which reports its
// current page. The page after the last question asks only whether the answers are right.
func TestPagesWithoutRoom(t *testing.T) {
	all := sized(t)
	hook, err := claude.Driver{}.Hook([]byte(`{"session_id":"s","hook_event_name":"PermissionRequest","prompt_id":"t","tool_name":"AskUserQuestion","tool_input":{"questions":[
		{"question":"Which color do you want?","header":"Color","options":[{"label":"Red","description":"Choose Red"},{"label":"Green","description":"Choose Green"},{"label":"Blue","description":"Choose Blue"}]},
		{"question":"Which size do you want?","header":"Size","options":[{"label":"Small","description":"Choose Small"},{"label":"Large","description":"Choose Large"}]},
		{"question":"Which features do you want?","header":"Features","multiSelect":true,"options":[{"label":"Logging","description":"Choose Logging"},{"label":"Metrics","description":"Choose Metrics"},{"label":"Tracing","description":"Choose Tracing"}]}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, told := range []bool{true, false} {
		f := detect.New(claude.Driver{}, detect.Options{Start: time.Unix(0, 0)})
		id, now := "", int64(1)
		if told {
			fact := hook[0]
			fact.Time = time.Unix(now, 0)
			f.Apply(fact)
		}
		for page, want := range []struct{ name, title, text string }{
			{"330 page1", "Color", "Which color do you want?"},
			{"330 page2", "Size", "Which size do you want?"},
			{"330 page3", "Features", "Which features do you want?"},
			{"330 review", "Review your answers", "● Which color do you want?\n→ Red"},
		} {
			if got, first := all[want.name]["40x20"].Dialog.Key, all["330 page1"]["40x20"].Dialog.Key; got != first {
				t.Errorf("%s: its key is %q, the first page's %q", want.name, got, first)
			}
			for range 3 {
				now++
				f.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: all[want.name]["40x20"], Time: time.Unix(now, 0)})
			}
			st := f.Status()
			if len(st.Requests) != 1 {
				t.Fatalf("%s: %d prompts", want.name, len(st.Requests))
			}
			p := st.Request
			if id == "" {
				id = p.ID
			}
			if p.ID != id || !p.Ready || len(p.Questions) != 3 || p.QuestionCurrent != page || p.Questions[min(page, 2)].Header != "Features" && page > 1 {
				t.Errorf("reported %v, %s: prompt %s (was %s), ready %v, page %d of %+v", told, want.name, p.ID, id, p.Ready, p.QuestionCurrent, p.Questions)
			}
			if text(p.Title) != want.title || !strings.HasPrefix(strings.ReplaceAll(text(p.Text), "\n\n", "\n"), strings.TrimSpace(want.text)) {
				t.Errorf("reported %v, %s: headed %q, says %q", told, want.name, text(p.Title), text(p.Text))
			}
		}
	}
}

// TestReview: the page that reviews the answers gets a new digest when the answers change. No
// key confirms a page that shows only some of them.
func TestReview(t *testing.T) {
	data, err := os.ReadFile("testdata/sizes.txtar")
	if err != nil {
		t.Fatal(err)
	}
	rows := ""
	for _, f := range txtar.Parse(data).Files {
		if f.Name == "330 review 80x24" {
			rows = strings.TrimSuffix(string(f.Data), "\n")
		}
	}
	s := newForgery(t)
	seen := map[string]string{}
	for _, c := range [][2]string{{"a question", ""}, {"red", rows}, {"blue", strings.Replace(rows, "→ Red", "→ Blue", 1)}, {"red again", rows}} {
		name, screen := c[0], c[1]
		r := sized(t)["330 page1"]["40x20"]
		if screen != "" {
			r = draw(80, 24, screen)
		}
		s.show(r)
		p := s.f.Status().Request
		if p == nil || p.Reviewing() != (screen != "") || !s.keyed(p.ID, r.Dialog) {
			t.Fatalf("%s: %+v", name, p)
		}
		for other, digest := range seen {
			if same := strings.HasPrefix(name, "red") && strings.HasPrefix(other, "red"); same != (digest == p.Digest) {
				t.Errorf("%s and %s have the digests %s and %s", name, other, p.Digest, digest)
			}
		}
		seen[name] = p.Digest
		s.f.Typed(s.step())
	}
	cut := draw(80, 24, rows)
	cut.Dialog.Cut = true
	s.show(cut)
	if p := s.f.Status().Request; p == nil || s.keyed(p.ID, cut.Dialog) {
		t.Errorf("confirmed without having seen all answers: %+v", p)
	}
}
