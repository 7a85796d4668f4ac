package codex_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"berth/agent"
	"berth/agent/codex"
	"berth/detect"
	"berth/terminal"
)

// screenSizes are those of the recorded dialogs, from the smallest.
var screenSizes = []string{"40x20", "60x20", "80x24", "200x50"}

// sized are the dialogs that the real Codex 0.169.0 drew in terminals of several sizes, by name and
// size. The recorder's script sizes_codex makes their screens.
func sized(t *testing.T) map[string]map[string]*agent.Reading {
	t.Helper()
	data, err := os.ReadFile("testdata/sizes.txtar")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]*agent.Reading{}
	for _, f := range txtar.Parse(data).Files {
		name, size, _ := strings.Cut(f.Name, " ")
		var cols, rows int
		if _, err := fmt.Sscanf(size, "%dx%d", &cols, &rows); err != nil {
			t.Fatal(f.Name, err)
		}
		term := terminal.New(terminal.Options{Cols: cols, Rows: rows})
		_, _ = term.Write([]byte("\x1b[?25l" + strings.ReplaceAll(strings.TrimSuffix(string(f.Data), "\n"), "\n", "\r\n")))
		if all[name] == nil {
			all[name] = map[string]*agent.Reading{}
		}
		var w detect.Viewer
		all[name][size] = codex.Driver{}.Screen(w.View(term.Snapshot(0)))
	}
	return all
}

// dense is a text without blanks: where a row ends a line may end too.
func dense(text string) string { return strings.Join(strings.Fields(text), "") }

// manySteps is a command that fills more than a small screen.
func manySteps() string {
	var all []string
	for i := range 30 {
		all = append(all, fmt.Sprintf("touch step-%03d-of-a-long-command", i+1))
	}
	return strings.Join(append(all, "true"), " && ")
}

const (
	proceed = "Yes, proceed (y)"
	refuse  = "No, and tell Codex what to do differently (esc)"
)

// similar is the option that allows all commands that start so.
func similar(command string) string {
	return "Yes, and don't ask again for commands that start with `" + command + "` (p)"
}

// TestSizes: a dialog is read the same at every size. What has no room on the screen is not known,
// and the reading says so.
func TestSizes(t *testing.T) {
	const (
		name    = "touch quite_a_long_file_name_for_a_phone_to_show_in_one_row_of_its_narrow_screen.txt"
		hello   = "你好世界你好世界你好世界你好世界你好世界你好世界你好世界你好世界"
		words   = "echo these begin with the very same words"
		command = "Would you like to run the following command?"
	)
	all := sized(t)
	for dialog, want := range map[string]struct {
		tool, title, input string
		options            []string
		short              string // sizes without room for all options
		cut                string // sizes without room for the subject
	}{
		"bash":     {"Bash", command, "touch one.txt && echo ran-one", []string{proceed, similar("touch one.txt"), refuse}, "", ""},
		"name":     {"Bash", command, name, []string{proceed, similar(name), refuse}, "40x20 60x20", ""},
		"cjk":      {"Bash", command, "echo " + hello + " && touch 漢字.txt", []string{proceed, similar("echo '" + hello + "'"), refuse}, "40x20 60x20", ""},
		"parallel": {"Bash", command, words + " && touch p1.txt", []string{proceed, similar(words), refuse}, "40x20", ""},
		"long":     {"Bash", command, manySteps(), []string{proceed, similar("touch step-001-of-a-long-command"), refuse}, "40x20 60x20 80x24", "40x20 60x20 80x24"},
		"edit":     {"apply_patch", "Would you like to make the following edits?", "", []string{proceed, "Yes, and don't ask again for these files (a)", refuse}, "", ""},
		"ask":      {"request_user_input", "Question 1/1", "", []string{"Red", "Green", "Blue", "None of the above"}, "", ""},
		"ask-two":  {"request_user_input", "Question 1/2", "", []string{"Red", "Green", "Blue", "None of the above"}, "", ""},
		"network":  {"Bash", command, "touch more.txt", []string{proceed, refuse}, "", ""},
		"plan":     {"", "Implement this plan?", "", []string{"Yes, implement this plan", "Yes, clear context and implement", "No, stay in Plan mode"}, "", "40x20 60x20"},
	} {
		for _, size := range screenSizes {
			r := all[dialog][size]
			if r == nil || r.Dialog == nil {
				t.Errorf("%s at %s: there is no dialog", dialog, size)
				continue
			}
			d := r.Dialog
			if d.Tool != want.tool || d.Title != want.title || d.Partial {
				t.Errorf("%s at %s: %q of %q, partial %v", dialog, size, d.Title, d.Tool, d.Partial)
			}
			if cut := strings.Contains(want.cut, size); d.Cut != cut {
				t.Errorf("%s at %s: cut is %v", dialog, size, d.Cut)
			} else if p := (codex.Driver{}).FromDialog(d); want.tool == "Bash" && (cut && p.Input != nil || !cut && dense(p.FullInput) != dense(want.input)) {
				t.Errorf("%s at %s: its input is %q, %q", dialog, size, agent.Value(p.Input), p.FullInput)
			}
			short, options := strings.Contains(want.short, size), want.options
			if short {
				options = options[:1]
			}
			if got := d.Labels(); d.Short != short || dense(strings.Join(got, "|")) != dense(strings.Join(options, "|")) {
				t.Errorf("%s at %s: short %v, it offers %q", dialog, size, d.Short, got)
			}
			if dialog == "edit" && !strings.Contains(dense(d.Body), "/var/tmp/berth-lab-quite-a-long-file-name-for-a-phone-to-show.txt") {
				t.Errorf("%s at %s: it says %q", dialog, size, d.Body)
			}
		}
	}
}

// TestStartSizes: the dialogs of the start are read the same at every size.
func TestStartSizes(t *testing.T) {
	all := sized(t)
	for dialog, want := range map[string]string{
		"trust":       "permission trust Folder access: Trust and continue|Back to Agent Command Center",
		"login":       "setup login_method Sign in: Sign in with ChatGPT|Sign in with Device Code|Sign in another way",
		"another-way": "setup login_method Sign in another way: Use an OpenAI API key",
		"api-key":     "setup api_key API key: ",
	} {
		for _, size := range screenSizes {
			r := all[dialog][size]
			if r == nil || r.Dialog == nil {
				t.Errorf("%s at %s: there is no dialog", dialog, size)
				continue
			}
			d := r.Dialog
			if got := fmt.Sprintf("%s %s %s: %s", d.Type, d.Subtype, d.Title, strings.Join(d.Labels(), "|")); got != want || d.Partial || d.Cut || d.Short {
				t.Errorf("%s at %s: %s, partial %v, cut %v, short %v", dialog, size, got, d.Partial, d.Cut, d.Short)
			}
		}
	}
}

// TestShortList: a dialog without room for all of its options can be accepted and denied. An option
// that isn't drawn can't be chosen.
func TestShortList(t *testing.T) {
	d := sized(t)["name"]["40x20"].Dialog
	p := codex.Driver{}.FromDialog(d)
	for _, c := range []struct {
		answer agent.Answer
		key    string
	}{
		{agent.Answer{Kind: agent.Accept}, "1"}, {agent.Answer{Kind: agent.Deny}, "Escape"},
		{agent.Answer{Kind: agent.ChooseOption, Option: 1}, "1"}, {agent.Answer{Kind: agent.ChooseOption, Option: 2}, ""},
	} {
		k, err := codex.Driver{}.Keys(p, c.answer, d)
		switch {
		case c.key == "":
			if !errors.Is(err, agent.ErrAnswer) {
				t.Errorf("%+v: %+v, %v", c.answer, k, err)
			}
		case err != nil || len(k.Steps) != 1 || k.Steps[0].Key != c.key:
			t.Errorf("%+v: %+v, %v", c.answer, k, err)
		}
	}
}

// TestResized: the terminal gets another size, and the dialog is still one prompt. It keeps its id
// if it is drawn whole before and after, and no row of its command goes on in the next one.
func TestResized(t *testing.T) {
	kept := 0
	for name, sizes := range sized(t) {
		f := detect.New(codex.Driver{}, detect.Options{Start: time.Unix(0, 0)})
		id, now := "", int64(0)
		for _, size := range slices.Concat(screenSizes, []string{"60x20", "80x24", "40x20"}) {
			for range 3 {
				now++
				f.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: sizes[size], Time: time.Unix(now, 0)})
			}
			st := f.Status()
			if len(st.Requests) != 1 || !st.Request.OnScreen || !st.Request.Ready {
				t.Errorf("%s at %s: %d prompts, %+v", name, size, len(st.Requests), st.Request)
				break
			}
			if id == st.Request.ID {
				kept++
			}
			if whole := name == "bash" || strings.HasPrefix(name, "ask"); whole && id != "" && id != st.Request.ID {
				t.Errorf("%s at %s: prompt %s is now %s", name, size, id, st.Request.ID)
			}
			id = st.Request.ID
		}
	}
	if kept < 18 {
		t.Errorf("%d kept their id", kept)
	}
}

// TestShortListGrows: the options that get room are the same prompt's. Other options than those
// are another's, also if the list loses its room in between.
func TestShortListGrows(t *testing.T) {
	whole := sized(t)["bash"]["60x20"]
	with := func(short bool, labels ...string) *agent.Reading {
		d := *whole.Dialog
		d.Short, d.Options = short, nil
		for i, label := range labels {
			d.Options = append(d.Options, agent.Option{Number: i + 1, Label: label})
		}
		r := *whole
		r.Dialog = &d
		return &r
	}
	f := detect.New(codex.Driver{}, detect.Options{Start: time.Unix(0, 0)})
	now, id := int64(0), ""
	for i, c := range []struct {
		reading *agent.Reading
		same    bool
	}{
		{with(true, proceed), false},
		{with(false, proceed, similar("touch one.txt"), refuse), true},
		{with(true, proceed), true},
		{with(false, proceed, similar("touch"), refuse), false},
		{with(false, proceed, refuse), false},
	} {
		for range 3 {
			now++
			f.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: c.reading, Time: time.Unix(now, 0)})
		}
		p := f.Status().Request
		if p == nil || len(p.Options) != len(c.reading.Dialog.Options) || (p.ID == id) != c.same {
			t.Errorf("screen %d: was prompt %s, is %+v", i, id, p)
		}
		if p != nil {
			id = p.ID
		}
	}
}
