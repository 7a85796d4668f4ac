package copilot_test

import (
	"archive/zip"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/copilot"
	"berth/detect"
	"berth/detect/replay"
)

// load opens a recording of GitHub Copilot CLI 1.0.102 with its hooks and its session log.
func load(t testing.TB, name string) *replay.Recording {
	t.Helper()
	z, err := zip.OpenReader("testdata/recordings.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	rec, err := replay.Load(z, name+".cast")
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// asked is what a recording asks: each prompt once, and whether its dialog showed all of it.
func asked(rec *replay.Recording, o replay.Options) (prompts []string) {
	whole, order := map[string]bool{}, []string{}
	text := map[string]string{}
	o.Each = func(_ time.Duration, f *detect.Fold) {
		p, ok := f.Pending("")
		if !ok || p.Dialog == nil {
			return
		}
		r := p.Request
		if !slices.Contains(order, r.ID) {
			order = append(order, r.ID)
		}
		whole[r.ID] = whole[r.ID] || p.Whole && !p.Dialog.Cut
		line, _, _ := strings.Cut(r.About(), "\n")
		text[r.ID] = fmt.Sprintf("%s %s %.24s, %d options", r.Type, agent.Value(r.Tool), line, len(r.Options))
	}
	replay.Run(rec, copilot.Driver{}, o)
	for _, id := range order {
		line := text[id]
		if !whole[id] {
			line += ", cut off"
		}
		prompts = append(prompts, line)
	}
	return prompts
}

// TestDialogs: each dialog at four sizes, with long names, other scripts, and contents without room. A person read
// from the screens what has room.
func TestDialogs(t *testing.T) {
	for size, want := range map[string][]string{
		"40x20": {
			`permission bash bash: touch one.txt, 3 options, cut off`,
			`permission bash bash: word21 word22 word, 3 options, cut off`,
			`permission bash bash: line 39 of the fil, 2 options, cut off`,
			`permission create Do you want to create /s, 3 options, cut off`,
			`permission edit Do you want to edit /srv, 3 options, cut off`,
			`permission create Do you want to create /s, 3 options, cut off`,
			`notice  Copilot needs informatio, 0 options, cut off`,
		},
		"60x20": {
			`permission bash bash: touch one.txt, 3 options`,
			`permission bash bash: printf '%s\n' 修复登录, 3 options, cut off`,
			`permission bash bash: printf '%s\n' 修复登录, 3 options, cut off`,
			`permission bash bash: line 38 of the fil, 2 options, cut off`,
			`permission bash bash: cat > many.txt <<E, 2 options, cut off`,
			`permission create Do you want to create /s, 3 options, cut off`,
			`permission create create: /srv/lab/ws/修复登录, 3 options, cut off`,
			`permission edit Do you want to edit /srv, 3 options, cut off`,
			`permission edit edit: /srv/lab/ws/sample, 3 options, cut off`,
			`permission create Do you want to create /s, 3 options, cut off`,
			`permission create create: /srv/lab/ws/big., 3 options, cut off`,
			`question  Which colour should the , 6 options`,
		},
		"80x24": {
			`permission bash bash: touch one.txt, 3 options`,
			`permission bash bash: printf '%s\n' 修复登录, 3 options`,
			`permission bash bash: line 33 of the fil, 2 options, cut off`,
			`permission create Do you want to create /s, 3 options`,
			`permission edit Do you want to edit /srv, 3 options`,
			`permission create Do you want to create /s, 3 options, cut off`,
			`question  Which colour should the , 6 options`,
		},
		"200x50": {
			`permission bash bash: touch one.txt, 3 options`,
			`permission bash bash: printf '%s\n' 修复登录, 3 options`,
			`permission bash bash: line 7 of the file, 2 options, cut off`,
			`permission create Do you want to create /s, 3 options`,
			`permission edit Do you want to edit /srv, 3 options`,
			`permission create Do you want to create /s, 3 options, cut off`,
			`question  Which colour should the , 6 options`,
		},
	} {
		t.Run(size, func(t *testing.T) {
			if got := asked(load(t, "dialogs-"+size), replay.Options{}); !slices.Equal(got, want) {
				t.Errorf("asked\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// TestStart: the folder is trusted, messages are sent during a turn, and a turn is interrupted before it says
// anything, which leaves its message as a draft.
func TestStart(t *testing.T) {
	rec := load(t, "start-and-interrupt")
	if got := sequence(rec, replay.Options{}); got != "starting prompt starting idle working idle working idle" {
		t.Errorf("states %s", got)
	}
	late := replay.Options{Late: map[agent.Source]time.Duration{agent.SourceHook: 200 * time.Millisecond, agent.SourceLog: 500 * time.Millisecond}}
	if got := sequence(rec, late); got != "starting prompt starting idle working idle working idle" {
		t.Errorf("with late sources: states %s", got)
	}
	if got := asked(rec, replay.Options{}); len(got) != 1 || !strings.HasPrefix(got[0], "permission  Do you trust") {
		t.Errorf("asked %q", got)
	}
}

// TestNoMismatch: no source is contradicted by another.
func TestNoMismatch(t *testing.T) {
	for _, name := range []string{"dialogs-40x20", "dialogs-60x20", "dialogs-80x24", "dialogs-200x50", "start-and-interrupt"} {
		replay.Run(load(t, name), copilot.Driver{}, replay.Options{Each: func(at time.Duration, f *detect.Fold) {
			for _, doubt := range f.Status().Doubts {
				t.Fatalf("%s: at %v %s was doubted: %s said %s", name, at, doubt.Source, doubt.Against, doubt.AgainstSaid)
			}
		}})
	}
}

// TestMode: what Copilot may do unasked, as its footer shows it.
func TestMode(t *testing.T) {
	for footer, want := range map[string]string{
		" ← open sidebar · Interactive · Manual Approval · / commands · ? help · tab next tab   mock-model": "interactive",
		" ← open sidebar · Plan · Manual Approval · / commands   mock-model":                                "plan",
		" ← open sidebar · Autopilot · Manual Approval · / commands   mock-model":                           "autopilot",
		" ← open sidebar · Interactive · Allow All · / commands   mock-model":                               "allow-all",
		" Interactive · Manual Approval · @ files · # issues   mock-model":                                  "interactive",
		" Shell · Manual Approval   mock-model":                                                             "",
		" ◉ Working · 35 B esc esc interrupt   mock-model":                                                  "",
	} {
		v := &agent.View{Cols: 100, Rows: 4}
		for _, text := range []string{"╻▄▄▄▄", "┃", "╹▀▀▀▀", footer} {
			v.Lines = append(v.Lines, agent.Row{Text: text})
		}
		if r := (copilot.Driver{}).Screen(v); r.Composer == nil || r.Mode != want {
			t.Errorf("%s: mode %q", footer, r.Mode)
		}
	}
}

// FuzzScreen: no screen makes the driver panic, and a dialog that can be answered has its options.
func FuzzScreen(f *testing.F) {
	f.Add("╭──╮\n│ ❯ 1. Yes │\n│ 2. No │\n│ │\n│ enter to select · esc to cancel │\n╰──╯")
	f.Add("╻▄▄▄\n┃ text\n╹▀▀▀\n ◉ Working · 35 B esc esc interrupt")
	f.Add("────\n Copilot needs information.\n A question\n\n Color:\n ❯ Red\n   Other (type your answer)\n\n ctrl+d decline · esc cancel\n────")
	f.Fuzz(func(t *testing.T, text string) {
		v := &agent.View{Cols: 4}
		for _, line := range strings.Split(text, "\n") {
			v.Lines = append(v.Lines, agent.Row{Text: line})
		}
		v.Rows = len(v.Lines)
		r := copilot.Driver{}.Screen(v)
		d := r.Dialog
		if d == nil {
			return
		}
		if r.Composer != nil || d.Type == agent.PromptPermission && len(d.Options) == 0 {
			t.Fatalf("%+v", r)
		}
		p := copilot.Driver{}.FromDialog(d)
		for _, a := range []agent.Answer{{Kind: agent.Accept}, {Kind: agent.Deny}, {Kind: agent.Deny, Text: "no"}, {Kind: agent.ChooseOption, Option: 2}, {Kind: agent.Cancel}} {
			if k, err := (copilot.Driver{}).Keys(p, a, d); err == nil && len(k.Steps) == 0 {
				t.Fatalf("%+v: no key and no error", a)
			}
		}
	})
}

// FuzzLog: no bytes make the readers of hooks, log and transcript panic.
func FuzzLog(f *testing.F) {
	f.Add([]byte(`{"type":"permission.requested","data":{"permissionRequest":{"kind":"write","fileName":"a","diff":"@@ -1 +1 @@\n-a\n+b"}}}`))
	f.Add([]byte(`{"hook_event_name":"Stop","session_id":"c","timestamp":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		facts, _ := copilot.Driver{}.Log(data) // an error is an answer, too
		for _, fact := range facts {
			if fact.Request != nil {
				copilot.Driver{}.Subject(fact.Request)
			}
		}
		_, _ = copilot.Driver{}.Hook(data)
		_ = copilot.Driver{}.Entries(data)
	})
}

// sequence is the states of a recording in their order.
func sequence(rec *replay.Recording, o replay.Options) string {
	var all []string
	for _, s := range replay.Run(rec, copilot.Driver{}, o) {
		if n := len(all); n == 0 || all[n-1] != string(s.Next) {
			all = append(all, string(s.Next))
		}
	}
	return strings.Join(all, " ")
}
