package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"berth/api"
	"berth/audit"
	"berth/keys"
	"berth/terminal"
)

func auditVerb() *Verb {
	return &Verb{
		Name: "audit", Group: "access", Synopsis: "[--since TIME|AGE] [--identity PATTERN] [--session S] | verify [--head N:HASH]...",
		Short: "who logged in and who did what; verify finds lines that were changed or removed",
		Examples: []Example{
			{"audit --since 1h", "who did what in the last hour"},
			{"audit --session alpha --since 1h", "with alpha"},
			{"audit verify", "were lines changed or removed?"},
		},
		Need: keys.Admin, MaxArgs: 1, Parts: []string{"verify"}, Answer: audit.Entry{}, Run: runAudit,
		Others: map[string]any{"verify": AuditVerified{}},
		Flags: func(f *pflag.FlagSet) {
			f.String("since", "", "from this time on (2026-11-21T09:00:00Z), or from this age on (90m, 7d)")
			f.String("identity", "", "only callers whose name or key matches, such as 'agent:*'")
			f.String("session", "", "only entries about this session, by its id or by a name that it had")
			f.StringSlice("head", nil, "a head that you kept from the server's log or from verify (repeatable)")
		},
	}
}

func runAudit(ctx context.Context, c *Call) error {
	switch {
	case len(c.Args) == 0 && !c.flags.Changed("head"):
		return c.listAudit(ctx)
	case len(c.Args) == 1 && c.Args[0] == "verify" && !c.flags.Changed("since") && !c.flags.Changed("identity") && !c.flags.Changed("session"):
		return c.verifyAudit(ctx)
	}
	return Lookup("audit").usage(fmt.Errorf("use audit with --since, --identity and --session, or audit verify with --head"))
}

func (c *Call) listAudit(ctx context.Context) error {
	q, err := c.auditQuery()
	if err != nil {
		return err
	}
	return c.Audit.Read(ctx, q, func(line []byte) error {
		if c.JSON {
			_, err := c.Out.Write(c.lines(append(line, '\n')))
			return err
		}
		var e audit.Entry
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("read a line of the audit log: %w", err)
		}
		_, err := c.Out.Write(c.lines([]byte(terminal.Printable(auditText(e)) + "\n")))
		return err
	})
}

func (c *Call) auditQuery() (q audit.Query, err error) {
	since, _ := c.flags.GetString("since")
	if q.Since, err = moment(since, c.Now()); err != nil {
		return q, Lookup("audit").usage(err)
	}
	if pattern, _ := c.flags.GetString("identity"); pattern != "" {
		if _, err := path.Match(pattern, ""); err != nil {
			return q, Lookup("audit").usage(fmt.Errorf("--identity %s: %w", api.Quote(pattern), err))
		}
		q.Identity = func(e audit.Entry) bool {
			name, _ := path.Match(pattern, e.Identity)
			key, _ := path.Match(pattern, e.Fingerprint)
			return name || key
		}
	}
	if word, _ := c.flags.GetString("session"); word != "" {
		// A line of a verb with several targets lists all their names.
		q.Session = func(names, id string) bool {
			return word == id || slices.Contains(strings.FieldsFunc(names, func(r rune) bool { return r == ' ' || r == ',' }), word)
		}
	}
	return q, nil
}

// moment reads a time, or an age before now.
func moment(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t, nil
	}
	d, err := age(s)
	if err != nil || d < 0 {
		return time.Time{}, fmt.Errorf("--since %s: write a time such as 2026-11-21T09:00:00Z, or an age such as 90m or 7d", api.Quote(s))
	}
	return now.Add(-d), nil
}

// age reads a length of time, also in days.
func age(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	return time.ParseDuration(s)
}

// auditText is a line for people.
func auditText(e audit.Entry) string {
	words := []string{e.Time.UTC().Format(api.TimeLayout), fmt.Sprint(e.N), string(e.Kind)}
	add := func(format, value string) {
		if value != "" {
			words = append(words, fmt.Sprintf(format, value))
		}
	}
	add("%s", e.Identity)
	add("user %s", e.User)
	add("from %s", e.Source)
	add("%s", e.Verb)
	add("%s", e.Session)
	if e.Status != nil {
		words = append(words, fmt.Sprintf("status %d", *e.Status))
	}
	add("%s", e.Code)
	add("key %s", e.Fingerprint)
	add("offered %s", strings.Join(e.Offered, " "))
	if e.Of > 0 {
		words = append(words, fmt.Sprintf("(of line %d)", e.Of))
	}
	add("%s", string(e.Event))
	add("%s", e.Text)
	return strings.Join(words, " ")
}

// AuditVerified is the answer of audit verify.
type AuditVerified struct {
	OK bool `json:"ok"`
	audit.Report
}

func (c *Call) verifyAudit(ctx context.Context) error {
	var kept []audit.Head
	list, _ := c.flags.GetStringSlice("head")
	for _, s := range list {
		h, err := audit.ParseHead(s)
		if err != nil {
			return Lookup("audit").usage(fmt.Errorf("--head: %w", err))
		}
		kept = append(kept, h)
	}
	r, err := c.Audit.Verify(ctx, kept)
	if err != nil {
		return err
	}
	err = c.answer(AuditVerified{r.Problem == nil, r}, func(w io.Writer) {
		if r.Problem == nil {
			fmt.Fprintf(w, "lines %d to %d are unchanged; %d signed heads, the last one for line %d\nhead %d:%s\n", r.First, r.Last, r.Heads, r.Signed, r.Last, r.Hash)
			return
		}
		fmt.Fprintf(w, "%d problems, the first: %s\n", r.Problems, r.Problem)
	})
	if err == nil && r.Problem != nil {
		return statusError(api.CodeInternal.Status())
	}
	return err
}
