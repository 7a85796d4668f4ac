package commands

import (
	"context"
	"fmt"
	"io"
	"strings"

	"berth/api"
	"berth/keys"
	"berth/sessions"
)

func infoVerb() *Verb {
	return &Verb{
		Name: "info", Group: "see", Synopsis: "S", Short: "full details of a session, secrets redacted",
		Examples: []Example{
			{"info alpha", "everything that is known of alpha"},
			{"info alpha --json", "as JSON"},
		},
		Need: keys.Viewer, MinArgs: 1, MaxArgs: 1, Answer: sessions.Info{}, Run: info,
	}
}

func info(_ context.Context, c *Call) error {
	s, err := c.session(c.Args[0])
	if err != nil {
		return err
	}
	i := s.Info(c.Identity().IsAdmin())
	return c.answer(i, func(w io.Writer) {
		rows := [][]string{
			{"session", i.Session}, {"id", i.ID}, {"agent", i.Agent}, {"mode", orDash(orEmpty(i.Mode))}, {"state", i.State}, {"command", strings.Join(i.Command, " ")},
			{"cwd", folderWords(i.Cwd, i.Branch, i.ChangedFiles)}, {"user", i.User}, {"pid", fmt.Sprint(i.PID)}, {"size", fmt.Sprintf("%dx%d (%s)", i.Cols, i.Rows, i.SizePolicy)},
			{"restart", i.Restart}, {"tags", orDash(strings.Join(i.Tags, " "))}, {"team", orDash(orEmpty(i.Team))}, {"peers", peersWords(i)}, {"created", i.Created.Format(api.TimeLayout) + " by " + i.CreatedBy},
			{"output", fmt.Sprintf("%d bytes printed, kept from %d", i.TotalWritten, i.OutputFrom)},
		}
		if i.Rules != nil {
			rows = append(rows, []string{"rules", *i.Rules})
		}
		if i.Driven {
			rows = append(rows, agentRows(i)...)
		}
		if v := i.AgentVersion; v != nil {
			said := v.Version
			if v.Note != nil {
				said += ": " + *v.Note
			}
			rows = append(rows, []string{"version", said})
		}
		for _, m := range i.Mismatches {
			rows = append(rows, []string{"mismatch", m.Source + " said " + m.Said + ", " + m.Against + " said " + m.AgainstSaid + ": " + m.Source + " follows the slow rule"})
		}
		if pairs := pairsOf(i.Meta); len(pairs) > 0 {
			rows = append(rows, []string{"meta", strings.Join(pairs, " ")})
		}
		if len(i.Orphans) > 0 {
			rows = append(rows, []string{"orphans", strings.Trim(fmt.Sprint(i.Orphans), "[]") + " (they run on; kill, restart and rm end them)"})
		}
		for _, pair := range pairsOf(i.Env) {
			rows = append(rows, []string{"env", pair})
		}
		table(w, rows)
	})
}

// peersWords are who may send the session messages.
func peersWords(i sessions.Info) string {
	switch {
	case i.Peers != nil:
		return orDash(strings.Join(i.Peers, " "))
	case i.Team != nil:
		return "team " + *i.Team
	}
	return "-"
}

// agentRows are the options that the session's agent was started with.
func agentRows(i sessions.Info) [][]string {
	may := []string{}
	if i.Trust {
		may = append(may, "trust")
	}
	if i.AcceptBypass {
		may = append(may, "accept_bypass")
	}
	conversation := orDash(i.Conversation)
	if i.Resumable {
		conversation += " (resumable)"
	}
	rows := [][]string{
		{"isolate", i.Isolate}, {"groom", i.Groom}, {"after limit", orDash(orEmpty(i.AfterLimit))}, {"auto-accepts", orDash(strings.Join(may, " "))},
		{"settings", orDash(strings.Join(i.Settings, " "))}, {"mcp", orDash(strings.Join(i.MCP, " "))}, {"conversation", conversation},
	}
	if i.Fork != nil {
		rows = append(rows, []string{"forked from", i.Fork.Conversation + " of " + i.Fork.ID})
	}
	return rows
}

func whoVerb() *Verb {
	return &Verb{
		Name: "who", Group: "see", Synopsis: "[S]", Short: "who is attached, and who has control",
		Examples: []Example{
			{"who", "who is attached to which session"},
			{"who alpha", "to alpha"},
		},
		Need: keys.Viewer, MaxArgs: 1, Answer: []sessions.Attached{}, Run: who,
	}
}

func who(ctx context.Context, c *Call) error {
	list, err := c.targets(c.Args, orAll)
	if err != nil {
		return err
	}
	here := []sessions.Attached{}
	for _, s := range list {
		some, err := s.Who(ctx)
		if err != nil {
			return err
		}
		here = append(here, some...)
	}
	return c.answer(here, func(w io.Writer) {
		if len(here) == 0 {
			fmt.Fprintln(w, "no client is attached")
			return
		}
		rows := [][]string{{"SESSION", "CLIENT", "WHO", "FROM", "WINDOW", "WRITES", "SINCE"}}
		for _, a := range here {
			writes := "-"
			if a.Writer {
				writes = "yes"
			}
			rows = append(rows, []string{a.Session, a.Client, a.Identity, a.Source, fmt.Sprintf("%dx%d", a.Cols, a.Rows), writes, ago(c.Now(), a.Since.Time)})
		}
		table(w, rows)
	})
}

func exportVerb() *Verb {
	return &Verb{
		Name: "export", Group: "keep", Synopsis: "S --cast", Short: "the stored output as an asciicast v2 recording",
		Examples: []Example{
			{"export alpha --cast", "a recording that asciinema plays"},
		},
		Need: keys.Viewer, MinArgs: 1, MaxArgs: 1, Run: export, Flags: exportFlags,
	}
}

func attachVerb() *Verb {
	return &Verb{
		Name: "attach", Group: "stay", Synopsis: "S [--read-only]", Short: "share a session's terminal (with ssh -t); Ctrl-] ? lists the keys",
		Examples: []Example{
			{"attach alpha", "share its terminal; Ctrl-] d leaves"},
			{"attach alpha --read-only", "look, and type nothing"},
		},
		Need: keys.Viewer, MinArgs: 1, MaxArgs: 1, Flags: attachFlags,
		Run: func(context.Context, *Call) error {
			return api.Errorf(api.CodeBadRequest, "attach needs a terminal of its own: run it with ssh -t")
		},
	}
}
