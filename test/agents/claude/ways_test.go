//go:build agents

package claude

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"berth/test/agents/host"
	"berth/test/agents/testbed"
)

// cell is a way to answer a dialog and its result: an outcome, or the error code of a
// refusal. A refusal leaves the dialog as it was.
type cell struct {
	way   string // the words, or JSON for standard input
	want  string
	keys  string // by keys, where that differs
	tells string // what the model gets of it
}

// dialog is a line of the table.
type dialog struct {
	name    string
	kind    string
	message string // with %d for the cell
	file    string // made if and only if it is accepted
	allow   bool   // the MCP server's tool
	cells   []cell
}

const badRequest, noDriver, notReady = "BAD_REQUEST", "NO_DRIVER", "NOT_READY"

// permissions are the ways to answer a permission.
func permissions() []cell {
	return []cell{
		{"text hello", badRequest, "", ""}, {"answer 1=1", badRequest, "", ""}, {"cancel", badRequest, "", ""}, {"option 9", badRequest, "", ""},
		{`{"action":"accept","content":{"a":1}}`, badRequest, "", ""},
		{"accept", "accepted", "", ""}, {"deny", "denied", "", ""}, {"deny use another one, please", "denied", "", "use another one, please"},
		{"option 1", "accepted", "", ""}, {"option No", "denied", "", ""},
	}
}

// answerable is the table: each dialog of a turn, each way.
var answerable = []dialog{
	{"bash", "permission", "MOCK: bash touch bash%d.txt", "bash%d.txt", false, append(permissions(), cell{"option 2", "accepted", "", ""})},
	{"write", "permission", "MOCK: write write%d.txt", "write%d.txt", false, append(permissions(), cell{"option 2", "accepted", "", ""})},
	{"fetch", "permission", "MOCK: fetch https://berth.invalid/%d", "", false, []cell{
		{"text hello", badRequest, "", ""}, {"deny", "denied", "", ""}, {"deny look elsewhere", "denied", noDriver, "look elsewhere"}, {"option No", "denied", "", ""},
	}},
	{"subagent", "permission", "MOCK: agent MOCK: bash touch sub%d.txt", "sub%d.txt", false, []cell{
		{"text hello", badRequest, "", ""}, {"accept", "accepted", "", ""}, {"deny not you", "denied", "", ""}, {"option 1", "accepted", "", ""}, {"option No", "denied", "", ""},
	}},
	{"one question", "question", "MOCK: ask %d", "", false, []cell{
		{"accept", badRequest, "", ""}, {"cancel", badRequest, "", ""}, {"option 4", badRequest, "", ""}, {"option 9", badRequest, "", ""}, {"answer 1=1 2=1", badRequest, "", ""},
		{"option 2", "answered", "", "Green"}, {"text a dark violet, 'quoted'", "answered", "", "a dark violet, 'quoted'"}, {"option 5", "answered", "", "wants to clarify"},
		{"answer 1=3", "answered", "", "Blue"}, {"answer 1=none of them", "answered", "", "none of them"}, {`{"answers":[{"text":"first\nsecond"}]}`, "answered", "", `first\nsecond`},
		{"deny", "denied", "", ""}, {"deny ask later", "denied", noDriver, ""},
	}},
	{"several to tick", "question", "MOCK: ask-many %d", "", false, []cell{
		{"answer 1=1,1", badRequest, "", ""}, {"answer 1=4", badRequest, "", ""},
		{"answer 1=1,3", "answered", "", "Logging, Tracing"}, {"answer 1=3,1", "answered", "", "Tracing, Logging"}, {"option 2", "answered", "", "Metrics"},
		{"text my own", "answered", "", "my own"}, {`{"answers":[{"options":[2],"text":"my own"}]}`, "answered", "", "Metrics, my own"},
		{"option 5", "answered", "", "wants to clarify"}, {"deny", "denied", "", ""},
	}},
	{"three questions", "question", "MOCK: ask-three %d", "", false, []cell{
		{"option 1", badRequest, "", ""}, {"text hello", badRequest, "", ""}, {"answer 1=1 2=1", badRequest, "", ""}, {"answer 1=1 2=1,2 3=1", badRequest, "", ""},
		{"answer 1=2 2=1 3=1,3", "answered", "", "Logging, Tracing"}, {"answer 1=my own 2=words of mine 3=1", "answered", "", "words of mine"},
		{`{"answers":[{"option":2},{"text":"Gigantic"},{"options":[3,1],"text":"more"}]}`, "answered", "", "Tracing, Logging, more"},
		{"option 5", "answered", "", "wants to clarify"}, {"deny", "denied", "", ""},
	}},
	{"mixed questions", "question", "MOCK: ask-mixed %d", "", false, []cell{
		{"answer 1=2 2=2 3=1", "answered", "", "Topbar"}, {"answer 1=1,2 2=1 3=huge", "answered", "", "huge"}, {"answer 1=mine 2=2 3=2", "answered", "", "mine"}, {"deny", "denied", "", ""},
	}},
	{"previews", "question", "MOCK: ask-layout %d", "", false, []cell{
		{"option 9", badRequest, "", ""}, {"text something else", "answered", noDriver, "something else"},
		{"option 2", "answered", "", "Topbar"}, {"option 1", "answered", "", "Sidebar"}, {"option 3", "answered", "", "wants to clarify"}, {"deny", "denied", "", ""},
	}},
	{"plan", "plan", "MOCK: plan %d", "", false, []cell{
		{"option 3", badRequest, "", ""}, {"option 9", badRequest, "", ""}, {"answer 1=1", badRequest, "", ""}, {"cancel", badRequest, "", ""},
		{"deny", "denied", "", ""}, {"deny use python", "denied", "", "use python"}, {"text use go, not python", "denied", "", "use go, not python"},
		{"option 2", "accepted", "", "has approved your plan"}, {"accept", "accepted", "", "has approved your plan"}, {"option 1", "accepted", "", "has approved your plan"},
	}},
	{"MCP tool", "permission", "MOCK: form name %d", "", false, []cell{
		{"text hello", badRequest, "", ""}, {"deny", "denied", "", ""}, {"deny not now", "denied", "", "not now"}, {"option No", "denied", "", ""}, {"accept", "accepted", "", ""}, {"option 1", "accepted", "", ""},
	}},
	{"form", "form", "MOCK: form name sure size count ratio tags %d", "", true, []cell{
		{"accept", badRequest, "", ""}, {"text hello", badRequest, "", ""}, {"option 9", badRequest, "", ""}, {"deny no", noDriver, "", ""},
		{`{"action":"accept","content":{"nope":1}}`, badRequest, "", ""}, {`{"action":"accept","content":{"name":7}}`, badRequest, "", ""},
		{`{"action":"accept","content":{"name":"Ann Lee","sure":true,"size":"medium","count":4,"ratio":0.5,"tags":["blue","red"]}}`, "accepted", "",
			`\"count\":4,\"name\":\"Ann Lee\",\"ratio\":0.5`},
		{`{"action":"accept","content":{"name":"Bob","sure":false,"size":"small"}}`, "accepted", "", `\"sure\":false`},
		{"deny", "denied", "", `\"decline\"`}, {"option 2", "denied", "", `\"decline\"`}, {`{"action":"decline"}`, "denied", "", `\"decline\"`},
		{"cancel", "cancelled", "", `\"cancel\"`}, {`{"action":"cancel"}`, "cancelled", "", `\"cancel\"`},
	}},
	{"form without fields", "form", "MOCK: form nothing %d", "", true, []cell{
		{"text hello", badRequest, "", ""}, {`{"action":"accept","content":{"nope":1}}`, badRequest, "", ""},
		{"accept", "accepted", "", `\"accept\"`}, {"option 1", "accepted", "", `\"accept\"`}, {`{"action":"accept"}`, "accepted", "", `\"accept\"`},
		{"deny", "denied", "", `\"decline\"`}, {"option 2", "denied", "", `\"decline\"`}, {"cancel", "cancelled", "", `\"cancel\"`},
	}},
}

// untold are the ways to answer a dialog that no hook reported: Berth knows only the
// titles of a form's fields.
var untold = map[string][]cell{
	"form": {
		{"accept", badRequest, "", ""}, {"text hello", badRequest, "", ""}, {"option 9", badRequest, "", ""}, {"deny no", noDriver, "", ""},
		{`{"action":"accept","content":{"name":"Ann"}}`, noDriver, "", ""},
		{"deny", "denied", "", `\"decline\"`}, {"option 2", "denied", "", `\"decline\"`}, {"cancel", "cancelled", "", `\"cancel\"`},
	},
	"form without fields": {
		{"text hello", badRequest, "", ""}, {`{"action":"accept","content":{"nope":1}}`, noDriver, "", ""},
		{"accept", "accepted", "", `\"accept\"`}, {"option 1", "accepted", "", `\"accept\"`},
		{"deny", "denied", "", `\"decline\"`}, {"option 2", "denied", "", `\"decline\"`}, {"cancel", "cancelled", "", `\"cancel\"`},
	},
}

// TestWays goes through the table: by the hook that waits, by keys after that hook has gone,
// and by keys in a session that never had hooks.
func TestWays(t *testing.T) {
	t.Parallel()
	for _, d := range answerable {
		for _, channel := range []string{"hook", "keys", "none"} {
			one := d
			if cells := untold[d.name]; channel == "none" && cells != nil {
				one.cells = cells
			}
			if one.hidden(channel) && d.kind != "form" { // its options are on no screen
				one.cells = slices.DeleteFunc(slices.Clone(one.cells), func(c cell) bool { return strings.HasPrefix(c.way, "option ") })
			}
			t.Run(d.name+" by "+channel, func(t *testing.T) { one.test(t, channel) })
		}
	}
}

func (d *dialog) test(t *testing.T, channel string) {
	config := mcpConfig(t)
	args := []string{"--mcp-config", config}
	if d.allow {
		args = append(args, "--allowedTools", "mcp__lab__ask")
	}
	l := newStartLab(t, Ready(), nil)
	ended := channel == "keys" // its hook, which alone says what a subagent's dialog leaves out
	if channel == "none" {
		l.start("lab", nil, []string{"--isolate", "none"}, args...)
		channel = "keys"
	} else {
		l.start("lab", nil, nil, args...)
	}
	l.Is("idle")
	l.untilFile(toolsKnown(config), "listed")
	if strings.HasPrefix(d.message, "MOCK: form") {
		l.offersTheModel("mcp__lab__ask")
	}
	if ended && d.kind == "form" { // Berth releases its hook for a client that may write
		l.Attach()
	}
	open, message, file := false, "", ""
	for i, c := range d.cells {
		want := c.want
		if channel == "keys" && c.keys != "" {
			want = c.keys
		}
		if ended && d.name == "subagent" {
			want = notReady
		}
		if !open {
			message, file = d.open(l, i, channel), fmt.Sprintf(d.file, i)
		}
		r, status := l.way(c.way)
		what := fmt.Sprintf("%s: %s", message, c.way)
		if open = want == badRequest || want == noDriver || want == notReady; open {
			if r.Error == nil || r.Error.Code != want {
				t.Fatalf("%s: status %d, %+v, error %+v; want %s", what, status, r, r.Error, want)
			}
			continue
		}
		wantChannel := channel
		if r.Channel != channel && channel == "hook" && c.byKeysOnly(d) {
			wantChannel = "keys"
		}
		if status != 0 || !r.Confirmed || r.Outcome != want || r.Channel != wantChannel || r.Type != d.kind {
			t.Fatalf("%s: status %d, %+v, error %+v", what, status, r, r.Error)
		}
		d.after(l, message, file, &c)
	}
	if n := l.hooksWaiting(); len(n) > 0 {
		t.Errorf("%d hooks are left", len(n))
	}
}

// hidden reports whether no dialog is drawn while a hook waits: none of a form, and 2.1.330 draws none of a subagent's.
func (d *dialog) hidden(channel string) bool {
	return channel == "hook" && (d.kind == "form" || d.name == "subagent" && newer(330))
}

// byKeysOnly reports whether no hook can give this answer.
func (c *cell) byKeysOnly(d *dialog) bool {
	return c.tells == "wants to clarify" || d.kind == "plan" && c.way == "option 1" ||
		d.name == "bash" && c.way == "option 2" // its label does not name all that the hook would grant
}

// open leads to the dialog, and waits until it is on the screen.
func (d *dialog) open(l *lab, i int, channel string) string {
	l.T.Helper()
	message := d.message
	if d.kind == "plan" {
		screen, err := l.Screen(l.Ctx)
		check(l.T, err)
		if strings.Contains(screen, "plan mode on") {
			message = "MOCK: plan-now %d"
		}
	}
	message = fmt.Sprintf(message, i)
	l.send(message)
	none := l.info().Isolate == "none"
	attached := d.kind == "form" && channel == "keys"
	if none || attached || !d.hidden("hook") {
		l.promptShown(d.kind)
	}
	if d.kind == "question" { // without hooks the session log has the other pages, which may lag behind the first
		l.Poll(func() bool { return !strings.Contains(l.Text("prompt", l.Name), `"text":""`) }, func() string { return "a question has no text" })
	}
	if !none && !attached {
		l.PromptUntil("one that a hook waits for", func(p testbed.Shown) bool { return p.Channel == "hook" })
		switch {
		case channel == "keys" && d.name == "subagent":
			l.endHooks()
			l.PromptUntil("one that takes no key", func(p testbed.Shown) bool { return p.Channel == "none" && p.OnScreen })
		case channel == "keys":
			l.byKeys()
		}
	}
	return message
}

// after checks what the answer led to.
func (d *dialog) after(l *lab, message, file string, c *cell) {
	l.T.Helper()
	if d.name == "MCP tool" && c.want == "accepted" {
		l.PromptUntil("the form", func(p testbed.Shown) bool { return p.Type == "form" && p.Ready })
		l.Respond(map[bool]string{true: "keys", false: "hook"}[l.info().Isolate == "none"], "cancelled", "cancel")
	}
	l.Is("idle")
	l.See(prompt)
	if c.tells != "" {
		l.ModelGot(message, c.tells)
	}
	if d.file != "" {
		if made := l.Made(file); made != (c.want == "accepted") {
			l.T.Fatalf("%s: made is %v after %s", file, made, c.way)
		}
	}
}

// way responds in the words of a cell.
func (l *lab) way(way string) (testbed.Response, int) {
	l.T.Helper()
	if strings.HasPrefix(way, "{") {
		return l.Try(way, "-")
	}
	first, rest, _ := strings.Cut(way, " ")
	if first == "option" {
		rest = l.optionTold(rest)
	}
	if rest == "" {
		return l.Try("", first)
	}
	return l.Try("", first, rest)
}

// optionTold is the number of the prompt's option that begins so, which versions number otherwise,
// or that number, once the prompt shows its options.
func (l *lab) optionTold(word string) string {
	l.T.Helper()
	p := l.PromptUntil("one with its options", func(p testbed.Shown) bool { return p.Ready })
	if word != "Yes" && word != "No" {
		return word
	}
	return fmt.Sprint(1 + slices.IndexFunc(p.Options, func(o string) bool { return strings.HasPrefix(o, word) }))
}

func (l *lab) prompt() (testbed.Shown, error) {
	var p testbed.Shown
	out, err := l.Host.Call(l.Ctx, nil, "prompt", l.Name)
	if err == nil {
		err = json.Unmarshal(out, &p)
	}
	return p, err
}

// promptShown waits for a prompt of that kind on the screen.
func (l *lab) promptShown(kind string) testbed.Shown {
	l.T.Helper()
	return l.PromptUntil("a "+kind+" on the screen", func(p testbed.Shown) bool { return p.Type == kind && p.Ready && p.OnScreen })
}

// hooksWaiting are the processes of the hooks that wait for an answer.
func (l *lab) hooksWaiting() []int {
	l.T.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	check(l.T, err)
	var pids []int
	for _, name := range all {
		line, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		words := strings.Split(string(line), "\x00")
		if strings.HasPrefix(words[0], filepath.Dir(l.home.Workspace)+"/") && len(words) > 2 && words[1] == "hook" && words[2] == "--ask" {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			check(l.T, err)
			pids = append(pids, pid)
		}
	}
	return pids
}

// byKeys kills the hook that waits, so that only keys can answer. If the dialog may be another
// call's, the prompt is then the dialog as it is drawn, under an id of its own.
func (l *lab) byKeys() {
	l.T.Helper()
	l.endHooks()
	l.PromptUntil("answered by keys", func(p testbed.Shown) bool { return p.Channel == "keys" && p.OnScreen })
}

// endHooks ends the processes of the hooks that wait for an answer.
func (l *lab) endHooks() {
	l.T.Helper()
	for _, pid := range l.hooksWaiting() {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && err != syscall.ESRCH {
			l.T.Fatal(err)
		}
	}
}

// buildMCP makes the server that asks.
func buildMCP(ctx context.Context, dir string) (string, error) {
	exe := filepath.Join(dir, "mcpserver")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", exe, "berth/test/agents/mcpserver").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the MCP server: %w\n%s", err, out)
	}
	return exe, nil
}

// toolsKnown is a file that exists once Claude has the list of the tools of the server in
// that configuration. A call of them before that fails.
func toolsKnown(config string) string { return filepath.Join(filepath.Dir(config), "listed") }

// offersTheModel waits until Claude offers a tool to the model. Claude gets the list of a
// server's tools a moment before.
func (l *lab) offersTheModel(tool string) {
	l.T.Helper()
	tried := 0
	l.Poll(func() bool {
		tried++
		message := fmt.Sprintf("MOCK: text try %d", tried)
		l.send(message)
		offered := strings.Contains(string(l.Asked(message, 0).Body), tool)
		l.Is("idle")
		l.ready()
		return offered
	}, func() string { return fmt.Sprintf("%d messages offered the model no tool %s", tried, tool) })
}

// mcpConfig names a built server that asks.
func mcpConfig(t *testing.T) string {
	t.Helper()
	exe, err := mcpExe()
	check(t, err)
	file := filepath.Join(t.TempDir(), "mcp.json")
	check(t, host.WriteJSON(file, map[string]any{"mcpServers": map[string]any{"lab": map[string]any{"command": exe, "args": []string{toolsKnown(file)}}}}))
	return file
}
