// Package commands has one file a verb: arguments in, JSON or text out. It
// knows no SSH: a verb gets a context, an identity, streams and the service
// it acts on.
package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sort"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"berth/api"
	"berth/audit"
	"berth/commands/words"
	"berth/keys"
	"berth/sessions"
	"berth/terminal"
)

// Service is what the verbs act on.
type Service struct {
	Sessions *sessions.Registry
	Specs    func() *Specs // what new starts from, now
	Version  string
	Started  time.Time
	Now      func() time.Time
	Log      *slog.Logger
	// Edge gives what the SSH edge knows of itself, for health.
	Edge func() map[string]any
	// MaxInput bounds what one call reads from standard input, in bytes.
	MaxInput int64
	// Keys is who may log in.
	Keys *keys.Store
	// Audit is where it is written down who does what.
	Audit *audit.Log

	matchers matchers
}

// Request is one call of a verb as the edge hands it in.
type Request struct {
	Identity func() keys.Identity // the rights as they are now
	Client   string               // the caller's id, such as c12
	Line     string               // the command as it arrived
	Terminal bool                 // a PTY was asked for: text for people
	In       io.Reader
	Out, Err io.Writer
}

// Call is a Request with its words taken apart.
type Call struct {
	*Service
	Request
	JSON    bool     // the answer is JSON
	Args    []string // words that are no options
	Tail    string   // of verbs that have one
	HasTail bool     // there is a tail, even if it is empty
	Stdin   bool     // the tail is a lone -
	flags   *pflag.FlagSet
}

// Verb is one command.
type Verb struct {
	Name     string
	Group    string // see, follow, drive, keep, talk, access, stay
	Synopsis string // without the name
	Short    string
	Need     keys.Role
	Parts    []string                 // first words that say what of it is wanted, as access ls
	Changes  func(args []string) bool // whether it does more than look, of a verb whose group only looks; nil: never
	Tail     bool                     // it ends in free text, taken as it stands
	Argv     string                   // the option that a command line follows in place of the text
	Lead     int                      // words between the session and the text
	// NoSession: the line names no session; its first words are the lead's.
	NoSession bool
	MinArgs   int
	MaxArgs   int  // -1: no limit
	Targets   bool // each word names sessions
	TextOnly  bool
	Prose     bool // text unless --json asks for more
	Flags     func(*pflag.FlagSet)
	Rewrite   func(words []string) []string // puts words into the form that flags are parsed from
	Answer    any                           // a value whose JSON Schema describes the answer; nil: none
	Run       func(context.Context, *Call) error
}

// statusError ends a verb with a status that is no failure, such as 20 of wait.
type statusError int

func (s statusError) Error() string { return fmt.Sprintf("status %d", int(s)) }

// verbs is filled by all, once: a table built at first use costs nothing to
// the processes (hold, hook) that never look at it.
func verbs() []*Verb {
	return []*Verb{
		lsVerb(), stateVerb(), waitingVerb(), explainVerb(), promptVerb(), screenVerb(), outputVerb(), lastVerb(), queueVerb(), infoVerb(), whoVerb(), healthVerb(),
		versionVerb(), whoamiVerb(), schemaVerb(), helpVerb(),
		watchVerb(), waitVerb(),
		nudgeVerb(), askVerb(), interruptVerb(), respondVerb(),
		inputVerb(), keysVerb(), resizeVerb(), signalVerb(), lockVerb(), unlockVerb(),
		newVerb(), forkVerb(), killVerb(), restartVerb(), renameVerb(), rmVerb(), tagVerb(), metaVerb(), exportVerb(),
		gateVerb(), startContextVerb(), reportVerb(), transcriptVerb(),
		accessVerb(), guestVerb(), auditVerb(),
		attachVerb(),
	}
}

// Lookup finds a verb by its exact name; nil if there is none.
func Lookup(name string) *Verb {
	for _, v := range verbs() {
		if v.Name == name {
			return v
		}
	}
	return nil
}

// Names lists all verbs.
func Names() []string {
	var names []string
	for _, v := range verbs() {
		names = append(names, v.Name)
	}
	sort.Strings(names)
	return names
}

// Run performs one request and returns its exit status. Everything the caller
// should know has then been written.
func (s *Service) Run(ctx context.Context, r Request) int {
	c := &Call{Service: s, Request: r, JSON: !r.Terminal}
	verb, err := c.parse()
	if err == nil {
		err = c.allowed(verb)
	}
	if err == nil {
		err = c.recorded(verb, func() error { return verb.Run(ctx, c) })
	}
	return c.finish(ctx, err)
}

// finish writes a failure in the form the caller asked for.
func (c *Call) finish(ctx context.Context, err error) int {
	var status statusError
	switch {
	case err == nil:
		return api.StatusDone
	case errors.As(err, &status):
		return int(status)
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return api.CodeInternal.Status() // nobody is there to read more
	}
	shown := api.AsError(err)
	if shown.Code == api.CodeDenied {
		c.refused(shown)
	}
	if shown.Code == api.CodeInternal {
		c.Log.Error("verb failed", "line", c.verbName(), "identity", c.Identity().Name, "error", err)
	}
	if c.JSON {
		c.printJSON(map[string]any{"error": shown})
	}
	c.warn(shown.Message)
	return shown.Code.Status()
}

// warn tells people on the error stream.
func (c *Call) warn(message string) {
	_, _ = c.Err.Write(c.lines([]byte("berth: " + terminal.Printable(message) + "\n"))) // nobody is left to tell of a failure
}

// verbName is the verb of the line, for the log and for events: later words may
// be somebody's text.
func (c *Call) verbName() string { return VerbOf(c.Line) }

// VerbOf reads which verb a line asks for, without parsing the rest; empty if
// none can be read.
func VerbOf(line string) string {
	name, err := words.Verb(line)
	if err != nil {
		return ""
	}
	return name
}

// parse takes the line apart by the form of its verb.
func (c *Call) parse() (*Verb, error) {
	name, err := words.Verb(c.Line)
	c.wantsText(name)
	if err != nil {
		return nil, api.Errorf(api.CodeUsage, "%w", err)
	}
	if name == "" {
		return nil, api.Errorf(api.CodeUsage, "no verb given: help lists the verbs")
	}
	verb := Lookup(name)
	if verb == nil {
		return nil, unknownVerb(name)
	}
	c.flags = newFlags(verb)
	if verb.Tail {
		err = c.parseTail(verb)
	} else {
		err = c.parseWords(verb)
	}
	if errors.Is(err, pflag.ErrHelp) {
		return c.helpFor(verb), nil
	}
	if err == nil {
		err = c.refuseEmpty(verb)
	}
	if err != nil {
		return nil, err
	}
	return verb, c.chooseForm(verb)
}

// helpFor answers VERB --help as help VERB does.
func (c *Call) helpFor(verb *Verb) *Verb {
	c.JSON = false
	return &Verb{Name: "help", Need: keys.Viewer, Run: func(context.Context, *Call) error { return c.helpOn(verb.Name) }}
}

// wantsText looks for --json and --text before anything else is understood, so
// that a usage error too comes in the form that was asked for.
func (c *Call) wantsText(name string) {
	list, err := words.Words(c.Line)
	if err != nil {
		list = strings.Fields(c.Line)
	}
	takesText := false // --text has a meaning of its own
	if verb := Lookup(name); verb != nil {
		takesText = newFlags(verb).Lookup("text").Value.Type() != "bool"
	}
	for _, word := range list {
		switch {
		case word == "--json":
			c.JSON = true
		case word == "--text" && !takesText:
			c.JSON = false
		case word == "--":
			return
		}
	}
}

func newFlags(verb *Verb) *pflag.FlagSet {
	flags := pflag.NewFlagSet(verb.Name, pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	flags.Bool("json", false, "print JSON")
	if verb.Flags != nil {
		verb.Flags(flags)
	}
	if flags.Lookup("text") == nil {
		flags.Bool("text", false, "print text for people")
	}
	return flags
}

func (c *Call) parseWords(verb *Verb) error {
	list, err := words.Words(c.Line)
	if err != nil {
		return api.Errorf(api.CodeUsage, "%s: %w", verb.Name, err)
	}
	if verb.Rewrite != nil {
		list = verb.Rewrite(list)
	}
	if err := c.flags.Parse(list[1:]); err != nil {
		return verb.usage(err)
	}
	c.Args = c.flags.Args()
	return c.countArgs(verb)
}

func (c *Call) countArgs(verb *Verb) error {
	switch {
	case len(c.Args) < verb.MinArgs:
		return verb.usage(errMissing)
	case verb.MaxArgs >= 0 && len(c.Args) > verb.MaxArgs:
		return verb.usage(fmt.Errorf("unexpected argument %s", api.Quote(c.Args[verb.MaxArgs])))
	}
	return nil
}

// chooseForm settles JSON or text from the parsed options.
func (c *Call) chooseForm(verb *Verb) error {
	c.JSON = !c.Terminal && !verb.TextOnly && !verb.Prose
	if asJSON, _ := c.flags.GetBool("json"); asJSON {
		c.JSON = true
	}
	if f := c.flags.Lookup("text"); f != nil && f.Value.Type() == "bool" && f.Changed {
		if c.flags.Changed("json") {
			return verb.usage(errors.New("--json and --text exclude each other"))
		}
		c.JSON = false
	}
	return nil
}

// Usage is how the verb is called.
func (v *Verb) Usage() string { return strings.TrimSpace(v.Name + " " + v.Synopsis) }

var errMissing = errors.New("an argument is missing")

func unknownVerb(name string) error {
	var near []string
	for _, known := range Names() {
		if strings.HasPrefix(known, name) && name != "" || strings.EqualFold(known, name) {
			near = append(near, known)
		}
	}
	hint := "help lists the verbs"
	if len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "? help lists all verbs"
	}
	return api.Errorf(api.CodeUsage, "unknown verb %s: %s", api.Quote(name), hint)
}

// HasForms says whether the verb answers in JSON or in text as the caller
// likes: then it has the options --json and --text.
func (v *Verb) HasForms() bool {
	f := newFlags(v).Lookup("text")
	return v.Answer != nil && f.Value.Type() == "bool"
}
