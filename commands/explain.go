package commands

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"berth/keys"
	"berth/sessions"
)

func explainVerb() *Verb {
	return &Verb{
		Name: "explain", Group: "see", Synopsis: "S [--at SEQ]", Short: "why a session shows its state, and what would change it",
		Examples: []Example{
			{"explain alpha", "why alpha shows its state"},
			{"explain alpha --at 2", "why it showed the state of its event 2"},
		},
		Need: keys.Viewer, MinArgs: 1, MaxArgs: 1, Answer: sessions.Explanation{}, Run: explain,
		Flags: func(f *pflag.FlagSet) {
			f.Uint64("at", 0, "why the state changed with this event of the session (seq of a state_change)")
		},
	}
}

func explain(ctx context.Context, c *Call) error {
	s, err := c.session(c.Args[0])
	if err != nil {
		return err
	}
	var e sessions.Explanation
	if c.flags.Changed("at") {
		seq, _ := c.flags.GetUint64("at")
		e, err = s.ExplainAt(ctx, seq)
	} else {
		e, err = s.Explain(ctx)
	}
	if err != nil {
		return err
	}
	return c.answer(e, func(w io.Writer) {
		if e.At != nil {
			writePastChange(w, e)
			return
		}
		writeExplanation(w, e, c.Now())
	})
}

func writeExplanation(w io.Writer, e sessions.Explanation, now time.Time) {
	fmt.Fprintf(w, "%s: %s for %s", e.Session, e.State, ago(now, e.Since.Time))
	if e.Seq > 0 {
		fmt.Fprintf(w, ", since event %d", e.Seq)
	}
	fmt.Fprintf(w, "\n  because of %s\n", because(e))
	writeSubject(w, e)
	if t := e.Turn; t != nil {
		fmt.Fprintf(w, "  turn: %s, started %s ago (%s)", t.Phase, ago(now, t.Started.Time), t.Source)
		if t.How != "" {
			fmt.Fprintf(w, "; reported as %s, but a source still says busy", t.How)
		}
		fmt.Fprintln(w)
	}
	for _, a := range e.Asked {
		fmt.Fprintf(w, "  asked: %s %s %s: %s\n", a.Type, orDash(valueOf(a.Tool)), a.Prompt, witnesses(a))
	}
	for _, call := range e.Calls {
		fmt.Fprintf(w, "  still running: %s %s\n", call.Tool, call.Subagent)
	}
	if len(e.Subagents) > 0 {
		fmt.Fprintf(w, "  in the background after the turn: %s\n", strings.Join(e.Subagents, " "))
	}
	writeSources(w, e)
	for _, r := range e.Rules {
		if m := r.Mismatch; m != nil {
			fmt.Fprintf(w, "  slow rule for %s: it said %s, and %s said %s\n", r.Source, m.Said, m.Against, m.AgainstSaid)
		}
	}
	if len(e.Pending) > 0 {
		fmt.Fprintln(w, "\nabout to change")
		for _, p := range e.Pending {
			fmt.Fprintf(w, "  %s by %s in %s, if nothing changes\n", p.Move, p.Source, span(p.RemainingMS))
		}
	}
	if len(e.Ways) > 0 {
		fmt.Fprintln(w, "\nwhat would change it")
		for _, way := range e.Ways {
			fmt.Fprintf(w, "  %s, to %s: %s\n", way.Move, way.Next, byWhom(way.By))
		}
	}
}

func writePastChange(w io.Writer, e sessions.Explanation) {
	fmt.Fprintf(w, "%s: %s -> %s at %s, event %d\n", e.Session, *e.Prev, e.State, e.Since.Local().Format("2006-01-02 15:04:05.000"), e.Seq)
	fmt.Fprintf(w, "  because of %s\n", because(e))
	writeSubject(w, e)
	if !e.SourcesKept {
		fmt.Fprintln(w, "\nThe sources' readings at this change are no longer kept.")
		return
	}
	writeSources(w, e)
}

// because is the evidence for the state.
func because(e sessions.Explanation) string {
	text := fmt.Sprintf("%s (tier %d)", e.Cause, e.Tier)
	if e.Evidence != "" {
		text += ": " + oneLine(e.Evidence)
	}
	return text
}

// writeSubject writes what the agent asks or does, or its error.
func writeSubject(w io.Writer, e sessions.Explanation) {
	switch {
	case e.Failure != nil:
		fmt.Fprintf(w, "  error: %s, %s\n", e.Failure.Class, oneLine(e.Failure.Text))
	case e.Activity != nil:
		fmt.Fprintf(w, "  activity: %s %s", e.Activity.Kind, e.Activity.Tool)
		if e.Activity.Attempt > 0 {
			fmt.Fprintf(w, "attempt %d of %d", e.Activity.Attempt, e.Activity.Of)
		}
		fmt.Fprintln(w)
	case e.At != nil && e.Prompt != nil:
		fmt.Fprintf(w, "  prompt: %s %s %s\n", e.Prompt.Type, orDash(valueOf(e.Prompt.Tool)), e.Prompt.ID)
	}
	if left := e.IdleGraceRemainingMS; left != nil {
		fmt.Fprintf(w, "  will show as idle in %s, unless a source reports otherwise\n", span(*left))
	}
}

// witnesses lists what reported a prompt, and how it can be answered.
func witnesses(a sessions.Asking) string {
	list := []string{fmt.Sprintf("opened by %s (tier %d)", a.Cause, a.Tier)}
	switch {
	case a.OnScreen:
		list = append(list, "on the screen")
	case a.Seen:
		list = append(list, "was on the screen")
	default:
		list = append(list, "not seen on the screen")
	}
	if !a.Told {
		list = append(list, "not reported by the agent itself")
	}
	if a.HookWaits {
		list = append(list, "a hook waits for the answer")
	}
	return strings.Join(list, ", ")
}

func writeSources(w io.Writer, e sessions.Explanation) {
	fmt.Fprintln(w, "\nevidence, most reliable first")
	var rows [][]string
	for _, s := range e.Sources {
		said := s.Cause
		if s.Foreign {
			said += " (of another conversation)"
		}
		rows = append(rows, []string{"  " + s.Source, fmt.Sprintf("tier %d", s.Tier), span(s.AgeMS) + " ago", said, oneLine(s.Evidence)})
	}
	if len(rows) == 0 {
		fmt.Fprintln(w, "  no source has reported")
	}
	table(w, rows)
}

func byWhom(list []sessions.ByWho) string {
	var words []string
	for _, by := range list {
		word := by.Source
		if by.AfterMS > 0 {
			word += " for " + span(by.AfterMS)
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

// span is a short time in words.
func span(ms int64) string {
	if ms < 10_000 {
		return fmt.Sprintf("%.1fs", float64(ms)/1000)
	}
	return ago(time.UnixMilli(ms), time.UnixMilli(0))
}

func oneLine(s string) string { return strings.ReplaceAll(s, "\n", " ") }

// valueOf is the value of a field that may be null.
func valueOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
