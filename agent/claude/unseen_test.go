package claude_test

import (
	"testing"
	"time"

	"berth/agent"
)

// TestHiddenPromptsStay: while a hook keeps a prompt's dialog off the screen, another dialog comes and is answered. Neither the
// screen after it nor the live file, which shows work, says anything about the prompt that waits.
func TestHiddenPromptsStay(t *testing.T) {
	for name, asks := range map[string]func(s *forgery){
		"a form": func(s *forgery) { s.form("Continue?", "8") },
		"a subagent's": func(s *forgery) {
			s.hook(`{"session_id":"s","hook_event_name":"PermissionRequest","prompt_id":"t","agent_id":"a1","agent_type":"helper","tool_name":"Bash","tool_input":{"command":"pwd","description":"Where"}}`, "8")
		},
	} {
		for _, live := range []bool{true, false} {
			s := newForgery(t)
			level := func(l agent.Level) {
				if live {
					s.f.Apply(agent.Fact{Kind: agent.LevelIs, Source: agent.SourceRegistry, Level: l, Time: s.step()})
				}
			}
			s.hook(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt_id":"t","prompt":"x"}`, "")
			asks(s)
			s.asks("Bash", `{"command":"ls","description":"List"}`, "7")
			s.show(plainCommand("Bash command", "ls"))
			level(agent.LevelWaiting)
			s.pass(time.Second)
			s.f.Apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: agent.CauseDelivered, Hook: "7", Time: s.step()})
			s.show(atComposer(map[bool]string{true: "", false: "✻ Thinking… (3s · esc to interrupt)\n\n"}[live]))
			level(agent.LevelBusy)
			s.about("PostToolUse", "Bash", `{"command":"ls","description":"List"}`, "")
			s.pass(time.Minute)
			if all := s.f.Status().Requests; len(all) != 1 || all[0].Channel != agent.ChannelHook || all[0].OnScreen {
				t.Errorf("%s, a live file %v: %d prompts are open", name, live, len(all))
			}
			s.gone("8") // the agent ends it
			level(agent.LevelIdle)
			s.hook(`{"session_id":"s","hook_event_name":"Stop","prompt_id":"t"}`, "")
			s.show(atComposer(""))
			s.pass(5 * time.Second)
			if all := s.f.Status().Requests; len(all) != 0 {
				t.Errorf("%s, a live file %v: after the turn %+v is open", name, live, all[0])
			}
		}
	}
}
