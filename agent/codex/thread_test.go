package codex_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"berth/agent"
)

const inOpened = "\n\nThe dialog may be that of a call in a thread that was opened at the terminal. Then neither its shell nor its folder is known here."

// named is a composer whose footer names the open thread so.
func named(thread string) *agent.Reading {
	return draw(hint+"\n  mock-model default · ~/work · Lab"+thread, 0, 2)
}

// TestOpenThread: the footer names the open thread, if Codex has several. The model chooses the conversation's title before the name.
func TestOpenThread(t *testing.T) {
	const hints = "\n  ← for agents · ? for shortcuts"
	for footer, want := range map[string]agent.Thread{
		hints: "", "": "", " · Main [default]" + hints: agent.ThreadMain, " · Main [default]": agent.ThreadMain,
		" · Main\n  [default]" + hints: agent.ThreadMain, " ·\n  Main [default]\n  ← for agents  ⚠ 2 · f2": agent.ThreadMain,
		" · Bohr [default]" + hints: agent.ThreadOther, " · Bohr\n  [my kind]" + hints: agent.ThreadOther,
		" · Main [default] · Bohr [my kind]" + hints: agent.ThreadOther, " · Main [default]\n  · Bohr [default]": agent.ThreadOther,
		" · Main [default]\n  ← for agents · Bohr [default]":                    agent.ThreadOther,
		" · Main [default]" + hints + " · Side from main thread · ^/ to switch": agent.ThreadOther,
		" · Main [default] · Boh…" + hints:                                      "", " · Main [default] more" + hints: "", " · Main [default]\n  ← for\n  agents": "",
	} {
		if got := named(footer).Thread; got != want {
			t.Errorf("%q: %q", footer, got)
		}
	}
}

// TestOpenedThread: a person has opened a subagent's thread, whose dialogs Codex then draws like the main agent's. The prompt says so,
// until the footer has named the main thread for a while. Without a subagent, and without a key, there is no such thread.
func TestOpenedThread(t *testing.T) {
	const (
		inMain = " · Main [default]"
		inSub  = " · Bohr [default]"
	)
	types := func(s *run) { s.f.Typed(s.now) }
	shows := func(thread string) func(*run) {
		return func(s *run) {
			for range 4 {
				s.show(named(thread))
			}
		}
	}
	thread := func(s *run) { s.show(inThread("Agent (315f90306526)")) }
	started := func(s *run) { s.event("SubagentStart", `,"agent_id":"x","agent_type":"y"`) }
	subcalls := func(s *run) { s.event("PostToolUse", ofSub+`,"tool_use_id":"2","tool_input":{"command":"pwd"}`) }
	glance := func(s *run) {
		s.apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: named(inMain)})
	}
	waits := func(s *run) { s.now = s.now.Add(time.Minute) }
	restarts := func(s *run) { s.restart(s.t) }
	for name, c := range map[string]struct {
		steps  []func(*run)
		opened bool
	}{
		"a key, and no subagent":          {[]func(*run){types, shows("")}, false},
		"a subagent, and no key":          {[]func(*run){started, shows(inMain)}, false},
		"o at the dialog":                 {[]func(*run){thread, types}, true},
		"another thread's name":           {[]func(*run){types, shows(inSub)}, true},
		"the main thread's name":          {[]func(*run){started, types, shows(inMain)}, false},
		"its name before the key":         {[]func(*run){shows(inMain), waits, types}, true},
		"its name for too little time":    {[]func(*run){shows(inMain), waits, types, glance}, true},
		"no name, after a hook":           {[]func(*run){started, types, shows("")}, true},
		"no name, after a call's hook":    {[]func(*run){subcalls, types, shows("")}, true},
		"opened and left":                 {[]func(*run){thread, types, shows(inSub), types, shows(inMain)}, false},
		"a restart after the key":         {[]func(*run){thread, types, restarts}, true},
		"a restart after it was left":     {[]func(*run){thread, types, shows(inMain), restarts}, false},
		"a restart of a session with one": {[]func(*run){types, shows(""), restarts}, false},
	} {
		for _, reported := range []bool{false, true} {
			s := newRun(t)
			s.calls("a", "/w")
			for _, step := range c.steps {
				step(s)
			}
			if reported {
				s.requests("7", "/w")
				s.release("7")
			}
			s.dialog()
			want := map[bool]string{true: inOpened}[c.opened]
			if all := s.answerable(); !slices.Equal(all, []string{want}) {
				t.Errorf("%s, reported %v: a key answers %q", name, reported, all)
			}
		}
	}
}

// TestOpenedThreadSaysSo: a prompt that says that its shell and its folder aren't known needs no more.
func TestOpenedThreadSaysSo(t *testing.T) {
	for name, asks := range map[string]*agent.Reading{"the thread's row": inThread("Agent (1)"), "no call in the log": asksToRun("ls")} {
		s := newRun(t)
		s.apply(agent.Fact{Kind: agent.TurnStarted, Source: agent.SourceLog, Turn: "t"})
		s.event("SubagentStart", `,"agent_id":"x","agent_type":"y"`)
		s.f.Typed(s.now)
		s.asks = asks
		s.dialog()
		if all := s.answerable(); len(all) != 1 || strings.Contains(all[0], inOpened) || !strings.Contains(all[0], noFolder) {
			t.Errorf("%s: a key answers %q", name, all)
		}
	}
	s := newRun(t)
	s.subRequests("7")
	s.f.Typed(s.now)
	s.release("7")
	s.dialog()
	if all := s.answerable(); !slices.Equal(all, []string{unknown + hookFolder}) {
		t.Errorf("of a subagent's hook a key answers %q", all)
	}
}
