package sessions

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"berth/agent"
	"berth/api"
	"berth/detect/tail"
	"berth/sessions/cgroup"
	"berth/sessions/clients"
	"berth/sessions/gates/begin"
	"berth/sessions/gates/gate"
	"berth/sessions/life"
	"berth/sessions/loop"
	"berth/sessions/notify"
	"berth/sessions/track"
	"berth/sessions/worktree"
)

// Defaults of a session, from the design's table of fields.
const (
	DefaultCols        = 200
	DefaultRows        = 50
	DefaultOutputLimit = 64 << 20 // bytes of output kept
	DefaultScrollback  = 2000     // lines above the main screen
	controlLimit       = 16 << 20 // bytes of control log kept, apart from the output
)

// Restart says when an ended program is started again by itself.
type Restart = life.Restart

// The restart policies.
const (
	RestartNever     = life.RestartNever
	RestartOnFailure = life.RestartOnFailure
	RestartAlways    = life.RestartAlways
)

// ClipboardPolicy says whose clipboards programs set.
type ClipboardPolicy = clients.ClipboardPolicy

// The clipboard policies.
const (
	ClipboardOff    = clients.ClipboardOff
	ClipboardWriter = clients.ClipboardWriter
	ClipboardAll    = clients.ClipboardAll
)

// SizePolicy says which size a session has.
type SizePolicy = clients.SizePolicy

// Limits bound what a session may use; zero is the default or none.
type Limits struct {
	Output      int64         `json:"output"`     // bytes
	Scrollback  int           `json:"scrollback"` // lines
	TTL         time.Duration `json:"ttl"`
	IdleTimeout time.Duration `json:"idle_timeout"`
	Memory      int64         `json:"memory"`    // bytes of all its processes
	Processes   int           `json:"processes"` // with threads
	CPU         int64         `json:"cpu"`       // thousandths of a processor
}

// With is the limits with those that are given in place of its own.
func (l Limits) With(given Limits) Limits {
	return Limits{
		Output: cmp.Or(given.Output, l.Output), Scrollback: cmp.Or(given.Scrollback, l.Scrollback), TTL: cmp.Or(given.TTL, l.TTL),
		IdleTimeout: cmp.Or(given.IdleTimeout, l.IdleTimeout), Memory: cmp.Or(given.Memory, l.Memory),
		Processes: cmp.Or(given.Processes, l.Processes), CPU: cmp.Or(given.CPU, l.CPU),
	}
}

// Above names a limit that is higher than one that other limits have; empty if none is.
func (l Limits) Above(other Limits) string {
	other.Output, other.Scrollback = cmp.Or(other.Output, DefaultOutputLimit), cmp.Or(other.Scrollback, DefaultScrollback)
	switch {
	case l.Output > other.Output:
		return "output"
	case l.Scrollback > other.Scrollback:
		return "scrollback"
	case other.TTL > 0 && l.TTL > other.TTL:
		return "ttl"
	case other.IdleTimeout > 0 && l.IdleTimeout > other.IdleTimeout:
		return "idle_timeout"
	case other.Memory > 0 && l.Memory > other.Memory:
		return "memory"
	case other.Processes > 0 && l.Processes > other.Processes:
		return "processes"
	case other.CPU > 0 && l.CPU > other.CPU:
		return "cpu"
	}
	return ""
}

// cgroup has the limits that the kernel keeps.
func (l Limits) cgroup() cgroup.Limits {
	return cgroup.Limits{Memory: l.Memory, Processes: l.Processes, CPU: l.CPU}
}

// Spec is what a session is made from. It is kept as session.json in the
// session's folder, mode 0600 since its environment may hold secrets.
type Spec struct {
	ID         string            `json:"id"`
	Name       string            `json:"name"`
	Agent      string            `json:"agent"`
	Profile    string            `json:"profile"`
	Command    []string          `json:"command"`
	Cwd        string            `json:"cwd"`
	CwdReal    string            `json:"cwd_real,omitempty"` // path of Cwd without links where an agent chose it for its child; empty: any
	Env        map[string]string `json:"env"`
	EnvFile    string            `json:"env_file"`
	EnvPass    []string          `json:"env_pass"`
	LoginEnv   bool              `json:"login_env"`
	Cols       int               `json:"cols"`
	Rows       int               `json:"rows"`
	SizePolicy SizePolicy        `json:"size_policy"`
	Restart    Restart           `json:"restart"`
	User       string            `json:"user"` // the OS user of its program; empty: the server's
	UID        int               `json:"uid"`  // of that user, when the session was made
	Limits     Limits            `json:"limits"`
	Tags       []string          `json:"tags"`
	Meta       map[string]string `json:"meta"`
	Parent     string            `json:"parent"` // id of the session whose agent made this one
	Root       string            `json:"root"`   // id of the session that the parents' lineage begins with; empty: none made it
	Depth      int               `json:"depth"`
	Children   Children          `json:"children"`
	Born       int               `json:"born"` // sessions that were started below it
	Ends       api.Time          `json:"ends"` // when it is ended, whatever started it again; zero: never
	Created    api.Time          `json:"created"`
	CreatedBy  string            `json:"created_by"`

	Isolate      agent.Isolation `json:"isolate"`
	Groom        agent.Groom     `json:"groom"`
	Trust        bool            `json:"trust"`         // yes to the agent's question whether its folder is trusted
	AcceptBypass bool            `json:"accept_bypass"` // the same for its warning about skipped permissions
	Settings     map[string]any  `json:"settings"`      // merged into the agent's own
	MCP          map[string]any  `json:"mcp"`

	Rules     string        `json:"rules"`      // name of the rules that its program is read by; empty: those for the program
	IdleGrace time.Duration `json:"idle_grace"` // see detect.Options; 0 is its default

	AfterLimit string `json:"after_limit"` // message that is sent when a limit is over; empty: none

	Conversation string            `json:"conversation"` // id of the agent's conversation, as far as known
	Spoken       bool              `json:"spoken"`       // something was said in it: a new start takes it up
	Prompt       string            `json:"-"`            // first message; the queue keeps it
	TakeUp       string            `json:"take_up"`      // id of the conversation that the first start takes up, or latest
	Fork         Fork              `json:"fork"`
	StateFile    string            `json:"state_file"` // of the agent, with %d for its process id
	Stream       bool              `json:"stream"`     // what the agent prints are lines that tell of it
	Headless     bool              `json:"headless"`   // the agent takes no messages: it ends with its answer
	LogFiles     string            `json:"log_files"`  // where its session logs are, see agent.Launch
	Again        []int             `json:"again"`      // exit statuses that ask for another start
	Begun        bool              `json:"begun"`      // it was started before
	Vouched      map[string]string `json:"vouched"`    // see agent.Launch

	Gate  gate.Config  `json:"gate"`
	Start begin.Config `json:"start"`

	Notify []notify.Rule `json:"notify"`

	Team  string   `json:"team"`  // sessions of one team may send each other messages; empty: it has none
	Peers []string `json:"peers"` // who may send it messages, by name or tag:T; null: its team

	Worktree *worktree.Tree `json:"worktree"` // null: the session works in its folder as it is
	Setup    []string       `json:"setup"`    // command that runs in a new worktree, before the program

	Configured *Configured `json:"configured,omitempty"` // of a session from the configuration
	Berth      string      `json:"berth"`                // how berth is called inside; empty: by its name
	StartedIn  string      `json:"started_in,omitempty"` // path without links of the folder that the agent was started in
}

// owner is the uid of what the agent makes.
func (s Spec) owner() int {
	if s.User == "" {
		return os.Geteuid()
	}
	return s.UID
}

// berth is how the agent's commands call berth.
func (s Spec) berth() string { return cmp.Or(s.Berth, "berth") }

// Fork is the conversation that a session begins as a copy of.
type Fork struct {
	Session      string `json:"session"` // id
	Conversation string `json:"conversation"`
}

// begun says that the agent was started before.
func (s Spec) begun() bool { return s.Begun || s.StateFile != "" }

// forked is the conversation that the agent's own is a copy of, until something
// is said in the copy.
func (s Spec) forked() string {
	if s.Spoken {
		return ""
	}
	return s.Fork.Conversation
}

// Bounds of what a session carries beside its program.
const (
	maxTags     = 64
	maxMetaKeys = 64
	maxPeers    = 64
)

// check says what is wrong with a complete spec.
func (s Spec) check() error {
	switch s.SizePolicy {
	case SizeWriter, SizeFixed, SizeSmallest:
	default:
		return api.Errorf(api.CodeBadRequest, "there is no size policy %s: writer, fixed, smallest", api.Quote(string(s.SizePolicy)))
	}
	switch s.Restart {
	case RestartNever, RestartOnFailure, RestartAlways:
	default:
		return api.Errorf(api.CodeBadRequest, "there is no restart policy %s: never, on-failure, always", api.Quote(string(s.Restart)))
	}
	if err := s.checkAgent(); err != nil {
		return err
	}
	if s.Limits.TTL < 0 || s.Limits.IdleTimeout < 0 {
		return api.Errorf(api.CodeBadRequest, "ttl and idle_timeout are times above 0; without them there is no limit")
	}
	if err := s.Gate.Check(); err != nil {
		return api.Errorf(api.CodeBadRequest, "gate: %w", err)
	}
	if err := s.Start.Check(); err != nil {
		return api.Errorf(api.CodeBadRequest, "start: %w", err)
	}
	if err := s.checkLabels(); err != nil {
		return err
	}
	return s.checkProgram()
}

// checkAgent looks at how the agent is started.
func (s Spec) checkAgent() error {
	switch s.Isolate {
	case agent.IsolateHooks, agent.IsolateFull, agent.IsolateNone:
	default:
		return api.Errorf(api.CodeBadRequest, "there is no isolation %s: hooks, full, none", api.Quote(string(s.Isolate)))
	}
	switch s.Groom {
	case agent.GroomAuto, agent.GroomManual:
	case agent.GroomPristine:
		if s.Isolate != agent.IsolateNone || s.Trust || s.AcceptBypass || len(s.Settings) > 0 || len(s.MCP) > 0 {
			return api.Errorf(api.CodeBadRequest, "groom pristine leaves the agent as it is: without isolate, trust, accept_bypass, settings and mcp")
		}
	default:
		return api.Errorf(api.CodeBadRequest, "there is no way to groom %s: auto, manual, pristine", api.Quote(string(s.Groom)))
	}
	if s.TakeUp != "" && s.Conversation != "" {
		return api.Errorf(api.CodeBadRequest, "resume says which conversation it is: leave conversation out")
	}
	return nil
}

func (s Spec) checkLabels() error {
	if len(s.Tags) > maxTags || len(s.Meta) > maxMetaKeys {
		return api.Errorf(api.CodeLimit, "%d tags and %d meta keys are too many: %d and %d are kept", len(s.Tags), len(s.Meta), maxTags, maxMetaKeys)
	}
	for _, t := range s.Tags {
		if err := api.CheckTag(t); err != nil {
			return err
		}
	}
	if s.Team != "" {
		if err := api.CheckTeam(s.Team); err != nil {
			return err
		}
	}
	if len(s.Peers) > maxPeers {
		return api.Errorf(api.CodeLimit, "%d peers are too many: %d are kept; give them a tag, and use tag:T", len(s.Peers), maxPeers)
	}
	for _, p := range s.Peers {
		if err := api.CheckPeer(p); err != nil {
			return err
		}
	}
	for k, v := range s.Meta {
		if err := api.CheckMeta(k, v); err != nil {
			return err
		}
	}
	return nil
}

// checkProgram refuses what execve cannot be given. No value of the
// environment is quoted: it may be a secret.
func (s Spec) checkProgram() error {
	for name, value := range s.Env {
		if strings.ContainsAny(name, "=\x00") || name == "" {
			return api.Errorf(api.CodeBadRequest, "%s cannot be the name of an environment variable", api.Quote(name))
		}
		if err := checkOwn(name); err != nil {
			return err
		}
		if strings.ContainsRune(value, 0) {
			return api.Errorf(api.CodeBadRequest, "the value of the environment variable %s has a NUL byte, which no program can be given", api.Quote(name))
		}
	}
	for _, name := range s.EnvPass {
		if err := checkOwn(name); err != nil {
			return err
		}
	}
	for _, word := range s.Command {
		if strings.ContainsRune(word, 0) {
			return api.Errorf(api.CodeBadRequest, "the command has a NUL byte in %s, which no program can be given", api.Quote(word))
		}
	}
	if s.Command[0] == "" {
		return api.Errorf(api.CodeBadRequest, "the command is empty")
	}
	if s.Cwd != "" && !filepath.IsAbs(s.Cwd) {
		return api.Errorf(api.CodeBadRequest, "the working directory %s is not an absolute path on the server", api.Quote(s.Cwd))
	}
	return nil
}

// checkOwn refuses a variable whose value would never reach the program.
func checkOwn(name string) error {
	if api.OwnVariable(name) {
		return api.Errorf(api.CodeBadRequest, "Berth sets the variable %s itself, as it does BERTH and all BERTH_*: remove it or choose another name", api.Quote(name))
	}
	return nil
}

const specFile = "session.json"

// saveSpec writes the spec aside and renames it, so that a kill leaves the
// old one or the new one.
func saveSpec(dir string, s Spec) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s of session %s: %w", specFile, s.ID, err)
	}
	return loop.ReplaceFile(filepath.Join(dir, specFile), append(data, '\n'))
}

func loadSpec(dir string) (Spec, error) {
	var s Spec
	data, err := os.ReadFile(filepath.Join(dir, specFile))
	if err != nil {
		return s, fmt.Errorf("read the session's spec: %w", err)
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("parse %s: %w", filepath.Join(dir, specFile), err)
	}
	if s.ID != filepath.Base(dir) {
		return s, fmt.Errorf("%s names session %q: %w", filepath.Join(dir, specFile), s.ID, errForeignSpec)
	}
	return s, nil
}

var errForeignSpec = errors.New("the spec belongs to another session")

// The size policies.
const (
	SizeWriter   = clients.SizeWriter
	SizeFixed    = clients.SizeFixed
	SizeSmallest = clients.SizeSmallest
)

// CheckSize refuses a terminal size that no screen has.
func CheckSize(cols, rows int) error { return clients.CheckSize(cols, rows) }

// Configured has the fields that the configuration may change while the session
// exists, as the configuration last set them. The server compares it with the file,
// so that only what has changed there replaces what a caller has set.
type Configured struct {
	Gate   gate.Config   `json:"gate"`
	Start  begin.Config  `json:"start,omitempty"`
	Notify []notify.Rule `json:"notify,omitempty"`

	Fields map[string]string `json:"fields,omitempty"` // a digest of each field that the file sets
}

// track is what the spec says of the agent.
func (s Spec) track() track.Spec {
	return track.Spec{
		Conversation: s.Conversation, Spoken: s.Spoken, Forked: s.forked(), Headless: s.Headless, Again: len(s.Again) > 0, Dir: s.Cwd, RealDir: s.StartedIn, TimeZone: s.Env["TZ"], IdleGrace: s.IdleGrace,
		Stream: s.Stream, Hooks: s.Isolate != agent.IsolateNone, StateFile: s.StateFile, LogFiles: s.LogFiles, Created: s.Created.Time,
	}
}

// logFolder is the folder below which the agent keeps its logs, empty when it
// has none.
func (s Spec) logFolder() string {
	folder, _, _ := strings.Cut(s.LogFiles, "/*/")
	return folder
}

// logs are those that may be read for the agent's.
func (s Spec) logs() tail.Below { return tail.Below{Folder: s.logFolder(), UID: s.owner()} }

func (s Spec) holder(pid int, start string) Holder {
	return Holder{PID: pid, UID: s.owner(), Start: start, ID: s.ID, Name: s.Name, Verbs: s.Children.AllVerbs()}
}

// Holder is a process that holds a session, or that the server runs for it.
type Holder struct {
	Command  bool   // it runs for the session and holds nothing
	PID      int    // 0 if the holder is unknown, or a session of another user is between two holders
	UID      int    // uid of its programs; hold.UnknownUID if unknown
	Start    string // its start time, because a later process may get the same PID; see hold.StartOf
	ID, Name string
	Verbs    []string // that what descends from it may use, beside what all such may
}
