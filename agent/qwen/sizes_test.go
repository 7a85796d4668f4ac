package qwen_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"berth/agent"
	"berth/agent/qwen"
)

// sized calls do with each dialog of testdata/sizes.txtar, as the real Qwen Code drew it in terminals of several
// sizes.
func sized(t *testing.T, do func(t *testing.T, name, size string, r *agent.Reading)) {
	t.Helper()
	data, err := os.ReadFile("testdata/sizes.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range txtar.Parse(data).Files {
		name, size, _ := strings.Cut(f.Name, " ")
		var cols, rows int
		if _, err := fmt.Sscanf(size, "%dx%d", &cols, &rows); err != nil {
			t.Fatal(f.Name, err)
		}
		t.Run(name+"_"+size, func(t *testing.T) { do(t, name, size, draw(cols, rows, strings.TrimSuffix(string(f.Data), "\n"))) })
	}
}

// steps is a command of steps that fills more than a small screen.
func steps() string {
	var all []string
	for i := range 30 {
		all = append(all, fmt.Sprintf("touch step-%03d-of-a-long-command", i+1))
	}
	return strings.Join(append(all, "true"), " && ")
}

// The calls of the dialogs, as a hook reports them.
var calls = map[string][2]string{
	"bash":     {"run_shell_command", `{"command":"touch one.txt && echo ran-one"}`},
	"cjk":      {"run_shell_command", `{"command":"echo 你好世界你好世界你好世界你好世界你好世界你好世界你好世界你好世界 && touch 漢字.txt"}`},
	"long":     {"run_shell_command", `{"command":"` + steps() + `"}`},
	"lines":    {"run_shell_command", `{"command":"cat > x.txt <<EOF\nfirst line\n\n  second\nEOF\necho done"}`},
	"write":    {"write_file", `{"file_path":"/ws/quite_a_long_file_name_for_a_phone_to_show.txt","content":"x"}`},
	"fetch":    {"web_fetch", `{"url":"https://berth.invalid/a/rather/long/path/that/will/wrap/on/a/phone?and=query&more=more","prompt":"summarise"}`},
	"ask":      {"ask_user_question", `{"questions":[` + color + `]}`},
	"ask-many": {"ask_user_question", `{"questions":[{"question":"Which features do you want?","header":"Features","multiSelect":true,"options":[{"label":"Logging","description":"Choose Logging"},{"label":"Metrics","description":"Choose Metrics"},{"label":"Tracing","description":"Choose Tracing"}]}]}`},
	"ask-two":  {"ask_user_question", `{"questions":[` + color + `,{"question":"Which size do you want?","header":"Size","options":[{"label":"Small"},{"label":"Large"}]}]}`},
	"ask-long": {"ask_user_question", `{"questions":[{"question":"Which of these environments do you want the new release to be deployed to first, before the others? 先にどの環境に配備しますか。","header":"Deployment","options":[{"label":"Staging, which only the team uses","description":"Choose Staging, which only the team uses"},{"label":"A tenth of production","description":"Choose A tenth of production"},{"label":"全部の環境に一度に配備する","description":"Choose 全部の環境に一度に配備する"}]}]}`},
}

const color = `{"question":"Which color do you want?","header":"Color","options":[{"label":"Red","description":"Choose Red"},{"label":"Green","description":"Choose Green"},{"label":"Blue","description":"Choose Blue"}]}`

// asked is the prompt of a call.
func asked(t *testing.T, call [2]string) *agent.Request {
	t.Helper()
	return hook(t, `"hook_event_name":"PermissionRequest","tool_name":"`+call[0]+`","tool_input":`+call[1]).Request
}

// TestSizes: a dialog is read at every size, and matches the call that it asks about and no other. What has no
// room on the screen is not known, and the reading says so: it never matches as a whole.
func TestSizes(t *testing.T) {
	want := map[string]agent.PromptType{"ask": agent.PromptQuestion, "ask-many": agent.PromptQuestion, "ask-two": agent.PromptQuestion, "ask-long": agent.PromptQuestion}
	// The sizes at which all of it is drawn. Qwen Code drops the ends of a command's full rows, so none of a command
	// that is wrapped.
	whole := map[string]string{
		"bash": "40x20 60x20 80x24 200x50", "cjk": "200x50", "long": "200x50", "lines": "80x24 200x50", "ask": "40x20 60x20 80x24 200x50",
		"ask-many": "40x20 60x20 80x24 200x50", "ask-two": "40x20 60x20 80x24 200x50", "ask-long": "80x24",
	}
	seen := 0
	sized(t, func(t *testing.T, name, size string, r *agent.Reading) {
		seen++
		d := r.Dialog
		if d == nil || r.Composer != nil {
			t.Fatalf("it shows %+v", r)
		}
		if kind := want[name]; d.Type != kind && (kind != "" || d.Type != agent.PromptPermission) {
			t.Errorf("it is a %s", d.Type)
		}
		if len(d.Options) < 3 || !d.Options[0].Focused || d.Options[0].Number != 1 {
			t.Errorf("its options are %+v", d.Options)
		}
		all := strings.Contains(whole[name], size)
		if kind := d.Type; all == d.Cut && (kind != agent.PromptPermission || d.Tool == "run_shell_command") {
			t.Errorf("it is cut: %v; its rows are %q", d.Cut, d.Body)
		}
		for other, call := range calls {
			m := qwen.Driver{}.Match(d, asked(t, call))
			switch {
			case other == name && all && m < agent.AlikeMatch, other == name && m == agent.NoMatch:
				t.Errorf("it doesn't show its own call: %v, body %q", m, d.Body)
			case other == name && !all && m > agent.PartMatch:
				t.Errorf("it is cut, and shows all of its call: %v", m)
			case other != name && m > agent.PartMatch, other != name && all && m != agent.NoMatch && d.Tool == "run_shell_command":
				t.Errorf("it shows %s: %v", other, m)
			}
		}
	})
	if seen != 36 {
		t.Errorf("there are %d screens", seen)
	}
}
