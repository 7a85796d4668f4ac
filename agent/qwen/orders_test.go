package qwen_test

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/qwen"
	"berth/detect"
)

// orders is a session whose calls ask one after another, and a process in it that reports whatever it likes.
type orders struct {
	t     *testing.T
	seed  int64
	r     *rand.Rand
	now   time.Time
	fold  *detect.Fold
	calls []ownCall
	trace []string
}

type ownCall struct{ id, command, dir string }

func (o *orders) say(format string, a ...any) { o.trace = append(o.trace, fmt.Sprintf(format, a...)) }

func (o *orders) apply(facts ...agent.Fact) {
	for _, f := range facts {
		o.now = o.now.Add(time.Duration(50+o.r.Intn(250)) * time.Millisecond)
		f.Time = o.now
		o.fold.Apply(f)
	}
}

// call is the fields of a call of a command.
func call(id, command, dir string) string {
	in := fmt.Sprintf(`{"command":%q,"directory":%q}`, command, dir)
	return `"tool_name":"run_shell_command","tool_call_id":"` + id + `","tool_input":` + strings.Replace(in, `,"directory":""`, "", 1)
}

// hook reports an event. A hook that waited is ended at once.
func (o *orders) hook(waits bool, fields string) {
	o.say("%v %s", waits, fields)
	f := hook(o.t, fields)
	if !waits {
		o.apply(f)
		return
	}
	f.Hook = fmt.Sprint(len(o.trace))
	o.apply(f, agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: "hook:gone", Hook: f.Hook})
}

var (
	orderedCommands = []string{"ls", "id", "touch a\ntouch b\nls"}
	orderedFolders  = []string{"", "/etc", "/srv"}
)

func (o *orders) any() (command, dir string) {
	return orderedCommands[o.r.Intn(len(orderedCommands))], orderedFolders[o.r.Intn(len(orderedFolders))]
}

// step is the model's answer with its calls, which the chat file has.
func (o *orders) step() (begun []ownCall) {
	var parts []string
	for range 1 + o.r.Intn(3) {
		c := ownCall{id: fmt.Sprintf("c%d", len(o.calls))}
		c.command, c.dir = o.any()
		o.calls, begun = append(o.calls, c), append(begun, c)
		_, input, _ := strings.Cut(call(c.id, c.command, c.dir), `"tool_input":`)
		parts = append(parts, `{"functionCall":{"id":"`+c.id+`","name":"run_shell_command","args":`+input+`}}`)
	}
	o.say("%q", begun)
	facts, err := qwen.Driver{}.Log([]byte(`{"type":"assistant","message":{"parts":[` + strings.Join(parts, ",") + `]}}`))
	if err != nil {
		o.t.Fatal(err)
	}
	o.apply(facts...)
	return begun
}

// forge is a report of another process.
func (o *orders) forge() {
	command, dir := o.any()
	what := call(fmt.Sprintf("c%d", o.r.Intn(len(o.calls)+1)), command, dir)
	if o.r.Intn(4) == 0 {
		what = `"agent_id":"x","agent_type":"y",` + what
	}
	switch o.r.Intn(8) {
	case 0, 1, 2:
		o.hook(o.r.Intn(2) == 0, `"hook_event_name":"PermissionRequest",`+what)
	case 3, 4:
		o.hook(false, `"hook_event_name":"PostToolUse",`+what)
	case 5:
		o.hook(false, `"hook_event_name":"PreToolUse",`+what)
	case 6:
		o.hook(false, `"hook_event_name":"`+[]string{"PostToolBatch", "Stop"}[o.r.Intn(2)]+`"`)
	case 7:
		o.hook(false, `"hook_event_name":"UserPromptSubmit","prompt":"x"`)
	}
}

func (o *orders) show(r *agent.Reading) {
	for range 1 + o.r.Intn(8) {
		o.apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: r})
	}
}

// asks is the dialog of a call, which may be cut off or off the screen for a time. It is how often a key would answer.
func (o *orders) asks(c ownCall) (keyed int) {
	asking := func(rows string) *agent.Reading {
		return draw(80, 24, "  ? Shell "+strings.ReplaceAll(c.command, "\n", " ")+" ←\n\n     "+rows+"\n\n   Allow execution of: 'x'?\n\n   › 1. Yes, allow once\n     2. No, suggest changes (esc)\n"+waiting)
	}
	whole := asking(strings.ReplaceAll(c.command, "\n", "\n     "))
	o.say("asks %q", c)
	for range 1 + o.r.Intn(4) {
		switch o.r.Intn(8) {
		case 0:
			o.show(asking("... first 2 lines hidden ...\n     ls"))
		case 1:
			o.show(draw(80, 24, "x"))
		default:
			o.show(whole)
			keyed += o.keys(c, whole)
		}
		if o.r.Intn(2) == 0 {
			o.forge()
		}
	}
	return keyed
}

// keys checks that a prompt that a key answers shows the folder of the call.
func (o *orders) keys(c ownCall, r *agent.Reading) (keyed int) {
	for _, p := range o.fold.Status().Requests {
		d, ok := o.fold.Pending(p.ID)
		if !ok || d.Hook != "" || d.Dialog == nil || !d.Whole || d.Disputed || d.Over || d.Alike || !o.fold.Asks(r.Dialog, p.ID) {
			continue
		}
		if keyed++; c.dir != "" && !strings.Contains(agent.Value(p.Text), fmt.Sprintf("directory: %q", c.dir)) {
			o.t.Errorf("seed %d: a key allows %q and shows %q after\n%s", o.seed, c, agent.Value(p.Text), strings.Join(o.trace, "\n"))
		}
	}
	return keyed
}

// TestForgedOrders: whatever another process reports, in any order, and although it ends hooks and covers dialogs, a key
// allows no command of the chat file in a folder that its prompt doesn't show.
func TestForgedOrders(t *testing.T) {
	rule := strings.Repeat("─", 80)
	works := draw(80, 24, "  ⠏ Working (esc to cancel, 3s)\n\n"+rule+"\n> \n"+rule+"\n  ⏸ Ask permissions (shift + tab to cycle)")
	keyed := 0
	for seed := int64(1550); seed < 1910; seed++ { // five of these found a way once
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		o := &orders{t: t, seed: seed, r: rand.New(rand.NewSource(seed)), now: now, fold: detect.New(qwen.Driver{}, detect.Options{Start: now, Dir: "/w"})}
		o.hook(false, `"hook_event_name":"UserPromptSubmit","prompt":"go"`)
		for range 2 {
			for _, c := range o.step() {
				for range o.r.Intn(4) {
					o.forge()
				}
				own := call(c.id, c.command, c.dir)
				if o.r.Intn(2) == 0 { // else its own hook was ended before it reported
					o.hook(true, `"hook_event_name":"PermissionRequest",`+own)
				}
				keyed += o.asks(c)
				o.show(works)
				if o.r.Intn(3) > 0 {
					o.hook(false, `"hook_event_name":"PostToolUse",`+own)
				}
			}
		}
	}
	if keyed == 0 {
		t.Error("no key answers any prompt")
	}
}
