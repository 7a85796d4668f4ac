// Package config reads Berth's configuration: berth.yaml, BERTH_* and flags, merged into one
// Config. Load returns all mistakes at once, each with its place (Problems). The package also
// finds and makes the folders of state and sockets, takes the server's lock, and asks login
// shells for the environment that sessions start with. cmd/berth calls it at the start and at
// each reload; a Config isn't changed after Load.
package config

import (
	"fmt"
	"log/slog"
	"net/netip"
	"path/filepath"
	"time"

	"berth/agent/generic/rules"
	"berth/keys"
)

// Config is a server's configuration. Load fills it.
type Config struct {
	Listen         string    `yaml:"listen"`         // HOST:PORT; port 0 takes a free one
	ListenMetrics  string    `yaml:"listen_metrics"` // loopback HOST:PORT or the path of a Unix socket; empty: none
	StateDir       string    `yaml:"state_dir" path:"yes"`
	RuntimeDir     string    `yaml:"runtime_dir" path:"yes"`
	Hold           string    `yaml:"hold" path:"yes"` // the berth-hold binary; empty: beside berth
	AuthorizedKeys []string  `yaml:"authorized_keys" path:"yes"`
	Authorize      []string  `yaml:"authorize" path:"yes"`    // .pub files whose keys are admins
	RevokedKeys    string    `yaml:"revoked_keys" path:"yes"` // empty: revoked_keys in the state folder
	HostKeys       []string  `yaml:"host_keys" path:"yes"`    // empty: host_key and host_key_* in the state folder
	StopSessions   bool      `yaml:"stop_sessions"`           // end the sessions at shutdown
	New            string    `yaml:"new"`                     // what callers may start sessions from: any, profiles
	Local          string    `yaml:"local"`                   // what callers on the socket are: a role, or key
	LogLevel       string    `yaml:"log_level"`               // debug, info, warn, error
	LogFormat      string    `yaml:"log_format"`              // text, json
	Prefix         string    `yaml:"prefix"`                  // see keys.ParsePrefixes
	Worktrees      string    `yaml:"worktrees"`               // folder of new worktrees; ~/ is the home of a session's user, so it isn't expanded here
	Clipboard      Clipboard `yaml:"clipboard"`               // whose clipboards programs set by OSC 52

	Limits    Limits    `yaml:"limits"`
	Retention Retention `yaml:"retention"`
	Audit     Audit     `yaml:"audit"`
	Fleet     Fleet     `yaml:"fleet"`

	PublicHost string   `yaml:"public_host"` // how clients reach the server: HOST or HOST:PORT
	Notify     []Notify `yaml:"notify"`      // of all sessions

	Rules map[string]rules.Set `yaml:"rules"` // by name, for programs without a driver

	Defaults Session            `yaml:"defaults"` // under every session
	Profiles map[string]Session `yaml:"profiles"` // by name, for new --profile
	Sessions []Session          `yaml:"sessions"` // started with the server

	File    string    `yaml:"-"` // the berth.yaml that was read; empty if there was none
	Notices []Problem `yaml:"-"` // problems that don't prevent a start
}

// Limits bound what clients can make the server hold or do.
type Limits struct {
	MaxStartups           int           `yaml:"max_startups"`            // connections at once that have not logged in
	PerSource             int           `yaml:"per_source"`              // of these, from one address
	LoginGrace            time.Duration `yaml:"login_grace"`             // time to log in
	MaxAuthTries          int           `yaml:"max_auth_tries"`          // keys offered in one connection
	ChannelsPerConnection int           `yaml:"channels_per_connection"` // at once
	EnvBytes              Bytes         `yaml:"env_bytes"`               // of environment that a client sends
	CommandBytes          Bytes         `yaml:"command_bytes"`           // of a command line
	InputBytes            Bytes         `yaml:"input_bytes"`             // of one verb's standard input
	VerbsPerSecond        int           `yaml:"verbs_per_second"`        // of one identity
	LoginsPerSecond       int           `yaml:"logins_per_second"`       // of one identity
	Connections           int           `yaml:"connections"`             // all at once
	CallerConnections     int           `yaml:"caller_connections"`      // of one key or session
	CallerChannels        int           `yaml:"caller_channels"`         // over all of these
	CallerUnread          Bytes         `yaml:"caller_unread"`           // of unread input, over all of these
	Penalty               time.Duration `yaml:"penalty"`                 // for each refused login
	PenaltyFrom           time.Duration `yaml:"penalty_from"`            // penalty from which a source is refused
	PenaltyMost           time.Duration `yaml:"penalty_most"`            // largest penalty
	PenaltyExempt         []string      `yaml:"penalty_exempt"`          // networks without penalties; nil: this machine
}

// Retention is how long ended sessions are kept. The first bound that is reached removes the
// session that ended first.
type Retention struct {
	Ended time.Duration `yaml:"ended"`
	Keep  int           `yaml:"keep"`  // sessions
	Total Bytes         `yaml:"total"` // of all ended sessions' folders

	Audit       Bytes         `yaml:"audit"`       // of the audit log, the oldest files go first
	AuditAge    time.Duration `yaml:"audit_age"`   // of its lines; zero keeps them forever
	Transcripts Bytes         `yaml:"transcripts"` // of one session's saved transcripts, the oldest go first
}

// Default is the configuration with nothing set. Folders are empty, because they depend on the
// environment; see Load.
func Default() Config {
	on := true
	return Config{
		Listen:    "127.0.0.1:2222",
		Local:     "admin",
		New:       "any",
		LogLevel:  "info",
		LogFormat: "text",
		Prefix:    `Ctrl-] Ctrl-\`,
		Worktrees: "~/.local/share/berth/worktrees",
		Clipboard: ClipboardWriter,
		Limits: Limits{
			MaxStartups:           512,
			PerSource:             256,
			LoginGrace:            20 * time.Second,
			MaxAuthTries:          6,
			ChannelsPerConnection: 64,
			EnvBytes:              64 * KiB,
			CommandBytes:          128 * KiB, // Linux's limit for one argument; SSH closes a connection at 256 KiB without a message
			InputBytes:            4 * MiB,
			VerbsPerSecond:        20_000, // bounds loops; above the rate of one busy connection
			LoginsPerSecond:       1000,   // likewise
			Connections:           4096,
			CallerConnections:     32,
			CallerChannels:        256,
			CallerUnread:          8 * MiB,
			Penalty:               5 * time.Second, // as OpenSSH's PerSourcePenalties
			PenaltyFrom:           15 * time.Second,
			PenaltyMost:           10 * time.Minute,
		},
		Retention: Retention{Ended: 7 * 24 * time.Hour, Keep: 50, Total: 10 * GB, Audit: GB, Transcripts: 256 * MiB},
		Defaults: Session{
			LoginEnv:   &on,
			Size:       Window{200, 50},
			SizePolicy: "writer",
			Restart:    "never",
			Limits:     SessionLimits{Output: 64 * MiB, Scrollback: 2000},
		},
	}
}

// NewProfiles is the value of new that keeps every caller to profiles.
const NewProfiles = "profiles"

// LocalKey is the value of local that makes callers on the socket prove a key.
const LocalKey = "key"

// LocalRole is the role of callers on the socket that aren't inside a session; None if they have
// to prove a key.
func (c *Config) LocalRole() keys.Role {
	role, err := keys.ParseRole(c.Local)
	if err != nil {
		return keys.None
	}
	return role
}

// Level is LogLevel in slog's terms.
func (c *Config) Level() slog.Level {
	var l slog.Level
	if l.UnmarshalText([]byte(c.LogLevel)) != nil {
		return slog.LevelInfo
	}
	return l
}

// Exempt is penalty_exempt as networks; nil if it isn't set.
func (l Limits) Exempt() ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, text := range l.PenaltyExempt {
		if addr, err := netip.ParseAddr(text); err == nil {
			out = append(out, netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen()))
			continue
		}
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("%s is neither an address nor a network", quote(text))
		}
		out = append(out, network.Masked())
	}
	return out, nil
}

// Prefixes are the control characters that the prefix keys send; empty if Prefix isn't valid.
func (c *Config) Prefixes() string {
	prefixes, _ := keys.ParsePrefixes(c.Prefix)
	return prefixes
}

// complete fills in the folders and files that depend on the environment.
func (c *Config) complete(getenv func(string) string, uid int) {
	if c.StateDir == "" {
		c.StateDir = stateDir(getenv)
	}
	if c.RuntimeDir == "" {
		c.RuntimeDir = runtimeDir(getenv, uid, ownFolder, c.StateDir)
	}
	if c.RevokedKeys == "" {
		c.RevokedKeys = filepath.Join(c.StateDir, "revoked_keys")
	}
	if c.AuthorizedKeys == nil {
		c.AuthorizedKeys = []string{filepath.Join(c.StateDir, "authorized_keys")}
	}
}
