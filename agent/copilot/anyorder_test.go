package copilot_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"berth/agent"
	"berth/agent/copilot"
	"berth/test/anyorder"
)

// ordered is a command in three folders. Its dialog draws none. The log is written after the dialog.
func ordered(t *testing.T) *anyorder.Agent {
	dirs, commands := []string{"/srv/ws", "/etc", "/srv", "/srv/ws"}, []string{"touch one.txt", "touch one.txt", "touch one.txt", "touch two.txt"}
	log := func(kind, data string) []agent.Fact {
		facts, err := copilot.Driver{}.Log([]byte(`{"type":"` + kind + `","data":` + data + `}`))
		if err != nil {
			t.Fatal(err)
		}
		return facts
	}
	hook := func(name string) func(string, int) []agent.Fact {
		return func(string, int) []agent.Fact {
			facts, err := copilot.Driver{}.Hook([]byte(`{"session_id":"s","hook_event_name":"` + name + `","prompt":"x"}`))
			if err != nil {
				t.Fatal(err)
			}
			return facts
		}
	}
	asks := func(more string) func(string, int) []agent.Fact {
		return func(id string, n int) []agent.Fact {
			return log("permission.requested", fmt.Sprintf(`{%s"permissionRequest":{"kind":"shell","toolCallId":%q,"fullCommandText":%q,"intention":"Run it","commandSegments":[%s]}}`, more, id, commands[n], in(dirs[n])))
		}
	}
	asksFor := func(text string) *agent.Reading {
		rows := command(" ❯ 1. Yes", "   2. No, and tell Copilot what to do differently (Esc to stop)")
		for i := range rows {
			rows[i] = strings.ReplaceAll(rows[i], "touch one.txt", text)
		}
		return shown(rows...)
	}
	return &anyorder.Agent{
		Driver: copilot.Driver{}, Dir: "/srv/ws", Lines: []string{"", `workingDirectory: "/etc"`, `workingDirectory: "/srv"`},
		Report: map[anyorder.Event]func(string, int) []agent.Fact{
			anyorder.Logged: func(id string, n int) []agent.Fact {
				return log("tool.execution_start", `{"toolCallId":"`+id+`","toolName":"bash","arguments":{"command":"`+commands[n]+`","description":"Run it"}}`)
			},
			anyorder.Asks:   asks(""),
			anyorder.AsksAs: asks(`"parentToolCallId":"x",`),
			anyorder.AsksElse: func(id string, _ int) []agent.Fact {
				return log("permission.requested", `{"permissionRequest":{"kind":"write","toolCallId":"`+id+`","fileName":"touch one.txt","diff":"touch one.txt","intention":"Run it"}}`)
			},
			anyorder.BeganElse: func(id string, _ int) []agent.Fact {
				return log("tool.execution_start", `{"toolCallId":"`+id+`","toolName":"bash","arguments":{"command":"pwd"}}`)
			},
			anyorder.Over: func(id string, _ int) []agent.Fact {
				return append(log("permission.completed", `{"toolCallId":"`+id+`","requestId":"r"}`), log("tool.execution_complete", `{"toolCallId":"`+id+`","success":true}`)...)
			},
			anyorder.Stop:    hook("Stop"),
			anyorder.Message: hook("UserPromptSubmit"),
		},
		After:  []anyorder.Event{anyorder.Logged, anyorder.Asks},
		Dialog: []*agent.Reading{asksFor("touch one.txt")},
		Others: []anyorder.Other{anyorder.Asking("bash", "touch two.txt", asksFor("touch two.txt"))}, SubagentsLog: true,
		Works: shown("x"), Composer: shown("╻"+strings.Repeat("▄", 79), "┃", "╹"+strings.Repeat("▀", 79), " ? for shortcuts"),
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

// orderedParts is the same for three commands whose dialogs draw only a path, and the same one.
func orderedParts(t *testing.T, third string) *anyorder.Agent {
	a := ordered(t)
	commands := []string{"cat /x/w", "rm /x/w", third, "touch two.txt"}
	log := func(line string) []agent.Fact {
		facts, err := copilot.Driver{}.Log([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		return facts
	}
	asks := func(more string) func(string, int) []agent.Fact {
		return func(id string, n int) []agent.Fact {
			draws := path("/x/w")
			if n == 3 {
				draws = `{"kind":"commands"}`
			}
			return log(fmt.Sprintf(`{"type":"permission.requested","data":{%s"permissionRequest":{"kind":"shell","toolCallId":%q,"fullCommandText":%q,"intention":"Run it","commandSegments":[%s]},"promptRequest":%s}}`, more, id, commands[n], in("/srv/ws"), draws))
		}
	}
	a.Lines = []string{`command: "cat /x/w"`, `command: "rm /x/w"`, "command: " + strconv.QuoteToASCII(third)}
	a.Report[anyorder.Logged] = func(id string, n int) []agent.Fact {
		return log(fmt.Sprintf(`{"type":"tool.execution_start","data":{"toolCallId":%q,"toolName":"bash","arguments":{"command":%q,"description":"Run it"}}}`, id, commands[n]))
	}
	a.Report[anyorder.Asks], a.Report[anyorder.AsksAs] = asks(""), asks(`"parentToolCallId":"x",`)
	a.Dialog = []*agent.Reading{partly(allowsPath, "/x/w")}
	return a
}

// TestAnyOrderOfParts: whatever another process reports and draws, a key at a dialog about a path allows no command that its prompt doesn't name.
func TestAnyOrderOfParts(t *testing.T) {
	a := orderedParts(t, "cat /x/w\u200b")
	anyorder.Play(t, a, 30, 60)
	anyorder.Covered(t, a)
	anyorder.Killed(t, a)
	anyorder.NamedByAnother(t, a)
	anyorder.Honest(t, orderedParts(t, "ls /x/w"), 12, 60)
}
