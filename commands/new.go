package commands

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"berth/agent"
	"berth/api"
	"berth/keys"
	"berth/sessions"
	"berth/sessions/worktree"
)

func newVerb() *Verb {
	return &Verb{
		Name: "new", Group: "keep",
		Synopsis: "[NAME] [--host HOST|any|label:L] [--profile P] [--agent A] [--rules NAME] [--cwd DIR] [--worktree[=BRANCH]] [--from REF] [--env K=V]... [--env-pass K]... [--user NAME] [--size CxR] [--size-policy P] [--tag T]... [--prompt TEXT|-] [--resume ID|latest] [--conversation UUID] [--isolate M] [--groom M] [--trust] [--accept-bypass] [--after-limit TEXT] [--restart M] [--ttl D] [--limit K=V]... [--gate M] [--meta K=V]... [--config -] [-- ARGV]",
		Short:    "start a session; without ARGV and --profile it runs the command of defaults in berth.yaml, else the user's shell",
		Examples: []Example{
			{"new web", "a shell, or the command of the defaults"},
			{`new api --agent claude --cwd shop --prompt "'fix the failing test'"`, "an agent, with its first message"},
			{"new api --cwd shop --worktree -- claude", "an agent in a git worktree of its own"},
			{"new build -- make -C /src all", "any program"},
			{`new api --config -`, "with fields of a profile, as YAML or JSON on standard input"},
		},
		Need: keys.Admin, MaxArgs: -1, Answer: Made{}, Run: newSession,
		Flags: func(f *pflag.FlagSet) {
			f.String("profile", "", "start from a profile of berth.yaml")
			f.String("host", "", "at a fleet's gateway: the host to start it on; any takes that with the fewest running sessions, label:L of those with this label")
			f.String("agent", "", "the agent's kind; default inferred from the command")
			f.String("rules", "", "rules in berth.yaml that read the program's screen; default the rules for its name")
			f.String("cwd", "", "working directory; a relative one starts at the home of the session's user, on the host where you are; default the home")
			f.String("worktree", "", "work in a new git worktree of --cwd's repository, on a new branch berth/NAME or on the branch given")
			f.Lookup("worktree").NoOptDefVal = ownBranch
			f.String("from", "", "the branch or commit that the worktree's new branch starts at; default the current one")
			f.StringArray("env", nil, "K=V for the program's environment")
			f.StringArray("env-pass", nil, "name of a variable to take from the server's environment")
			f.String("user", "", "another OS user to run it as; the server must run as root")
			f.String("size", "", "COLSxROWS, until a client with control attaches")
			f.String("size-policy", "", "writer, fixed or smallest")
			f.StringArray("tag", nil, "a label; --label is the same")
			f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
				return pflag.NormalizedName(map[bool]string{true: "tag", false: name}[name == "label"])
			})
			f.String("prompt", "", "first message, given when the agent is ready; - reads standard input")
			f.String("resume", "", "resume the agent's conversation with this id, or the latest in the folder")
			f.String("conversation", "", "id for the agent's new conversation")
			f.String("isolate", "", "hooks, full or none: how much of the agent's own files the session keeps for itself")
			f.String("groom", "", "auto, manual or pristine: who answers the agent's start-up dialogs")
			f.Bool("trust", false, "accept the agent's question whether to trust the folder")
			f.Bool("accept-bypass", false, "accept the agent's warning about skipped permissions")
			f.String("after-limit", "", "message to send when a limit that stopped the agent is over, such as continue")
			f.String("restart", "", "never, on-failure or always")
			f.Duration("ttl", 0, "end the session after this long")
			launchFlags(f)
		},
	}
}

// ownBranch is --worktree without a branch. No branch can have that name.
const ownBranch = "berth/"

// Made is the result of new and fork.
type Made struct {
	listed
	Queued *FirstMessage `json:"queued"` // the message of --prompt; wait waits for its turn too
}

// listed is embedded under a name that isn't one of its fields. Otherwise the schema would lack
// that field.
type listed = api.Session

// FirstMessage is a message that waits until the agent's first composer appears.
type FirstMessage struct {
	ID  string `json:"id"`  // as queue lists it
	Seq uint64 `json:"seq"` // number of the event session_created, which names it; 0 if that wasn't written

}

func (c *Call) madeRow(ctx context.Context, s *sessions.Session, prompt string) Made {
	row := Made{listed: s.Status().Row()}
	if prompt == "" {
		return row
	}
	row.Queued = &FirstMessage{ID: sessions.FirstID}
	reader := c.Sessions.Events().FollowSession(s.ID(), 0)
	ctx, cancel := context.WithTimeout(ctx, createdWithin)
	defer cancel()
	for {
		line, err := reader.Next(ctx)
		if err != nil {
			return row // a full disk keeps no events
		}
		if line.Type == "session_created" {
			row.Queued.Seq = line.Seq
			return row
		}
	}
}

// createdWithin bounds the wait for the event of a session's start, which is there when New returns.
const createdWithin = time.Second

// onThisHost refuses --host with another host: a gateway carries such a call there, and only that.
func (c *Call) onThisHost() error {
	host, _ := c.flags.GetString("host")
	own := c.Fleet.name()
	switch {
	case !c.flags.Changed("host") || host == own && own != "":
		return nil
	case c.Fleet.Known != nil: // the gateway has chosen itself
		return nil
	case c.Identity().ViaGateway():
		return nil // which has chosen this host
	}
	return api.Errorf(api.CodeBadRequest, "--host %s is another host: only a fleet's gateway starts sessions on its hosts", api.Quote(host))
}

func newSession(ctx context.Context, c *Call) error {
	if err := c.onThisHost(); err != nil {
		return err
	}
	docs, err := c.documents(ctx, false)
	if err != nil {
		return err
	}
	spec, err := c.specFromFlags(docs)
	if err != nil {
		return err
	}
	if err := c.mayStart(spec, docs); err != nil {
		return err
	}
	if spec.Prompt, err = c.promptOption(spec.Prompt, docs...); err != nil {
		return err
	}
	if err := c.mayStart(spec, docs); err != nil { // as it is after the message was read
		return err
	}
	s, err := c.Sessions.New(ctx, spec, c.actor())
	if err != nil {
		return err
	}
	row := c.madeRow(ctx, s, spec.Prompt)
	return c.answer(row, func(w io.Writer) { fmt.Fprintf(w, "%s started (pid %d)\n", row.Session, row.PID) })
}

// mayStart checks the limits of the caller's key other than its verbs.
func (c *Call) mayStart(spec sessions.Spec, docs []*Document) error {
	id := c.Identity()
	if c.ownProgram() {
		if err := c.mayOwnCommand(); err != nil {
			return err
		}
	}
	if err := c.mayGive(docs); err != nil {
		return err
	}
	tags, _ := c.flags.GetStringArray("tag")
	if err := c.mayTag(tags); err != nil {
		return err
	}
	if err := c.mayName(spec.Name); err != nil {
		return err
	}
	later := c.flags.Changed("after-limit") || slices.ContainsFunc(docs, func(d *Document) bool { return slices.Contains(d.Fields, "after_limit") })
	if later { // a message, like that of --prompt
		if err := id.May("nudge", keys.Responder); err != nil {
			return err
		}
	}
	if spec.Name != "" && id.Kind != keys.KindAgent && !id.Sees(spec.Name, spec.Tags) { // the registry decides about an agent's children
		return id.Denied("new", spec.Name)
	}
	return nil
}

// promptOption is the message of --prompt; - reads standard input. The caller needs the right to
// send messages.
func (c *Call) promptOption(is string, docs ...*Document) (string, error) {
	given := slices.ContainsFunc(docs, func(d *Document) bool { return slices.Contains(d.Fields, "prompt") })
	if !given && !c.flags.Changed("prompt") {
		return is, nil
	}
	// An agent gives the sessions that it starts their first message: that is why it starts them.
	if id := c.Identity(); id.Kind != keys.KindAgent {
		if err := id.May("nudge", keys.Responder); err != nil {
			return "", err
		}
	}
	if !c.flags.Changed("prompt") {
		return is, nil
	}
	if c.Tail, _ = c.flags.GetString("prompt"); c.Tail == "-" {
		c.Stdin = true
	}
	text, err := c.tailBytes()
	switch {
	case err != nil:
		return "", err
	case !utf8.Valid(text):
		return "", api.Errorf(api.CodeBadRequest, "the message is not UTF-8: nothing was started")
	case strings.TrimSpace(string(text)) == "":
		return "", api.Errorf(api.CodeUsage, "--prompt: the message is empty")
	}
	return string(text), nil
}

// ownProgram says whether the caller decides what is run. That includes the environment and the
// folder, because most programs can be made to run anything through them. It includes a name of
// the server's environment, which would show its value, and a conversation, which would show its
// content. It also includes what the profile says about hooks and trust.
func (c *Call) ownProgram() bool {
	for _, name := range []string{"env", "env-pass", "user", "agent", "rules", "resume", "conversation", "isolate", "groom", "trust", "accept-bypass"} {
		if c.flags.Changed(name) {
			return true
		}
	}
	if dir, _ := c.flags.GetString("cwd"); c.flags.Changed("cwd") {
		if id := c.Identity(); id.Kind != keys.KindAgent || !c.Sessions.MayWorkIn(id.Session, dir) {
			return true
		}
	}
	if branch, _ := c.flags.GetString("worktree"); c.flags.Changed("from") || branch != ownBranch && branch != "" {
		return true // the setup and the program run what is checked out
	}
	if c.Identity().Kind == keys.KindAgent { // tags decide which callers see a session
		for _, name := range []string{"tag", "restart", "size-policy", "after-limit"} {
			if c.flags.Changed(name) {
				return true
			}
		}
	}
	return !c.flags.Changed("profile")
}

// specFromFlags applies the caller's documents and options to the profile.
func (c *Call) specFromFlags(docs []*Document) (sessions.Spec, error) {
	dash := c.flags.ArgsLenAtDash()
	if dash < 0 {
		dash = len(c.Args)
	}
	argv := c.Args[dash:]
	spec, err := c.profile(argv, docs)
	if err != nil {
		return spec, err
	}
	limits := spec.Limits
	for _, doc := range docs {
		if len(argv) > 0 && slices.Contains(doc.Fields, "command") {
			return spec, Lookup("new").usage(fmt.Errorf("the document has a command too"))
		}
		spec = doc.Over(spec)
	}
	if dash > 1 {
		if branch, _ := c.flags.GetString("worktree"); branch == ownBranch {
			return spec, Lookup("new").usage(fmt.Errorf("unexpected argument %s. Name a branch with --worktree=BRANCH, and put a command after --", api.Quote(c.Args[1])))
		}
		return spec, Lookup("new").usage(fmt.Errorf("unexpected argument %s. Put a command after --", api.Quote(c.Args[1])))
	}
	if dash == 1 {
		spec.Name = c.Args[0]
		if err := api.CheckName(spec.Name); err != nil {
			return spec, err
		}
	}
	if len(argv) > 0 && spec.Profile != "" {
		return spec, Lookup("new").usage(fmt.Errorf("a profile has its own command"))
	}
	if spec, err = c.specOptions(c.agentOptions(spec)); err != nil {
		return spec, err
	}
	return spec, c.mayLimit(limits, spec.Limits)
}

// agentOptions are the options about how an agent is started.
func (c *Call) agentOptions(spec sessions.Spec) sessions.Spec {
	text := func(name string, is string) string {
		if c.flags.Changed(name) {
			is, _ = c.flags.GetString(name)
		}
		return is
	}
	yes := func(name string, is bool) bool {
		if c.flags.Changed(name) {
			is, _ = c.flags.GetBool(name)
		}
		return is
	}
	if c.flags.Changed("resume") || c.flags.Changed("conversation") {
		spec.TakeUp, spec.Conversation = text("resume", ""), text("conversation", "")
	}
	spec.Rules = text("rules", spec.Rules)
	spec.Isolate = agent.Isolation(text("isolate", string(spec.Isolate)))
	spec.Groom = agent.Groom(text("groom", string(spec.Groom)))
	spec.Trust, spec.AcceptBypass = yes("trust", spec.Trust), yes("accept-bypass", spec.AcceptBypass)
	return spec
}

// Specs are what new starts sessions from.
type Specs struct {
	Profiles map[string]sessions.Spec // by name
	Defaults sessions.Spec            // without a profile
}

// profile is what the options are applied to: the profile, or the configuration's defaults. A
// program named by the caller replaces the whole program of the defaults; of the other defaults
// it keeps those that it can use.
func (c *Call) profile(argv []string, docs []*Document) (sessions.Spec, error) {
	name, _ := c.flags.GetString("profile")
	if !c.flags.Changed("profile") {
		spec := c.Specs().Defaults
		named := slices.ContainsFunc(docs, func(d *Document) bool {
			return slices.ContainsFunc(d.Fields, func(f string) bool { return f == "command" || f == "agent" || f == "rules" })
		})
		if named || len(argv) > 0 || c.flags.Changed("agent") || c.flags.Changed("rules") {
			spec.Agent, spec.Rules, spec.Command = "", "", argv
			for _, doc := range docs {
				if given := doc.Given; len(given.Command) > 0 || given.Agent != "" || given.Rules != "" {
					spec.Agent, spec.Rules, spec.Command = given.Agent, given.Rules, append(argv, given.Command...)
				}
			}
			if c.flags.Changed("agent") {
				spec.Agent, _ = c.flags.GetString("agent")
			}
			if c.flags.Changed("rules") {
				spec.Rules, _ = c.flags.GetString("rules")
			}
		}
		return c.Sessions.Fitting(spec), nil
	}
	spec, ok := c.Specs().Profiles[name]
	if !ok {
		known, _ := c.MayStart(c.Request)
		return spec, api.Errorf(api.CodeNotFound, "there is no profile %s%s", api.Quote(name), strings.TrimSuffix(": "+didYouMean(name, known), ": "))
	}
	spec.Profile = name
	return spec, nil
}

func (c *Call) specOptions(spec sessions.Spec) (sessions.Spec, error) {
	set := func(name string, into *string) {
		if c.flags.Changed(name) {
			*into, _ = c.flags.GetString(name)
		}
	}
	set("agent", &spec.Agent)
	set("cwd", &spec.Cwd)
	if c.flags.Changed("cwd") && c.Identity().Kind == keys.KindAgent {
		spec.CwdReal = spec.Cwd // the registry finds the path without links
	}
	if c.flags.Changed("worktree") || c.flags.Changed("from") {
		tree := worktree.Tree{Phase: worktree.Wanted}
		set("worktree", &tree.Branch)
		set("from", &tree.From)
		if tree.Branch == ownBranch {
			tree.Branch = ""
		}
		if !c.flags.Changed("worktree") && spec.Worktree == nil {
			return spec, Lookup("new").usage(fmt.Errorf("--from is where a worktree's branch starts: add --worktree"))
		}
		spec.Worktree = &tree
	}
	set("user", &spec.User)
	set("after-limit", &spec.AfterLimit)
	var policy, restart = string(spec.SizePolicy), string(spec.Restart)
	set("size-policy", &policy)
	set("restart", &restart)
	spec.SizePolicy, spec.Restart = sessions.SizePolicy(policy), sessions.Restart(restart)
	if c.flags.Changed("ttl") {
		if spec.Limits.TTL, _ = c.flags.GetDuration("ttl"); spec.Limits.TTL <= 0 {
			return spec, api.Errorf(api.CodeUsage, "--ttl must be above 0, such as 8h")
		}
	}
	if size, _ := c.flags.GetString("size"); size != "" {
		var err error
		if spec.Cols, spec.Rows, err = parseSize(size); err != nil {
			return spec, err
		}
	}
	tags, _ := c.flags.GetStringArray("tag")
	spec.Tags = append(append([]string{}, spec.Tags...), tags...)
	pass, _ := c.flags.GetStringArray("env-pass")
	spec.EnvPass = append(append([]string{}, spec.EnvPass...), pass...)
	pairs, _ := c.flags.GetStringArray("env")
	env := map[string]string{}
	for k, v := range spec.Env {
		env[k] = v
	}
	for _, pair := range pairs {
		k, v, ok := strings.Cut(pair, "=")
		if !ok || k == "" {
			return spec, api.Errorf(api.CodeUsage, "--env needs NAME=VALUE; %s has no value", api.Quote(k))
		}
		env[k] = v
	}
	spec.Env = env
	return spec, nil
}
