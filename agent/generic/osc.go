package generic

import (
	"strconv"
	"strings"

	"berth/agent"
	"berth/terminal"
)

// Numbers of sequences that any program may send.
const (
	oscNotify = 9   // with 4; before it: progress
	oscShell  = 133 // a shell's marks around its prompt and a command
)

// interruptStatus is the status of a command that Ctrl-C ended.
const interruptStatus = 130

// OSC reads a shell's marks (133), the state sequence (7501) and progress (9;4).
// Anything else is evidence.
func (d Driver) OSC(number int, payload string) []agent.Fact {
	f := agent.Fact{Kind: agent.Noted, Source: agent.SourceOSC, Cause: "osc:" + strconv.Itoa(number), Evidence: firstLine(payload)}
	switch rest, progress := strings.CutPrefix(payload, "4;"); {
	case number == oscShell:
		return shellMark(f, payload)
	case number == agent.StateOSC:
		return stateWord(f, agent.ReadStateWord(payload))
	case number == oscNotify && progress:
		return d.progress(f, rest)
	}
	return []agent.Fact{f}
}

// shellMark: A and B stand around the prompt, C before a command's output and
// D;STATUS behind it. A shell repeats D before a prompt though no command ran.
func shellMark(f agent.Fact, payload string) []agent.Fact {
	mark, rest, _ := strings.Cut(payload, ";")
	f.Cause = "osc:133:" + firstLine(mark)
	switch mark {
	case "A", "B":
		f.Kind, f.Level = agent.LevelIs, agent.LevelIdle
		return []agent.Fact{f}
	case "C":
		return works(f)
	case "D":
		status, _, _ := strings.Cut(rest, ";")
		n, err := strconv.Atoi(status)
		switch {
		case err != nil || n == 0:
			return ends(f, agent.Completed, "")
		case n == interruptStatus:
			return ends(f, agent.Interrupted, "")
		}
		failed := f
		failed.Kind = agent.FailureSeen // of a command, if one ran
		failed.Failure = &agent.Failure{Class: agent.OtherFailure, Text: "exit status " + strconv.Itoa(n)}
		return append([]agent.Fact{failed}, ends(f, agent.Completed, "")...)
	}
	return []agent.Fact{f}
}

func stateWord(f agent.Fact, w agent.StateWord) []agent.Fact {
	f.Cause = "osc:7501:" + firstLine(w.State)
	switch w.State {
	case "working":
		return works(f)
	case "idle":
		f.Kind, f.Level = agent.LevelIs, agent.LevelIdle
	case "blocked":
		f.Kind, f.Level, f.Text = agent.LevelIs, agent.LevelWaiting, w.Kind
	case "done":
		return ends(f, agent.Completed, "")
	case "error":
		return ends(f, agent.Failed, "")
	case "clear":
		f.Kind, f.Level = agent.LevelIs, agent.LevelUnknown
	}
	return []agent.Fact{f}
}

// progress: "ST;PERCENT" with ST 0 gone, 1 so far, 2 failed, 3 going on, 4 held
// up. In a shell it is evidence alone: that a command runs is known, and a
// command that has taken its bar away may go on.
func (d Driver) progress(f agent.Fact, payload string) []agent.Fact {
	st, _, _ := strings.Cut(payload, ";")
	f.Source, f.Cause = agent.SourceProgress, "osc:9;4;"+firstLine(st)
	if d.shell {
		return []agent.Fact{f}
	}
	switch st {
	case "0":
		f.Kind, f.Level = agent.LevelIs, agent.LevelIdle
	case "1", "3", "4":
		f.Kind, f.Level = agent.LevelIs, agent.LevelBusy
	case "2":
		return ends(f, agent.Failed, "its progress says that it failed")
	}
	return []agent.Fact{f}
}

// works: a turn begins.
func works(f agent.Fact) []agent.Fact {
	turn := f
	turn.Kind = agent.TurnStarted
	f.Kind, f.Level = agent.LevelIs, agent.LevelBusy
	return []agent.Fact{turn, f}
}

// ends: the turn is over, and so is the work.
func ends(f agent.Fact, how agent.How, why string) []agent.Fact {
	end := f
	end.Kind, end.How = agent.TurnEnded, how
	if how == agent.Failed {
		end.Failure = &agent.Failure{Class: agent.OtherFailure, Text: why}
	}
	f.Kind, f.Level = agent.LevelIs, agent.LevelNotBusy
	return []agent.Fact{end, f}
}

// shown is what a program says without what would move or fool a terminal: in
// programs of which nothing is known, words are words and nothing else.
func shown(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = terminal.Printable(lines[i])
	}
	return strings.Join(lines, "\n")
}

// evidenceLimit bounds what is kept of what a program says, in bytes.
const evidenceLimit = 1024

// firstLine is the first line of what a program says, and not much of it.
func firstLine(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	if len(text) > evidenceLimit {
		text = strings.ToValidUTF8(text[:evidenceLimit], "")
	}
	return text
}
