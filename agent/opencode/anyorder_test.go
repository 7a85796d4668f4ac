package opencode_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"berth/agent"
	"berth/agent/opencode"
	"berth/test/anyorder"
)

// ordered is a command in three folders. Its dialog draws none.
func ordered(t *testing.T) *anyorder.Agent {
	const command, other = "touch one.txt && echo ran-one", "touch two.txt && echo ran-two"
	inputs := []string{`{"command":"` + command + `"}`, `{"command":"` + command + `","workdir":"/etc"}`, `{"command":"` + command + `","workdir":"/srv"}`, `{"command":"` + other + `"}`}
	report := func(name, more, tool, id, input string) []agent.Fact {
		asked := command
		if strings.Contains(input, other) {
			asked = other
		}
		facts, err := opencode.Driver{}.Hook(fmt.Appendf(nil, `{"event":%q,"session":"ses_1","text":"go on"%s,"permission":%q,"metadata":{"command":%q},"call":%q,"tool":%q,"input":%s}`, name, more, tool, asked, id, tool, input))
		if err != nil {
			t.Fatal(err)
		}
		return facts
	}
	event := func(name, more string) func(string, int) []agent.Fact {
		return func(id string, n int) []agent.Fact { return report(name, more, "bash", id, inputs[n]) }
	}
	all := screens(t)
	wide := opencode.Driver{}.Screen(all["bash"]["60x20"])
	wide.Dialog.Partial, wide.Dialog.Options[0].Focused = false, true
	second := *all["bash"]["80x24"]
	second.Lines = slices.Clone(second.Lines)
	for i, row := range second.Lines {
		second.Lines[i].Text = strings.NewReplacer("one.txt", "two.txt", "ran-one", "ran-two").Replace(row.Text)
	}
	another := opencode.Driver{}.Screen(&second)
	another.Dialog.Partial, another.Dialog.Options[0].Focused = false, true
	return &anyorder.Agent{
		Driver: opencode.Driver{}, Dir: "/ws", Lines: []string{"", `workdir: "/etc"`, `workdir: "/srv"`},
		Report: map[anyorder.Event]func(string, int) []agent.Fact{
			anyorder.Began:  event("tool.before", ""),
			anyorder.Asks:   event("permission.asked", ""),
			anyorder.AsksAs: event("permission.asked", `,"agent":"ses_2","agent_type":"y"`),
			anyorder.AsksElse: func(id string, _ int) []agent.Fact {
				return report("permission.asked", fmt.Sprintf(`,"patterns":[%q]`, command), "grep", id, inputs[0])
			},
			anyorder.BeganElse: func(id string, _ int) []agent.Fact {
				return report("tool.before", "", "bash", id, `{"command":"pwd"}`)
			},
			anyorder.Over:    event("tool.after", ""),
			anyorder.Step:    event("step", ""),
			anyorder.Stop:    event("idle", ""),
			anyorder.Message: event("turn", ""),
		},
		Before: []anyorder.Event{anyorder.Began},
		Dialog: []*agent.Reading{drawnBash(t), wide},
		Others: []anyorder.Other{anyorder.Asking("bash", other, another)},
		Works:  opencode.Driver{}.Screen(all["slow"]["80x24"]), Composer: opencode.Driver{}.Screen(all["plain"]["80x24"]),
	}
}

// TestAnyOrder: whatever another process reports and draws, a key allows no command in a folder that its prompt doesn't name.
func TestAnyOrder(t *testing.T) { anyorder.Play(t, ordered(t), 30, 60) }

// TestCoveredWithoutAnswer: a call whose dialog was covered, and not answered, is named by the prompt of a forged report.
func TestCoveredWithoutAnswer(t *testing.T) { anyorder.Covered(t, ordered(t)) }

// TestKilledAtADialog: what a session without a server showed isn't known, so no call is forgotten meanwhile.
func TestKilledAtADialog(t *testing.T) { anyorder.Killed(t, ordered(t)) }

// TestNamedByAnotherTool: a call whose id is in another tool's permission is named by the prompt of a forged report.
func TestNamedByAnotherTool(t *testing.T) { anyorder.NamedByAnother(t, ordered(t)) }

// TestHonestOrders: without another process each dialog takes an answer in time.
func TestHonestOrders(t *testing.T) { anyorder.Honest(t, ordered(t), 12, 60) }
