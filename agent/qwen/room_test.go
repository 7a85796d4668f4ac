package qwen_test

import (
	"errors"
	"strings"
	"testing"

	"berth/agent"
	"berth/agent/qwen"
)

// TestOptionWithoutRoom: Qwen Code cuts off an option that names all commands that it would always allow. The rest
// was not shown, so no key chooses it.
func TestOptionWithoutRoom(t *testing.T) {
	const command = "touch a && rm -rf b"
	for cols, want := range map[int]string{60: "", 80: "2 answered"} {
		option := "2. Always allow run 'touch *' commands, run 'rm *' commands in this project"
		if cols == 60 {
			option = option[:strings.Index(option, "rm *")] + "…"
		}
		r := draw(cols, 24, "  ? Shell "+command+" ←\n\n     "+command+"\n\n   Allow execution of: 'touch, rm'?\n\n   › 1. Yes, allow once\n     "+option+"\n     3. No, suggest changes (esc)\n"+waiting)
		p := qwen.Driver{}.FromDialog(r.Dialog)
		k, err := qwen.Driver{}.Keys(p, agent.Answer{Kind: agent.ChooseOption, Option: 2}, r.Dialog)
		if want == "" && !errors.Is(err, agent.ErrCannot) || want != "" && (err != nil || press(k) != want) {
			t.Errorf("%d columns: option 2 is %q, %v: %q", cols, press(k), err, p.Options)
		}
		if k, err := (qwen.Driver{}).Keys(p, agent.Answer{Kind: agent.Accept}, r.Dialog); err != nil || press(k) != "1 accepted" {
			t.Errorf("%d columns: accept is %q, %v", cols, press(k), err)
		}
	}
}

// TestServersToolWithoutRoom: on a narrow screen the question is cut off before it says that a server's tool asks,
// and the tool can have any name. What the tool gets isn't shown there either.
func TestServersToolWithoutRoom(t *testing.T) {
	for _, name := range []string{"ask", "Shell", "WriteFile"} {
		r := draw(36, 24, "  ? "+name+" (lab MCP Server) ←\n\n   MCP Server: lab\n   Tool: "+name+"\n\n   Allow execution of MCP tool…\n\n   › 1. Yes, allow once\n     2. No, suggest changes (esc)\n"+waiting)
		if r.Dialog == nil || r.Dialog.Tool != "" || !(qwen.Driver{}).FromDialog(r.Dialog).InPart() {
			t.Errorf("%s is read as %+v", name, r.Dialog)
		}
	}
}

// TestOptionThatDrawsOptions: the label of an option goes on below its mark, where it can draw an option's row, and
// its description can have a blank row. The prompt shows all of both.
func TestOptionThatDrawsOptions(t *testing.T) {
	d := draw(40, 24, "  ? AskUserQuestion Ask user 1 question\n    ←\n\n   Where\n\n   Where to?\n\n   ❯ 1. Staging, which the team uses\n   ❯ 2. and production\n        The team's\n\n        and what it has\n     2. Nowhere\n     3. Type something...\n\n\n   ↑/↓: Navigate | Enter: Select |\n   Esc: Cancel\n"+waiting).Dialog
	if d == nil || strings.Join(d.Labels(), "|") != "Staging, which the team uses ❯ 2. and production|Nowhere|Type something..." {
		t.Fatalf("it is read as %+v", d)
	}
	if q := (qwen.Driver{}).FromDialog(d).Questions[0]; strings.Join(strings.Fields(q.Descriptions[0]), " ") != "The team's and what it has" {
		t.Errorf("its description is %q", q.Descriptions)
	}
}
