package codex_test

import (
	"strings"
	"testing"

	"berth/agent"
)

// stays are the texts of the prompts that a key answers once the dialog has stayed for some seconds.
func (s *run) stays() []string {
	for range 12 {
		s.dialog()
	}
	return s.answerable()
}

// TestNamedByAnotherTool: a call in the session's folder asks at its dialog. A forged hook for a patch waits, has the call's id, and
// its patch is the command. The call isn't that hook's, so the prompt of a forged report in another folder names it.
func TestNamedByAnotherTool(t *testing.T) {
	for _, order := range []string{"chfd", "chofd", "cohfd", "cdhf", "cdohf"} {
		s := newRun(t)
		for _, step := range order {
			switch step {
			case 'c':
				s.calls("a", "/w")
			case 'd':
				s.dialog()
			case 'o':
				s.ends("a")
			case 'f':
				s.requests("", "/srv")
			case 'h':
				for _, f := range hook(t, "PermissionRequest", `,"turn_id":"t","cwd":"/w","tool_name":"apply_patch","tool_use_id":"a","tool_input":{"command":"ls"}`) {
					f.Hook = "8"
					s.apply(f)
				}
			}
		}
		for _, text := range s.stays() {
			if text != "" && !strings.Contains(text, orInDir) {
				t.Errorf("%s: a key answers %q", order, text)
			}
		}
	}
}

// TestIDBeforeTheLog: another process knows the id of a call in the session's folder, and reports by it, before the log does, a
// command with a patch in it, or one that the agent runs later. The prompt of a forged report in another folder names the true call.
func TestIDBeforeTheLog(t *testing.T) {
	const patch = `apply_patch *** Begin Patch\n*** Add File: /w/x\n+a\n*** End Patch`
	begins := func(s *run, id, command string) {
		s.event("PreToolUse", `,"cwd":"/w","tool_name":"Bash","tool_use_id":"`+id+`","tool_input":{"command":"`+command+`"}`)
	}
	for _, command := range []string{patch, "pwd"} {
		for _, over := range []bool{true, false} {
			s := newRun(t)
			begins(s, "a", command)
			s.logs("a", "/w")
			if over {
				s.ends("a")
			}
			s.line(`{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"pwd\"}","call_id":"z"}`)
			s.ends("z")
			s.requests("", "/srv")
			for _, text := range s.stays() {
				if !strings.Contains(text, orInDir) {
					t.Errorf("%s, over %v: a key answers %q", command, over, text)
				}
			}
		}
	}
}

// TestAnswerOfAnotherDialog: Berth has answered a prompt, and the dialog of another call, which looks the same or was covered at
// that moment, isn't answered with it. Another process reports that this call is over and draws an empty composer over its
// dialog. The prompt of a forged report in another folder names the call.
func TestAnswerOfAnotherDialog(t *testing.T) {
	keyed := 0
	for _, order := range []string{"akndocmh", "akdnocmh", "ankdocmh", "akndeocmh", "aksnsocmh", "ndoxcmh", "ndxocmh"} {
		for name, over := range ends {
			s := newRun(t)
			for _, step := range order {
				switch step {
				case 'a':
					s.calls("a", "/w")
					s.requests("", "/w")
				case 'k': // a key of Berth allows a
					s.f.Answered(s.dialog().ID, true)
				case 'n': // the next call
					s.logs("b", "/srv")
				case 'd':
					for range 8 {
						s.dialog()
					}
				case 's': // for a moment
					s.show(s.asks)
				case 'x': // another prompt, which its hook answers
					s.show(s.works)
					for _, f := range hook(t, "PermissionRequest", `,"cwd":"/w","tool_name":"Bash","tool_input":{"command":"echo hi"}`) {
						f.Hook = "9"
						s.apply(f)
					}
					s.apply(agent.Fact{Kind: agent.HookAnswered, Source: agent.SourceHook, Hook: "9"},
						agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: agent.CauseDelivered, Hook: "9"})
				case 'e':
					s.ends("a")
				case 'o':
					s.ends("a")
					over(s)
					s.ends("b")
				case 'c':
					s.event("Stop", "")
					for range 20 {
						s.show(s.rests)
					}
				case 'm':
					s.message()
				case 'h':
					s.requests("", "/w")
				}
			}
			for _, text := range s.stays() {
				if keyed++; !strings.Contains(text, "/srv") {
					t.Errorf("%s, %s: a key answers %q", order, name, text)
				}
			}
		}
	}
	if keyed == 0 {
		t.Error("no key answers any")
	}
}
