package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Session describes a session to start. A zero field isn't set: its value comes from the profile,
// then from the defaults.
type Session struct {
	Name    string `yaml:"name"`
	Profile string `yaml:"profile"` // name of an entry of profiles

	Agent   string   `yaml:"agent"`
	Rules   string   `yaml:"rules"`   // name of an entry of rules
	Command []string `yaml:"command"` // argv, run without a shell
	Cwd     string   `yaml:"cwd" path:"yes"`

	Worktree *bool    `yaml:"worktree"` // work in a new git worktree of cwd's repository
	Setup    []string `yaml:"setup"`    // argv, run in that worktree before the command

	Env      map[string]string `yaml:"env"`
	EnvFile  string            `yaml:"env_file" path:"yes"`
	EnvPass  []string          `yaml:"env_pass"`  // names taken from the server's environment
	LoginEnv *bool             `yaml:"login_env"` // not nil after Resolve

	Prompt       string `yaml:"prompt"`
	Conversation string `yaml:"conversation"`
	Resume       string `yaml:"resume"`

	Size       Window `yaml:"size"`
	SizePolicy string `yaml:"size_policy"` // writer, fixed, smallest

	Groom        string         `yaml:"groom"`
	Trust        *bool          `yaml:"trust"`
	AcceptBypass *bool          `yaml:"accept_bypass"`
	Isolate      string         `yaml:"isolate"`
	Restart      string         `yaml:"restart"` // never, on-failure, always
	Settings     map[string]any `yaml:"settings"`
	MCP          Tools          `yaml:"mcp"`
	Children     *Children      `yaml:"children"`
	User         string         `yaml:"user"`

	Gate  Gate             `yaml:"gate"`
	Start map[string]Start `yaml:"start_context"` // by source; start is its older name

	AfterLimit string `yaml:"after_limit"` // message that is sent to the agent when a limit is over

	IdleGrace time.Duration `yaml:"idle_grace"` // of silence after which an agent counts as idle if no source reported the end of its turn
	Notify    []Notify      `yaml:"notify"`

	Limits SessionLimits     `yaml:"limits"`
	Tags   []string          `yaml:"tags"`
	Meta   map[string]string `yaml:"meta"`

	Team  string   `yaml:"team"`  // sessions of one team may send each other messages
	Peers []string `yaml:"peers"` // who may send it messages, by name or tag:T, in place of its team
}

// Tools are an agent's MCP servers by name, each with the agent's own fields. The word berth stands for a
// server: this one, as the session that the agent is in. That word in place of all is the one server.
type Tools map[string]any

// Gate keeps an agent from ending its turn. A single word in its place is the mode.
type Gate struct {
	Mode   string         `yaml:"mode"` // allow, gate, auto
	Text   string         `yaml:"text"` // of the mode gate
	Cap    int            `yaml:"cap"`  // blocks in a turn
	Schema map[string]any `yaml:"schema"`
}

// Children is what an agent inside a session may start, and what it may do to those sessions.
type Children struct {
	Profiles []string      `yaml:"profiles"`
	Max      int           `yaml:"max"`            // that run at once, with those that they start
	Depth    int           `yaml:"depth"`          // generations; 0: as deep as there are
	Total    int           `yaml:"total"`          // that are ever started, including their own children; 0: no bound
	Lifetime time.Duration `yaml:"lifetime"`       // of each of them; 0: no bound
	Cwd      []string      `yaml:"cwd" path:"yes"` // folders that the agent may give them, with what is in them
	Starts   int           `yaml:"starts"`         // started in a minute, including their own children; 0: the default
	Keep     int           `yaml:"keep"`           // ended ones that are kept, counted likewise; 0: the default
	Verbs    []string      `yaml:"verbs"`
	// InboxOnly: messages about their ends and reports wait for the verb inbox, and aren't typed.
	InboxOnly bool `yaml:"inbox_only"`
}

// Notify says who is notified when an agent waits, and how: notify.Rule has the meaning of the fields.
type Notify struct {
	Name     string   `yaml:"name"`
	On       []string `yaml:"on"` // prompt, error, parked, exited, idle>10m, report, report:KIND
	Command  []string `yaml:"command"`
	Run      []string `yaml:"run"` // the older name of command
	Webhook  string   `yaml:"webhook"`
	URL      string   `yaml:"url"` // the older name of webhook
	Secret   string   `yaml:"secret"`
	Ntfy     string   `yaml:"ntfy"`
	Token    string   `yaml:"token"`
	Slack    string   `yaml:"slack"`
	Telegram string   `yaml:"telegram"`
	Chat     string   `yaml:"chat"`
	Text     string   `yaml:"text"`
	Sessions []string `yaml:"sessions"` // patterns
	Tags     []string `yaml:"tags"`     // patterns
	Keyed    bool     `yaml:"-"`        // Name is its key in a group of rules
}

// Start is the context that an agent gets when a conversation starts: a text, or the output of a
// command.
type Start struct {
	Text string   `yaml:"text"`
	Run  []string `yaml:"run"`
}

// SessionLimits bound one session. Zero means no bound, but Output and Scrollback always have one
// after Resolve.
type SessionLimits struct {
	Output      Bytes         `yaml:"output"`       // of recording kept
	Scrollback  int           `yaml:"scrollback"`   // lines
	TTL         time.Duration `yaml:"ttl"`          // from its start
	IdleTimeout time.Duration `yaml:"idle_timeout"` // without output or input
	Memory      Bytes         `yaml:"memory"`       // of all its processes; needs a delegated cgroup
	Processes   int           `yaml:"processes"`    // with threads; likewise
	CPU         Processors    `yaml:"cpu"`          // likewise
}

// Over applies s on top of base: fields that s sets win, env and meta are merged by name, tags are
// joined.
func (s Session) Over(base Session) Session {
	overlay(reflect.ValueOf(&s).Elem(), reflect.ValueOf(base))
	return s
}

// overlay fills the unset fields of top from base; base stays unchanged.
func overlay(top, base reflect.Value) {
	for i := range top.NumField() {
		t, b := top.Field(i), base.Field(i)
		switch v := t.Interface().(type) {
		case map[string]string:
			merged := maps.Clone(b.Interface().(map[string]string))
			if merged == nil && v != nil {
				merged = map[string]string{}
			}
			maps.Copy(merged, v)
			t.Set(reflect.ValueOf(merged))
		case SessionLimits:
			overlay(t, b)
		default:
			if t.IsZero() {
				t.Set(b)
			} else if top.Type().Field(i).Name == "Tags" {
				t.Set(reflect.ValueOf(union(b.Interface().([]string), t.Interface().([]string))))
			}
		}
	}
}

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// Resolve completes a session: s over its profile over the defaults. A name in s that doesn't
// exist is an error.
func (c *Config) Resolve(s Session) (Session, error) {
	if s.Profile != "" {
		profile, ok := c.Profiles[s.Profile]
		if !ok {
			return s, fmt.Errorf("unknown profile %s%s", quote(s.Profile), c.profileHint(s.Profile))
		}
		name := s.Profile
		s = s.Over(profile)
		s.Profile = name
	}
	s = s.Over(c.Defaults)
	return s.Over(Default().Defaults), nil
}

func (c *Config) profileHint(name string) string {
	known := slices.Sorted(maps.Keys(c.Profiles))
	if near := suggest(name, known); near != "" {
		return ": did you mean " + near + "?"
	}
	if len(known) == 0 {
		return ": the configuration has none"
	}
	return ": there are " + strings.Join(known, ", ")
}

// expand makes a path of the configuration absolute: ~/ is the home folder, and a relative path
// starts at base.
func expand(path, base, home string) string {
	switch {
	case path == "" || filepath.IsAbs(path):
		return path
	case path == "~":
		return home
	case strings.HasPrefix(path, "~/"):
		return filepath.Join(home, path[2:])
	}
	return filepath.Join(base, path)
}
