// Package commands has one file for each verb: arguments in, JSON or text out. It knows nothing
// of SSH. A verb gets a context, an identity, streams, and the Service that it acts on. The edge
// (sshd/dispatch) calls Service.Run once for each command line, concurrently for many clients; a
// Call belongs to one goroutine. Rights are checked three times: for the verb (allowed), for each
// session (targets), and at each write to a terminal (claim).
package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"berth/api"
	"berth/audit"
	"berth/audit/ship"
	"berth/commands/words"
	"berth/doctor"
	"berth/keys"
	"berth/sessions"
	"berth/terminal"
)

// Service is what the verbs act on.
type Service struct {
	Sessions *sessions.Registry
	Specs    func() *Specs // what new starts sessions from, as of now
	// OnlyProfiles says that sessions are started from profiles alone, by every caller.
	OnlyProfiles func() bool
	// Document reads fields of a session that a caller gives. from names the text in messages.
	Document func(from string, data []byte) (*Document, error)
	Started  time.Time
	Now      func() time.Time
	Log      *slog.Logger
	// Edge reports the SSH edge's counters, for health.
	Edge func() map[string]any
	// MaxInput bounds what one call reads from standard input, in bytes.
	MaxInput int64
	// Keys says who may log in.
	Keys *keys.Store
	// Audit records who does what.
	Audit *audit.Log
	// Shipped is how the shipping of the audit log does; nil without one.
	Shipped func() *ship.Status
	// Profiles is what the verb profile does.
	Profiles Profiles
	// Fleet is what the verb fleet does.
	Fleet Fleet
	// Notify is what the verb notify does.
	Notify Notify
	// Doctor examines the server and its machine.
	Doctor func(ctx context.Context) []doctor.Result
	// Reload reads the key files and berth.yaml again.
	Reload func(ctx context.Context) (Reloaded, error)
	// Level is the current level of the server's log; ConfiguredLevel is that of berth.yaml.
	Level           *slog.LevelVar
	ConfiguredLevel func() slog.Level
	// Metrics writes the metrics in Prometheus's text format.
	Metrics func(io.Writer) error

	matchers matchers
	answers  answers
}

// Request is one call of a verb, as the edge passes it.
type Request struct {
	Identity func() keys.Identity // the current rights
	Client   string               // the caller's id, such as c12
	Line     string               // the command as it arrived
	Terminal bool                 // the client asked for a PTY, so answer in text
	In       io.Reader
	Out, Err io.Writer
}

// Call is a Request with its line parsed.
type Call struct {
	*Service
	Request
	JSON    bool     // the answer is JSON
	Args    []string // words that aren't options
	Tail    string   // of verbs with a tail
	HasTail bool     // there is a tail, even if it is empty
	Stdin   bool     // the tail is a lone -
	flags   *pflag.FlagSet
	shaped  *shaper  // nil: the answer is printed as it is
	routing bool     // the words keep their hosts
	given   []string // the words as they came, with their hosts
}

// Verb is one command.
type Verb struct {
	Name     string
	Group    string // see, follow, drive, keep, talk, access, stay
	Synopsis string // without the name
	Short    string
	Examples []Example // a test runs them
	Need     keys.Role
	Parts    []string                 // first words that select a part of the verb, such as ls in access ls
	Values   []string                 // words after a part; the audit log has them too
	Changes  func(args []string) bool // whether a call changes something, for a verb of a read-only group; nil: never
	Tail     bool                     // it ends in free text, taken unchanged
	Argv     string                   // the option after which a command line replaces the text
	Lead     int                      // words between the session and the text
	// NoSession: the line names no session; its first words are the lead words.
	NoSession bool
	MinArgs   int
	MaxArgs   int  // -1: no limit
	Targets   bool // each word names sessions
	TextOnly  bool
	Prose     bool // text unless --json asks for more
	Flags     func(*pflag.FlagSet)
	Rewrite   func(words []string) []string // rewrites words so that the flags can be parsed
	Answer    any                           // a value whose JSON Schema describes the answer; nil: none
	Others    map[string]any                // likewise, the other answers: those of parts, and of forms of a call
	Open      bool                          // the answer has more fields than Answer, by its kind
	Alone     bool                          // it needs no server: with none, the client runs it
	Run       func(context.Context, *Call) error
}

// Example is a call of a verb, as words after "ssh agents@host", and what it is for.
type Example struct{ Line, Does string }

// statusError ends a verb with an exit status that isn't a failure, such as 20 of wait.
type statusError int

func (s statusError) Error() string { return fmt.Sprintf("status %d", int(s)) }

// known are all verbs. verbs fills it at the first use: a package-level table would slow down every
// start of the program.
var known struct {
	once  sync.Once
	list  []*Verb
	named map[string]*Verb
}

// verbs lists all verbs. No caller changes the list or a verb.
func verbs() []*Verb {
	known.once.Do(func() {
		known.list, known.named = makeVerbs(), map[string]*Verb{}
		for _, v := range known.list {
			known.named[v.Name] = v
		}
	})
	return known.list
}

func makeVerbs() []*Verb {
	return []*Verb{
		lsVerb(), stateVerb(), waitingVerb(), explainVerb(), promptVerb(), screenVerb(), outputVerb(), lastVerb(), queueVerb(), infoVerb(), envVerb(), whoVerb(), healthVerb(), metricsVerb(),
		versionVerb(), whoamiVerb(), schemaVerb(), helpVerb(), completeVerb(), completionVerb(),
		watchVerb(), waitVerb(),
		nudgeVerb(), askVerb(), interruptVerb(), respondVerb(),
		inputVerb(), keysVerb(), resizeVerb(), signalVerb(), lockVerb(), unlockVerb(),
		newVerb(), profileVerb(), forkVerb(), killVerb(), restartVerb(), renameVerb(), rmVerb(), worktreeVerb(), tagVerb(), metaVerb(), exportVerb(),
		gateVerb(), startContextVerb(), reportVerb(), tellVerb(), inboxVerb(), messageVerb(), transcriptVerb(), mcpVerb(), acpVerb(),
		accessVerb(), guestVerb(), fleetVerb(), auditVerb(), notifyVerb(), doctorVerb(), logVerb(), reloadVerb(), initVerb(),
		attachVerb(), detachVerb(),
	}
}

// Lookup finds a verb by its exact name; nil if there is none.
func Lookup(name string) *Verb {
	verbs()
	return known.named[name]
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

// Run performs one request and returns its exit status. By then all output has been written.
func (s *Service) Run(ctx context.Context, r Request) int {
	r.Line = expandLine(r.Line)
	c := &Call{Service: s, Request: r, JSON: !r.Terminal}
	verb, err := c.parse()
	if id := r.Identity(); err == nil && id.Kind == keys.KindAgent {
		err = s.Sessions.AwaitStart(ctx, id.Session)
	}
	if err == nil {
		err = c.allowed(verb)
	}
	if err == nil {
		err = c.shape(ctx, verb)
		defer c.endShape()
	}
	if err == nil {
		err = c.recorded(verb, func() error { return c.perform(ctx, verb) })
		c.reportUnshaped()
	}
	return c.finish(ctx, err)
}

// perform runs the verb when the caller's other answers leave room for this one.
func (c *Call) perform(ctx context.Context, verb *Verb) error {
	leave, err := c.answers.enter(ctx, c.Identity(), c.parts(verb), answerWait)
	if err != nil {
		return err
	}
	defer leave()
	return verb.Run(ctx, c)
}

// finish writes a failure in the form that the caller asked for.
func (c *Call) finish(ctx context.Context, err error) int {
	var status statusError
	switch {
	case err == nil:
		return api.StatusDone
	case errors.As(err, &status):
		return int(status)
	case ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx)) && api.AsError(err).Code == api.CodeInternal):
		return api.CodeInternal.Status() // the client is gone
	}
	shown := api.AsError(err)
	if shown.Code == api.CodeDenied {
		c.refused(shown)
	}
	if shown.Code == api.CodeInternal {
		c.Log.Error("verb failed", "line", c.verbName(), "identity", c.Identity().Name, "error", err)
	}
	if c.JSON && c.unshape() {
		c.printJSON(map[string]any{"error": shown})
	}
	c.warn(shown.Message)
	return shown.Code.Status()
}

// warn writes a message to the error stream.
func (c *Call) warn(message string) {
	_, _ = c.Err.Write(c.lines([]byte("berth: " + terminal.Printable(message) + "\n"))) // a failed write means that the client is gone
}

// verbName is the verb of the line, for the log and for events. Later words may be a user's
// text.
func (c *Call) verbName() string { return VerbOf(c.Line) }

// VerbOf reads the verb of a line without parsing the rest; empty if there is none.
func VerbOf(line string) string {
	name, err := words.Verb(line)
	if err != nil {
		return ""
	}
	return name
}

// parse parses the line by the form of its verb.
func (c *Call) parse() (*Verb, error) {
	name, err := words.Verb(c.Line)
	verb := Lookup(name)
	var flags *pflag.FlagSet
	if verb != nil {
		flags = newFlags(verb)
	}
	c.wantsText(flags)
	if err != nil {
		return nil, api.Errorf(api.CodeUsage, "%w", err)
	}
	if name == "" {
		return nil, api.Errorf(api.CodeUsage, "no verb given: help lists the verbs")
	}
	if verb == nil {
		return nil, unknownVerb(name)
	}
	c.flags = flags
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
	if c.given = c.Args; !c.routing {
		c.atHome(verb)
	}
	return verb, c.chooseForm(verb)
}

// helpFor answers VERB --help as help VERB does.
func (c *Call) helpFor(verb *Verb) *Verb {
	c.JSON = false
	return &Verb{Name: "help", Need: keys.Viewer, Run: func(context.Context, *Call) error { return c.helpOn(verb.Name) }}
}

// wantsText looks for --json and --text before the rest is parsed, so that a usage error has the
// form that was asked for. Flags are the verb's; nil: an unknown verb.
func (c *Call) wantsText(flags *pflag.FlagSet) {
	list, err := words.Words(c.Line)
	if err != nil {
		list = strings.Fields(c.Line)
	}
	takesText := flags != nil && flags.Lookup("text").Value.Type() != "bool" // --text has a meaning of its own
	for _, word := range list {
		switch {
		case word == "--json" || strings.HasPrefix(word, "--json="):
			c.JSON = true
		case word == "--text" && !takesText:
			c.JSON = false
		case word == "--":
			return
		}
	}
}

// Options are all options of the verb.
func (v *Verb) Options() *pflag.FlagSet { return newFlags(v) }

func newFlags(verb *Verb) *pflag.FlagSet {
	flags := pflag.NewFlagSet(verb.Name, pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	var fields fieldList
	flags.Var(&fields, "json", "print JSON; with =FIELD,FIELD only these fields")
	flags.Lookup("json").NoOptDefVal = everyField
	if verb.Answer != nil {
		shapeFlags(flags, verb)
	}
	if verb.Flags != nil {
		verb.Flags(flags)
	}
	targetFlags(flags, verb)
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
	if err := c.addTargets(verb); err != nil {
		return err
	}
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

// chooseForm chooses JSON or text by the parsed options.
func (c *Call) chooseForm(verb *Verb) error {
	c.JSON = !c.Terminal && !verb.TextOnly && !verb.Prose
	if c.flags.Changed("json") {
		c.JSON = true
	}
	shaped, err := c.shapeOption(verb)
	if err != nil {
		return err
	}
	c.JSON = c.JSON || shaped != ""
	if f := c.flags.Lookup("text"); f != nil && f.Value.Type() == "bool" && f.Changed {
		if c.flags.Changed("json") {
			return verb.usage(errors.New("--json and --text exclude each other"))
		}
		if shaped != "" {
			return verb.usage(fmt.Errorf("--%s and --text exclude each other", shaped))
		}
		c.JSON = false
	}
	return nil
}

// Usage is the verb with its arguments.
func (v *Verb) Usage() string { return strings.TrimSpace(v.Name + " " + v.Synopsis) }

var errMissing = errors.New("an argument is missing")

// unknownVerb is the error for a name that no verb has. Where other words may stand too, a hint may
// name one of those.
func unknownVerb(name string, others ...string) error {
	if hint := explained[name]; hint != "" {
		return api.Errorf(api.CodeUsage, "%s", hint)
	}
	hint := "help lists the verbs"
	if _, ok := findTopic(name); ok {
		hint = "help " + name + " is about that; help lists the verbs"
	} else if near := didYouMean(name, slices.Concat(Names(), slices.Sorted(maps.Keys(Aliases())), others)); near != "" {
		hint = near + "help lists all verbs"
	}
	return api.Errorf(api.CodeUsage, "unknown verb %s: %s", api.Quote(name), hint)
}

// HasForms says whether the verb answers in JSON or in text at the caller's choice. Then it has
// the options --json and --text.
func (v *Verb) HasForms() bool {
	f := newFlags(v).Lookup("text")
	return v.Answer != nil && f.Value.Type() == "bool"
}
