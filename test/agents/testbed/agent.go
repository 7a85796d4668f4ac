package testbed

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"berth/test/agents/modelapi"
)

// Agent is what the scenarios know about an agent.
type Agent struct {
	Name string
	// Start starts the agent in a session of its own, with these flags for the verb new, and
	// returns when the agent takes messages. It calls t.Parallel.
	Start func(t *testing.T, flags ...string) *Lab
	// Ready waits until the agent takes a message again, after a turn; nil: when it is idle.
	Ready func(*Lab)
	// Listens waits until an open dialog reads keys; nil: as soon as it is drawn.
	Listens func(*Lab)

	// Channel is what answers a permission while no client is attached: hook or keys.
	Channel string
	// HookHides: the agent draws no dialog while its hook waits, unless a client is attached.
	HookHides bool
	// Yes and No are the keys that answer the dialog of a command.
	Yes, No string
	// Draft is the pattern of the composer with "my draft" in it.
	Draft string
	// NoHooks are the flags for a session that has none of Berth's hooks.
	NoHooks []string

	// AskOne and AskTwo are the model's scenarios with a command that needs permission, and with
	// two, one after the other.
	AskOne, AskTwo string
	// Tool is the model's call that runs a command with permission.
	Tool func(command string) modelapi.Block
	// Work are turns to interrupt, beside a slow one.
	Work []string
	// Errors are the model's scenarios that end a turn in an error, with the class.
	Errors [][2]string
	// Arrives is what the model gets of a message that doesn't arrive as it is. Itself are those of them
	// that the agent changes: Berth types them as they are, and reports them so. Messages are messages
	// that only this agent gets; it may make files for them.
	Arrives  map[string]string
	Itself   map[string]bool
	Messages func(*Lab) []string
	// Commands are commands that look like parts of this agent's dialogs. FILE is the file that
	// they make.
	Commands map[string]string
	// Usage is what the verb last reports of the tokens of a turn.
	Usage string
}

// Scenario is a test that every agent runs.
type Scenario struct {
	Name, What string
	// Without says for an agent why it can't run the scenario.
	Without map[string]string

	flags []string // of the verb new
	run   func(*Lab, *Agent)
}

// Run runs all scenarios. Those that the agent can't run are left out: the table says why.
func (a *Agent) Run(t *testing.T) {
	t.Parallel()
	for _, s := range Scenarios {
		if s.Without[a.Name] != "" {
			continue
		}
		flags := s.flags
		if s.Name == "no-hooks" {
			flags = a.NoHooks
		}
		t.Run(s.Name, func(t *testing.T) { s.run(a.Start(t, flags...), a) })
	}
}

// RunOne runs one scenario with other flags.
func (a *Agent) RunOne(t *testing.T, name string, flags ...string) {
	s := Scenarios[slices.IndexFunc(Scenarios, func(s Scenario) bool { return s.Name == name })]
	s.run(a.Start(t, flags...), a)
}

// Table is the table of the scenarios in docs/agents/scenarios.md.
func Table(agents ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| scenario | what it checks | %s |\n| --- | --- |%s\n", strings.Join(agents, " | "), strings.Repeat(" --- |", len(agents)))
	for _, s := range Scenarios {
		fmt.Fprintf(&b, "| `%s` | %s |", s.Name, s.What)
		for _, a := range agents {
			cell := "yes"
			if why := s.Without[a]; why != "" {
				cell = "no: " + why
			}
			b.WriteString(" " + cell + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// rests waits for the end of a turn, until the agent takes a message.
func (a *Agent) rests(l *Lab) {
	l.T.Helper()
	l.Is("idle")
	if a.Ready != nil {
		a.Ready(l)
	}
}

// asks sends a message and returns the prompt that it leads to, once it can be answered through
// the channel.
func (a *Agent) asks(l *Lab, channel, message string) Shown {
	l.T.Helper()
	// On a busy machine the verdict may come late: the prompt is what counts here.
	if n := l.Nudge(message, "--takeover"); n.Status != 0 && (n.Error == nil || n.Error.Code != "UNCONFIRMED") {
		l.T.Fatalf("%s: %+v %+v", message, n, n.Error)
	}
	return a.answerable(l, channel, "")
}

// answerable waits for a prompt other than the last that can be answered through the channel.
func (a *Agent) answerable(l *Lab, channel, last string) Shown {
	l.T.Helper()
	return l.PromptUntil("answerable by "+channel, func(p Shown) bool {
		return p.ID != last && a.takes(p, channel)
	})
}

// takes says whether an answer to the prompt goes by the channel, at once.
func (a *Agent) takes(p Shown, channel string) bool {
	return p.Channel == channel && (a.HookHides && channel == "hook" || p.Ready && p.OnScreen)
}

// command is the message that has the agent ask whether to run a command.
func (a *Agent) command(words string) string { return "MOCK: " + a.AskOne + " " + words }

// made checks that the file exists if, and only if, it should.
func made(l *Lab, file string, want bool) {
	l.T.Helper()
	if l.Made(file) != want {
		l.T.Fatalf("%s: made is %v", file, !want)
	}
}

// stale checks that the prompt takes no second answer.
func stale(l *Lab, prompt string) {
	l.T.Helper()
	l.Refuses("STALE_PROMPT", "--takeover", "--prompt", prompt, "accept")
}

// follow returns a function that returns the states since now.
func follow(l *Lab) func() string {
	l.T.Helper()
	before := len(l.Events("state_change"))
	return func() string {
		l.T.Helper()
		var all []string
		for _, e := range l.Events("state_change")[before:] {
			all = append(all, e.Next)
		}
		return strings.Join(all, " ")
	}
}
