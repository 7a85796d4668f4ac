// Package doctor looks for what keeps a server from starting, callers from logging in and agents from
// running, and says for each what to do.
//
// A check is a function of an Env: what it looks at is in the Env's configuration, in the file system,
// or comes from one of its funcs, so that a test can give it any machine. A check changes nothing. With
// the configuration alone all checks run on the host without a server; the server gives what it knows
// besides.
package doctor

import (
	"context"
	"time"

	"berth/config"
)

// Status is how a check ended.
type Status string

// The statuses, from good to bad.
const (
	OK      Status = "ok"
	Warning Status = "warning" // it works, but not for long or not all of it
	Error   Status = "error"   // something doesn't work
)

// Result is what one check found.
type Result struct {
	Check   string `json:"check"`
	Status  Status `json:"status"`
	Message string `json:"message"`
	Remedy  string `json:"remedy"` // empty if the status is ok
}

// Env is the machine that is examined.
type Env struct {
	Config    *config.Config // nil with Problem
	Problem   error          // why the configuration could not be read
	Account   config.Account // of the server
	Hold      string         // berth-hold's file, or where it should be
	Now       func() time.Time
	Getenv    func(string) string
	Path      func(context.Context) (string, error)            // PATH as sessions get it
	Version   func(ctx context.Context, program string) string // what the agent's --version says; empty: nothing
	Server    func(context.Context) (*Server, error)           // the running server; nil if none runs
	Inside    bool                                             // the server itself examines
	FileLimit func() (uint64, error)                           // open files that a process may have
	Cgroups   func() (has string, err error)                   // what sessions' cgroups are, or why there are none; nil: only the server knows
}

// Server is a running server.
type Server struct {
	PID      int
	Listen   string // address of the SSH port
	Version  string
	Problems []string // what its health says
}

// checks is the one list of the checks, in the order of their results. A check that finds nothing says
// what is ok.
var checks = []struct {
	name string
	run  func(context.Context, *examination) []Result
}{
	{"config", checkConfig},
	{"state_dir", checkState},
	{"runtime_dir", checkRuntime},
	{"server", checkServer},
	{"listen", checkListen},
	{"keys", checkKeys},
	{"host_keys", checkHostKeys},
	{"berth_hold", checkHold},
	{"holders", checkHolders},
	{"path", checkPath},
	{"agents", checkAgents},
	{"programs", checkPrograms},
	{"disk", checkDisk},
	{"clock", checkClock},
	{"ulimits", checkLimits},
	{"cgroups", checkCgroups},
	{"lingering", checkLinger},
	{"audit", checkAudit},
}

// examination is one run of all checks.
type examination struct {
	Env
	server    *Server
	serverErr error
	path      string // PATH of sessions
	pathErr   error
}

// Run runs all checks, one after the other.
func Run(ctx context.Context, env Env) []Result {
	e := &examination{Env: env}
	if e.Config != nil {
		e.server, e.serverErr = env.Server(ctx)
		e.path, e.pathErr = env.Path(ctx)
	}
	var all []Result
	for _, c := range checks {
		if e.Config == nil && c.name != "config" {
			continue // all others need it
		}
		for _, r := range c.run(ctx, e) {
			r.Check = c.name
			all = append(all, r)
		}
	}
	return all
}

// Worst is the worst status, which is the exit status of the verb as well: 0, 1 or 2.
func Worst(results []Result) (Status, int) {
	order := map[Status]int{OK: 0, Warning: 1, Error: 2}
	worst := OK
	for _, r := range results {
		if order[r.Status] > order[worst] {
			worst = r.Status
		}
	}
	return worst, order[worst]
}

func ok(message string) []Result { return []Result{{Status: OK, Message: message}} }

func one(s Status, message, remedy string) []Result {
	return []Result{{Status: s, Message: message, Remedy: remedy}}
}
