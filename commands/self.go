package commands

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"berth/agent"
	"berth/api"
	"berth/audit/ship"
	"berth/keys"
	"berth/sessions"
)

// Version is the answer of the verb version.
type Version struct {
	Version   string   `json:"version"`
	Commit    *string  `json:"commit"`
	BuiltAt   api.Time `json:"built_at"`    // the commit's time
	API       int      `json:"api_version"` // of what verbs answer
	Protocol  int      `json:"protocol"`    // the newest of holder and hook
	Protocols []int    `json:"protocols"`   // all that this server speaks with holders
	Go        string   `json:"go"`
	OS        string   `json:"os"`
	Arch      string   `json:"arch"`
}

func versionVerb() *Verb {
	return &Verb{Name: "version", Group: "see", Short: "show the version",
		Examples: []Example{
			{"version", "the version of Berth and of its API"},
			{"version --json", "as JSON"},
		},
		Need: keys.Viewer, Answer: Version{}, Alone: true, Run: version}
}

func version(_ context.Context, c *Call) error {
	build, protocols := api.ThisBuild(), c.Sessions.Protocols()
	v := Version{Version: build.Version, Commit: build.Commit, BuiltAt: build.BuiltAt, API: api.Version,
		Protocol: protocols[len(protocols)-1], Protocols: protocols, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	return c.answer(v, func(w io.Writer) {
		fmt.Fprintf(w, "berth %s (%s, %s/%s), API %d\n", v.Version, v.Go, v.OS, v.Arch, v.API)
	})
}

// Whoami is the answer of the verb whoami.
type Whoami struct {
	Identity    string   `json:"identity"`
	Kind        string   `json:"kind"`
	Fingerprint string   `json:"fingerprint"`
	Role        string   `json:"role"`
	Sessions    []string `json:"sessions"`
	Verbs       []string `json:"verbs"`
	Expires     api.Time `json:"expires"`
	Source      string   `json:"source"`
	Client      string   `json:"client"`
}

func whoamiVerb() *Verb {
	return &Verb{Name: "whoami", Group: "see", Short: "show your identity and rights on this server",
		Examples: []Example{
			{"whoami", "who you are here, and what you may do"},
			{"whoami --json", "as JSON"},
		},
		Need: keys.Viewer, Answer: Whoami{}, Run: whoami}
}

func whoami(_ context.Context, c *Call) error {
	id := c.Identity()
	who := Whoami{
		Identity: id.Name, Kind: string(id.Kind), Fingerprint: id.Fingerprint, Role: id.Role.String(),
		Sessions: emptyNotNull(id.Sessions), Verbs: emptyNotNull(id.Verbs), Expires: api.At(id.Expires), Source: id.Source, Client: c.Client,
	}
	return c.answer(who, func(w io.Writer) {
		fmt.Fprintf(w, "%s: %s, %s", who.Identity, who.Kind, who.Role)
		if who.Fingerprint != "" {
			fmt.Fprintf(w, ", key %s", who.Fingerprint)
		}
		fmt.Fprintln(w)
	})
}

// emptyNotNull prints an absent list as [], which a shell's jq loops over.
func emptyNotNull[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func healthVerb() *Verb {
	return &Verb{Name: "health", Group: "see", Short: "server health",
		Examples: []Example{
			{"health", "is the server well?"},
			{"health --json", "as JSON, for a monitor"},
		},
		Need: keys.Viewer, Answer: Health{}, Run: health}
}

// Health is the answer of the verb health.
type Health struct {
	OK       bool                       `json:"ok"`
	Version  string                     `json:"version"`
	PID      int                        `json:"pid"`
	Started  api.Time                   `json:"started"`
	UptimeMS int64                      `json:"uptime_ms"`
	Sessions map[string]int             `json:"sessions"` // by state
	Problems []string                   `json:"problems"`
	Hooks    sessions.HookHealth        `json:"hooks"`             // since the server began
	Mismatch []sessions.SessionMismatch `json:"driver_mismatches"` // sources of agents' states that follow the slow rule

	// The fields below are totals over all sessions and callers; null for a caller who doesn't see
	// every session.
	Events    *sessions.EventHealth `json:"events"`
	Disk      *sessions.Disk        `json:"disk"`
	Memory    *sessions.Memory      `json:"memory"`
	Edge      Counts                `json:"edge"`
	Goroutine *int                  `json:"goroutines"`
}

// Counts are the counters of the SSH edge and its limits.
type Counts map[string]any

func health(_ context.Context, c *Call) error {
	all := c.Identity().SeesAll()
	inside := c.Sessions.Health(c.sees, all)
	if c.Audit.Failing() {
		inside.Problems = append(inside.Problems, "the audit log can't be written: until it can, only kill, rm, interrupt, unlock, access rm, guest narrow and guest revoke change anything")
	}
	if all && c.Shipped != nil {
		inside.Problems = append(inside.Problems, unshipped(c.Shipped())...)
	}
	h := Health{
		OK: len(inside.Problems) == 0, Version: api.ThisBuild().Version, PID: inside.PID, Started: api.At(c.Started),
		UptimeMS: c.Now().Sub(c.Started).Milliseconds(), Sessions: inside.States, Problems: emptyNotNull(inside.Problems),
		Events: inside.Events, Disk: inside.Disk, Memory: inside.Memory, Hooks: inside.Hooks, Mismatch: inside.Mismatches,
	}
	if all {
		running := runtime.NumGoroutine()
		h.Goroutine = &running
	}
	if all && c.Edge != nil {
		h.Edge = c.Edge()
	}
	return c.answer(h, func(w io.Writer) {
		if h.OK {
			fmt.Fprintf(w, "ok: up %s; sessions: %s\n", (time.Duration(h.UptimeMS) * time.Millisecond).Round(time.Second), counts(h.Sessions))
			return
		}
		for _, p := range h.Problems {
			fmt.Fprintln(w, "problem:", p)
		}
	})
}

// unshipped is what is wrong with the shipping of the audit log.
func unshipped(st *ship.Status) (problems []string) {
	if st == nil {
		return nil
	}
	if st.Err != nil {
		problems = append(problems, fmt.Sprintf("the audit log isn't shipped after line %d: %v", st.Sent, st.Err))
	}
	if st.Begun {
		problems = append(problems, "the audit log was removed or replaced while the server did not run: it is shipped from its oldest line")
	}
	if st.Lost > 0 {
		problems = append(problems, fmt.Sprintf("%d lines of the audit log were removed before they could be shipped", st.Lost))
	}
	return problems
}

// counts says how many sessions are in each state.
func counts(states map[string]int) string {
	var words []string
	for _, st := range agent.States {
		if n := states[string(st)]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, st))
		}
	}
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}
