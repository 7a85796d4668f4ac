package generic

import (
	"strconv"
	"strings"

	"berth/agent"
	"berth/terminal"
)

// Numbers of sequences that any program may send.
const (
	oscNotify = 9   // 9;4 reports progress
	oscShell  = 133 // a shell's marks around its prompt and a command
)

// interruptStatus is the status of a command that Ctrl-C ended.
const interruptStatus = 130

// OSC reads a shell's marks (133), the state sequence (7501) and progress (9;4). Any other sequence
// is evidence only.
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

// shellMark reads a shell's mark: A and B are around the prompt, C is before a command's output,
// and D;STATUS is after it. A shell repeats D before a prompt even if no command ran.
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

// progress reads "ST;PERCENT": ST is 0 for no progress bar, 1 for a percentage, 2 for failed, 3 for
// indeterminate, 4 for paused. In a shell it is evidence only: the foreground process shows whether
// a command runs, and a command that removed its progress bar may continue.
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

// works returns the facts of a turn's start.
func works(f agent.Fact) []agent.Fact {
	turn := f
	turn.Kind = agent.TurnStarted
	f.Kind, f.Level = agent.LevelIs, agent.LevelBusy
	return []agent.Fact{turn, f}
}

// ends returns the facts of a turn's end.
func ends(f agent.Fact, how agent.How, why string) []agent.Fact {
	end := f
	end.Kind, end.How = agent.TurnEnded, how
	if how == agent.Failed {
		end.Failure = &agent.Failure{Class: agent.OtherFailure, Text: why}
	}
	f.Kind, f.Level = agent.LevelIs, agent.LevelNotBusy
	return []agent.Fact{end, f}
}

// shown is a program's text without control characters. Berth shows the text of an unknown program
// to people, so nothing in it may control their terminals.
func shown(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = terminal.Printable(lines[i])
	}
	return strings.Join(lines, "\n")
}

// evidenceLimit bounds the evidence from one report, in bytes.
const evidenceLimit = 1024

// firstLine is the text's first line, at most evidenceLimit bytes of it.
func firstLine(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	if len(text) > evidenceLimit {
		text = strings.ToValidUTF8(text[:evidenceLimit], "")
	}
	return text
}
