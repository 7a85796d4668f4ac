package commands

import (
	"context"
	"fmt"
	"io"

	"berth/api"
	"berth/keys"
)

func stateVerb() *Verb {
	return &Verb{
		Name: "state", Group: "see", Synopsis: "TARGET...", Short: "show what a session is doing, and the evidence",
		Examples: []Example{
			{"state alpha", "what alpha is doing"},
			{"state all --json", "every session, one JSON object a line"},
			{"state tag:web", "those with a tag"},
		},
		Need: keys.Viewer, MinArgs: 1, MaxArgs: -1, Targets: true, Answer: api.State{}, Run: state,
	}
}

func state(_ context.Context, c *Call) error {
	list, err := c.targets(c.Args, needsOne)
	if err != nil {
		return err
	}
	for _, s := range list {
		st := s.Status().State(c.Now())
		err := c.answer(st, func(w io.Writer) {
			fmt.Fprintf(w, "%s: %s for %s (tier %d, %s)\n", st.Session, st.State, ago(c.Now(), st.Since.Time), st.Tier, st.Cause)
			if st.Mode != nil {
				fmt.Fprintf(w, "  mode: %s\n", *st.Mode)
			}
			if st.ResumeAt != nil {
				fmt.Fprintf(w, "  until: %s (%s)\n", st.ResumeAt.Format(api.TimeLayout), inList(st.Failure.Text))
			}
			if st.Foreground != "" {
				fmt.Fprintf(w, "  foreground: %s\n", st.Foreground)
			}
			fmt.Fprintf(w, "  folder: %s\n", folderWords(st.Cwd, st.Branch, st.ChangedFiles))
			if st.Exit != nil {
				fmt.Fprintf(w, "  exit: %s\n", st.Exit)
			}
			if st.Writer != nil {
				fmt.Fprintf(w, "  writer: %s (%s)\n", st.Writer.Identity, st.Writer.Client)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// folderWords is a folder with what git says of it.
func folderWords(dir string, branch *string, changed *int) string {
	if changed == nil {
		return orDash(dir)
	}
	return dir + " " + branchWords(branch, changed)
}

// branchWords is a branch and the number of changed files, such as main ✎3.
func branchWords(branch *string, changed *int) string {
	switch {
	case changed == nil:
		return "-"
	case branch == nil:
		return fmt.Sprintf("(detached) ✎%d", *changed)
	case *changed == 0:
		return *branch
	}
	return fmt.Sprintf("%s ✎%d", *branch, *changed)
}
