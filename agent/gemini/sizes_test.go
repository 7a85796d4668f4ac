package gemini_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"berth/agent"
	"berth/agent/gemini"
	"berth/detect"
	"berth/terminal"
)

// screenSizes are those of the recorded dialogs, from the smallest.
var screenSizes = []string{"40x20", "60x20", "80x24", "200x50"}

// sized are the dialogs that the real Gemini CLI 0.61.0 drew in terminals of several sizes, by name
// and size. The recorder's script sizes_gemini makes their screens.
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
		all[name][size] = gemini.Driver{}.Screen(w.View(term.Snapshot(0)))
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

// TestSizes: a dialog is read the same at every size. What has no room on the screen is not known,
// and the reading says so.
func TestSizes(t *testing.T) {
	const (
		run    = "Allow once|Allow for this session|No, suggest changes (esc)"
		change = "Allow once|Allow for this session|Modify with external editor|No, suggest changes (esc)"
		hello  = "你好世界你好世界你好世界你好世界你好世界你好世界你好世界你好世界"
		name   = "touch quite_a_long_file_name_for_a_phone_to_show_in_one_row_of_its_narrow_screen.txt"
	)
	all := sized(t)
	for dialog, want := range map[string]struct {
		tool, input, options string
		pages                int
		cut                  string // sizes without room for the subject
		first                string // sizes without room for all options
	}{
		"shell":     {"run_shell_command", "touch one.txt && echo ran-one", run, 0, "", ""},
		"name":      {"run_shell_command", name, run, 0, "", ""},
		"cjk":       {"run_shell_command", "echo " + hello + " && touch 漢字.txt", run, 0, "", ""},
		"parallel":  {"run_shell_command", "touch p1.txt", run, 0, "", ""},
		"long":      {"run_shell_command", manySteps(), run, 0, "40x20 60x20 80x24", ""},
		"write":     {"write_file", "", change, 0, "", ""},
		"replace":   {"replace", "", change, 0, "", ""},
		"ask":       {"ask_user", "", "Red|Green|Blue", 0, "", "80x24"},
		"ask-many":  {"ask_user", "", "Logging|Metrics|Tracing", 0, "", ""},
		"ask-three": {"ask_user", "", "Red|Green|Blue", 3, "40x20", ""},
	} {
		for _, size := range screenSizes {
			r := all[dialog][size]
			if r == nil || r.Dialog == nil {
				t.Errorf("%s at %s: there is no dialog", dialog, size)
				continue
			}
			d, cut := r.Dialog, strings.Contains(want.cut, size)
			p := gemini.Driver{}.FromDialog(d)
			if d.Tool != want.tool || d.Partial || d.Cut != cut {
				t.Errorf("%s at %s: of %q, partial %v, cut %v", dialog, size, d.Tool, d.Partial, d.Cut)
			}
			if got := strings.Join(d.Labels(), "|"); got != want.options && !(want.first == size && strings.HasPrefix(want.options, got+"|")) {
				t.Errorf("%s at %s: it offers %s", dialog, size, got)
			}
			if len(d.Tabs) != want.pages || strings.Contains(d.Body, "□") {
				t.Errorf("%s at %s: it has the tabs %q and says %q", dialog, size, d.Tabs, d.Body)
			}
			switch {
			case d.Type != agent.PromptPermission:
			case cut && p.Input != nil, !cut && want.input != "" && dense(p.FullInput) != dense(want.input):
				t.Errorf("%s at %s: its input is %q, %q", dialog, size, agent.Value(p.Input), p.FullInput)
			case want.input == "" && !p.InputTruncated:
				t.Errorf("%s at %s: %q isn't all of its input", dialog, size, agent.Value(p.Input))
			}
		}
	}
}

// TestStartSizes: the dialogs of the start, of a plan and of a server's tool are the same dialog at every size. One that
// doesn't show all of itself is cut.
func TestStartSizes(t *testing.T) {
	all := sized(t)
	for dialog, want := range map[string]struct{ reads, cut string }{
		"trust":   {"permission trust Do you trust the files in this folder?: Trust folder (ws)|", "40x20"},
		"auth":    {"setup auth How would you like to authenticate for this project?: Sign in with Google|Use Gemini API Key|Vertex AI", "40x20"},
		"api-key": {"setup api_key Enter Gemini API Key: ", "40x20"},
		"plan":    {"plan  Ready to start implementation?: Yes, automatically accept edits|Yes, manually accept edits|Type your feedback...", "40x20 60x20"},
		"mcp":     {"permission  ask (lab MCP Server) {\"message\":: Allow once|Allow tool for this session|Allow all server tools for thi", "40x20 60x20 80x24"},
	} {
		for _, size := range screenSizes {
			r := all[dialog][size]
			if r == nil || r.Dialog == nil {
				t.Errorf("%s at %s: there is no dialog", dialog, size)
				continue
			}
			d := r.Dialog
			title, _, _ := strings.Cut(d.Title, "\"Please")
			title = strings.TrimSuffix(title, "…")
			if got := fmt.Sprintf("%s %s %s: %s", d.Type, d.Subtype, title, strings.Join(d.Labels(), "|")); !strings.HasPrefix(got, want.reads) || d.Partial || d.Cut != strings.Contains(want.cut, size) {
				t.Errorf("%s at %s: %s, partial %v, cut %v", dialog, size, got, d.Partial, d.Cut)
			}
			if p := (gemini.Driver{}).FromDialog(d); strings.Contains(agent.Value(p.Input), "hidden") {
				t.Errorf("%s at %s: its input is %q", dialog, size, agent.Value(p.Input))
			}
			if shown := fmt.Sprintf("%+v %+v", d, (gemini.Driver{}).FromDialog(d)); strings.Contains(shown, "lab-key") || strings.Contains(shown, "nop") {
				t.Errorf("%s at %s: it has the key: %s", dialog, size, shown)
			}
		}
	}
}

// TestResized: the terminal gets another size, and the dialog is still one prompt.
func TestResized(t *testing.T) {
	for name, sizes := range sized(t) {
		f := detect.New(gemini.Driver{}, detect.Options{Start: time.Unix(0, 0)})
		now := int64(0)
		for _, size := range slices.Concat(screenSizes, []string{"60x20", "80x24", "40x20"}) {
			for range 3 {
				now++
				f.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: sizes[size], Time: time.Unix(now, 0)})
			}
			if st := f.Status(); len(st.Requests) != 1 || !st.Request.OnScreen || !st.Request.Ready {
				t.Errorf("%s at %s: %d prompts, %+v", name, size, len(st.Requests), st.Request)
				break
			}
		}
	}
}

// TestCutTabs: the tabs of several questions are cut off on a narrow screen. They are those of the
// reported questions, and of no others.
func TestCutTabs(t *testing.T) {
	d := sized(t)["ask-three"]["40x20"].Dialog
	if strings.Join(d.Tabs, "|") != "Col…|Su…|Na…" {
		t.Fatalf("it has the tabs %q", d.Tabs)
	}
	whole := *d
	whole.Cut = false
	for headers, want := range map[string]bool{"Color Sure Name": true, "Color Sure Place": false, "Color Sure": false} {
		p := gemini.Driver{}.FromDialog(&whole)
		p.Questions = p.Questions[:0]
		for _, header := range strings.Fields(headers) {
			p.Questions = append(p.Questions, agent.Question{Header: header, Text: "Which color do you want?", Options: []string{"Red", "Green", "Blue"}})
		}
		if got := (gemini.Driver{}).Match(&whole, p) != agent.NoMatch; got != want {
			t.Errorf("%s: it matches is %v", headers, got)
		}
	}
}
