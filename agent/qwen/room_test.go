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
