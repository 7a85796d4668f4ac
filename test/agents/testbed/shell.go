package testbed

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Shell is an agent that a person starts in a shell of a session.
type Shell struct {
	Env     map[string]string // of the session
	Command string            // what the person types
	Quit    string            // the message that ends the agent
	Other   string            // a command that the agent's list shows until it follows what was typed; empty without a list
	Hooks   bool              // the hooks of init are installed
	// Install is the file of the package that its own script of npm would replace by the program.
	Install string
	// Others are other lines that start the agent, by what they check.
	Others map[string]string
}

// open starts a shell in a session of its own, without the driver of the agent.
func (s Shell) open(l *Lab, shell ...string) *Lab {
	l.T.Helper()
	return s.openAs(l, filepath.Base(shell[0]), nil, shell...)
}

// openAs is open with a name for the session, and more words for the verb new.
func (s Shell) openAs(l *Lab, name string, more []string, shell ...string) *Lab {
	l.T.Helper()
	words := []string{"new", name, "--cwd", l.Workspace, "--size", "120x40", "--size-policy", "fixed"}
	for _, k := range slices.Sorted(maps.Keys(s.Env)) {
		words = append(words, "--env", k+"="+s.Env[k])
	}
	l.Call(slices.Concat(words, more, []string{"--"}, shell)...)
	l = l.With(name)
	l.attached("generic", false)
	l.Is("idle")
	return l
}

// attached waits until the session's agent is that one.
func (l *Lab) attached(agent string, foreground bool) {
	l.T.Helper()
	out := ""
	l.Poll(func() bool {
		out = l.Text("state", l.Name, "--json")
		return strings.Contains(out, `"agent":"`+agent+`"`) && strings.Contains(out, `"attached":"foreground"`) == foreground
	}, func() string { return "it isn't " + agent + ": " + out })
}

// starts types a command line, and waits until the agent takes messages.
func (s Shell) starts(l *Lab, a *Agent, line string) {
	l.T.Helper()
	Check(l.T, l.Type(l.Ctx, line+"\r"))
	l.attached(a.Name, true)
	a.rests(l)
}

// quits ends the agent, as a person does, and waits for the shell.
func (s Shell) quits(l *Lab, a *Agent) {
	l.T.Helper()
	for i := range s.Quit { // as typed: a paste may have another meaning
		Check(l.T, l.Type(l.Ctx, s.Quit[i:i+1]))
	}
	l.See(regexpQuote(s.Quit))
	if s.Other != "" { // Enter would choose it
		l.Gone(s.Other)
	}
	Check(l.T, l.Type(l.Ctx, "\r"))
	l.attached("generic", false)
	l.Is("idle")
}

func regexpQuote(s string) string { return strings.NewReplacer(".", `\.`).Replace(s) }

// InAShell checks an agent that is started in shells: a turn, permissions, two in a row, an interrupt, a kill of the
// server at a prompt, and the shell after the agent's end.
func (s Shell) InAShell(l *Lab, a *Agent) {
	byKeys := *a
	if !s.Hooks || a.HookHides {
		byKeys.Channel, byKeys.HookHides = "keys", false
	}
	a = &byKeys
	if !s.Hooks { // the screen confirms a message, where the agent's log isn't known
		l.Evident = func(string) bool { return true }
	}
	l = s.open(l, "bash", "--norc")
	s.starts(l, a, s.Command)
	s.says(l, a, "MOCK: text warm")
	states := follow(l)
	l.Confirmed("MOCK: slow 10 100", "MOCK: slow 10 100") // a shorter turn may be drawn nowhere
	a.rests(l)
	if got := states(); got != "working idle" {
		l.T.Errorf("states %s", got)
	}
	l.T.Log("a turn is followed")
	permission(l, a)
	l.T.Log("permissions are answered by " + a.Channel)
	one := a.asks(l, a.Channel, "MOCK: "+a.AskTwo)
	l.Respond(a.Channel, "accepted", "--prompt", one.ID, "accept")
	two := a.answerable(l, a.Channel, one.ID)
	stale(l, one.ID)
	l.Respond(a.Channel, "denied", "--prompt", two.ID, "deny")
	a.rests(l)
	made(l, fileOfTwo.FindString(one.Input), true)
	made(l, fileOfTwo.FindString(two.Input), false)
	l.T.Log("two in a row are two")
	l.Takes("MOCK: slow 100 100")
	l.See("line 002")
	if done, status := l.Interrupt(); status != 0 {
		l.T.Errorf("interrupt: %d %+v", status, done)
	}
	l.Confirmed("MOCK: text go on", "MOCK: text go on") // an agent may have given the message back as a draft
	a.rests(l)
	l.T.Log("a turn is interrupted")
	Check(l.T, os.Remove(filepath.Join(l.Workspace, "one.txt")))
	killedAtAPrompt(l, a)
	l.T.Log("the next server has the prompt by its id")
	p := a.asks(l, a.Channel, a.command("touch left.txt"))
	s.killed(l)
	l.Refuses("STALE_PROMPT", "--prompt", p.ID, "accept")
	made(l, "left.txt", false)
	l.Call("kill", l.Name)
	l.T.Log("an agent that is killed leaves a shell, and no prompt")

	for what, line := range s.Others {
		shell := []string{"bash", "--norc"}
		if what == "zsh" {
			shell = []string{"zsh", "-f"}
		}
		l.Call("rm", l.Name)
		l = s.open(l, shell...)
		s.starts(l, a, line)
		s.says(l, a, "MOCK: text by "+what)
		s.quits(l, a)
		l.Call("kill", l.Name)
		l.T.Log(what + ": followed, and then a shell")
	}
}

// Nudges gives messages to an agent in a shell: each arrives once and exactly.
func (s Shell) Nudges(l *Lab, a *Agent, n int, message func(i int) (text, arrives string)) {
	if !s.Hooks {
		l.Evident = func(string) bool { return true }
	}
	l = s.open(l, "bash", "--norc")
	s.starts(l, a, s.Command)
	s.says(l, a, "MOCK: text warm")
	total, longest := 0, 0
	for i := range n {
		text, arrives := message(i)
		total, longest = total+len(text), max(longest, len(text))
		l.Confirmed(text, arrives)
		if l.T.Failed() {
			l.T.FailNow()
		}
	}
	l.T.Logf("%d messages, %d bytes, the longest of %d", n, total, longest)
}

// says sends the first message to an agent, which may keep it until it has started up.
func (s Shell) says(l *Lab, a *Agent, text string) {
	l.T.Helper()
	n := l.Nudge(text)
	late := n.Error != nil && n.Error.Code == "UNCONFIRMED"
	if n.Status != 0 && !late {
		l.T.Fatalf("%s: %+v %+v", text, n, n.Error)
	}
	l.Poll(func() bool { return l.API.Arrivals(text) == 1 }, func() string { return text + " doesn't arrive" })
	if late { // it may still be idle from before
		l.See("^[^:]*" + text[strings.LastIndex(text, " "):])
	}
	a.rests(l)
}

// killed kills the agent in the foreground.
func (s Shell) killed(l *Lab) {
	l.T.Helper()
	l.Call("signal", l.Name, "KILL")
	l.attached("generic", false)
	l.Is("idle")
}
