package gemini_test

import (
	"fmt"
	"testing"

	"berth/agent"
	"berth/agent/gemini"
	"berth/test/anyorder"
)

// ordered is a command in three folders. Its dialog draws none, and no event has the id of a call.
func ordered(t *testing.T) *anyorder.Agent {
	dirs, commands := []string{"", "/etc", "/srv", ""}, []string{"ls", "ls", "ls", "ls -a"}
	event := func(name string, rest func(n int) string) func(string, int) []agent.Fact {
		return func(_ string, n int) []agent.Fact {
			facts, err := gemini.Driver{}.Hook([]byte(`{"session_id":"c","hook_event_name":"` + name + `",` + rest(n) + `}`))
			if err != nil {
				t.Fatal(err)
			}
			return facts
		}
	}
	call := func(n int) string {
		return fmt.Sprintf(`"tool_name":"run_shell_command","tool_input":{"command":%q,"description":"Go","dir_path":%q}`, commands[n], dirs[n])
	}
	plain := func(rest string) func(int) string { return func(int) string { return rest } }
	return &anyorder.Agent{
		Driver: gemini.Driver{}, Dir: "/w", Lines: []string{"", `dir_path: "/etc"`, `dir_path: "/srv"`},
		Report: map[anyorder.Event]func(string, int) []agent.Fact{
			anyorder.Began: event("BeforeTool", call),
			anyorder.Asks: event("Notification", func(n int) string {
				return fmt.Sprintf(`"notification_type":"ToolPermission","details":{"type":"exec","command":%q}`, commands[n])
			}),
			anyorder.Over:    event("AfterTool", call),
			anyorder.Step:    event("PreCompress", plain(`"trigger":"auto"`)),
			anyorder.Stop:    event("AfterAgent", plain(`"prompt":"go"`)),
			anyorder.Message: event("BeforeAgent", plain(`"prompt":"go"`)),
		},
		Before: []anyorder.Event{anyorder.Began},
		Dialog: []*agent.Reading{draw(confirm("ls")...)},
		Others: []anyorder.Other{anyorder.Asking("run_shell_command", "ls -a", draw(confirm("ls -a")...))},
		Works:  draw(work...), Composer: draw(rest...),
	}
}

// TestAnyOrder: whatever another process reports and draws, a key allows no command in a folder that its prompt doesn't name.
func TestAnyOrder(t *testing.T) { anyorder.Play(t, ordered(t), 30, 60) }

// TestCoveredWithoutAnswer: a call whose dialog was covered, and not answered, is named by the prompt of a forged report.
func TestCoveredWithoutAnswer(t *testing.T) { anyorder.Covered(t, ordered(t)) }

// TestKilledAtADialog: what a session without a server showed isn't known, so no call is forgotten meanwhile.
func TestKilledAtADialog(t *testing.T) { anyorder.Killed(t, ordered(t)) }

// TestHonestOrders: without another process each dialog takes an answer in time.
func TestHonestOrders(t *testing.T) { anyorder.Honest(t, ordered(t), 12, 60) }
