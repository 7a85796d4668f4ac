package commands

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/spf13/pflag"

	"berth/agent"
	"berth/api"
	"berth/keys"
	"berth/sessions"
)

func lsVerb() *Verb {
	return &Verb{
		Name: "ls", Group: "see", Synopsis: "[TARGET...] [--state STATE,..] [--tree]", Short: "list sessions",
		Examples: []Example{
			{"ls", "all sessions that you may see"},
			{"ls tag:web --state prompt,error,parked", "those with a tag that need a person"},
			{"ls -q", "their names alone"},
			{`ls --format "'{{.session}} {{.state}}'"`, "a line of your own for each"},
			{`ls --jq "'.[] | select(.cols > 80) | .session'"`, "the same with jq"},
		},
		Need: keys.Viewer, MaxArgs: -1, Targets: true, Answer: []api.Session{}, Run: ls,
		Flags: func(f *pflag.FlagSet) { f.StringSlice("state", nil, "only sessions in one of these states") },
	}
}

func ls(_ context.Context, c *Call) error {
	if err := c.checkNamed(c.given); err != nil {
		return err
	}
	away := c.awayRows(c.given)
	list, err := c.targets(c.Args, orAll)
	if err != nil && len(away) == 0 {
		return err
	}
	states, err := c.statesOf("state")
	if err != nil {
		return err
	}
	rows := make([]api.Session, 0, len(list)+len(away))
	for _, s := range list {
		rows = append(rows, c.withHost(s.Status().Row()))
	}
	rows = slices.DeleteFunc(append(rows, away...), func(r api.Session) bool { return states != nil && !states[agent.State(r.State)] })
	return c.answer(rows, func(w io.Writer) {
		if len(rows) == 0 && states != nil {
			fmt.Fprintln(w, "no session is in such a state")
			return
		}
		if len(rows) == 0 {
			fmt.Fprintln(w, "no sessions; start one with: new NAME")
			return
		}
		lines := [][]string{{"NAME", "STATE", "SINCE", "AGENT", "MODE", "SIZE", "WRITER", "VIEWERS", "TAGS", "BRANCH", "FOLDER", "TITLE"}}
		below := map[string]int{} // generations below a listed session, by id
		for _, r := range rows {
			writer := "-"
			if r.Writer != nil {
				writer = r.Writer.Identity
			}
			name := r.Session
			if depth, listed := below[orEmpty(r.Parent)]; listed && c.tree() {
				below[r.ID] = depth + 1
				name = strings.Repeat("  ", depth+1) + name
			} else {
				below[r.ID] = 0
			}
			state, since := r.State, r.Since
			if r.LastSeen != nil {
				state, since = "unreachable", *r.LastSeen
			}
			lines = append(lines, []string{name, state, ago(c.Now(), since.Time), r.Agent, orDash(orEmpty(r.Mode)),
				fmt.Sprintf("%dx%d", r.Cols, r.Rows), writer, fmt.Sprint(r.Viewers), orDash(strings.Join(r.Tags, ",")), branchWords(r.Branch, r.ChangedFiles), orDash(r.Cwd), r.Title})
		}
		table(w, lines)
	})
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// orEmpty is a text; empty for none.
func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func waitingVerb() *Verb {
	return &Verb{
		Name: "waiting", Group: "see", Short: "list the sessions that wait for a person, longest wait first",
		Examples: []Example{
			{"waiting", "who waits for an answer, and how to answer"},
			{"waiting --json", "the same as JSON"},
		},
		Need: keys.Viewer, Answer: []api.Session{}, Run: waiting,
	}
}

func waiting(_ context.Context, c *Call) error {
	list, err := c.targets(nil, orAll)
	if err != nil {
		return err
	}
	rows := c.waitingRows(list)
	return c.answer(rows, func(w io.Writer) {
		if len(rows) == 0 {
			fmt.Fprintln(w, "no session is waiting")
			return
		}
		lines := [][]string{{"NAME", "STATE", "SINCE", "AGENT", "ASKS", "ANSWER WITH"}}
		for _, r := range rows {
			what, answer := "-", "-"
			if p := agent.RequestOf(r.Prompt); p != nil {
				what, answer = inWaiting(r.Session, p)
			}
			if r.Failure != nil {
				what = inList(strings.Join([]string{strings.ReplaceAll(r.Failure.Class, "_", " "), r.Failure.Text}, " "))
			}
			lines = append(lines, []string{r.Session, r.State, ago(c.Now(), r.Since.Time), r.Agent, what, answer})
		}
		table(w, lines)
	})
}

// withHost names a row's host, at a fleet's gateway.
func (c *Call) withHost(row api.Session) api.Session {
	if c.Fleet.Known != nil && c.Identity().Kind != keys.KindAgent {
		own := c.Fleet.name()
		row.Session, row.Host = own+"/"+row.Session, &own
	}
	return row
}

// waitingRows are the sessions that wait for a person, here and on the fleet's other hosts.
func (c *Call) waitingRows(list []*sessions.Session) []api.Session {
	rows := sessions.Waiting(list)
	for i := range rows {
		rows[i] = c.withHost(rows[i])
	}
	for _, r := range c.awayRows(nil) {
		if s := agent.State(r.State); s == agent.Prompt || s == agent.InError || s == agent.Parked {
			rows = append(rows, r)
		}
	}
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].Since.Before(rows[j].Since.Time) })
	return rows
}

// inWaiting is a prompt as the list shows it, and how to answer it. A prompt that isn't shown whole has to be read first.
func inWaiting(session string, p *agent.Request) (what, answer string) {
	what, answer = asksFor(p), answerWith(session, p)
	if p.Channel != agent.ChannelNone && p.Type != agent.PromptNotice && !p.ShownIn(what) {
		answer = toRead(session, p)
	}
	return what, answer
}

// asksFor is what a prompt asks, on one line.
func asksFor(p *agent.Request) string {
	kind := string(p.Type)
	if p.Subtype != nil {
		kind += " " + *p.Subtype
	}
	return inList(kind + " " + InLine(strings.TrimSpace(p.About())))
}

// inList is a text as a cell of a list shows it.
func inList(text string) string {
	line := []rune(strings.Join(strings.Fields(text), " "))
	if len(line) > asksMost {
		line = append(line[:asksMost-1], '…')
	}
	return string(line)
}

// asksMost is how many characters of a question a line of a list shows.
const asksMost = 60
