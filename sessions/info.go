package sessions

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"slices"

	"berth/api"
	"berth/sessions/hold"
	"berth/sessions/track"
)

// stateNow is embedded under a name that none of its fields has: its field State would
// be hidden from the schema by an embedded State.
type stateNow = api.State

// Info is the answer of the verb info.
type Info struct {
	stateNow
	Profile      string              `json:"profile"`
	Command      []string            `json:"command"` // arguments are shown to admins alone
	User         string              `json:"user"`    // the OS user that its program runs as
	Env          map[string]string   `json:"env"`     // values are shown to admins alone, and those of secret names are never shown
	EnvFile      string              `json:"env_file"`
	EnvPass      []string            `json:"env_pass"`
	LoginEnv     bool                `json:"login_env"`
	SizePolicy   string              `json:"size_policy"`
	Restart      string              `json:"restart"`
	Limits       InfoLimits          `json:"limits"`
	Tags         []string            `json:"tags"`
	Team         *string             `json:"team"`  // sessions of one team may send each other messages; null: it has none
	Peers        []string            `json:"peers"` // who may send it messages, by name or tag:T; null: its team
	Meta         map[string]string   `json:"meta"`  // values of secret names are shown to admins alone
	Parent       *string             `json:"parent"`
	Depth        int                 `json:"depth"`
	Children     *Children           `json:"children"` // what its agent may start; null: nothing
	Created      api.Time            `json:"created"`
	CreatedBy    string              `json:"created_by"`
	Driven       bool                `json:"driven"` // berth has a driver for its agent
	Rules        *string             `json:"rules"`  // name of those that its program is read by; null: none
	Isolate      string              `json:"isolate"`
	Groom        string              `json:"groom"`
	AfterLimit   *string             `json:"after_limit"` // message that is sent when a limit is over; null: none
	Trust        bool                `json:"trust"`
	AcceptBypass bool                `json:"accept_bypass"`
	Settings     []string            `json:"settings"`          // names of the session's own, for the agent
	MCP          []string            `json:"mcp"`               // names of its servers of tools
	AgentVersion *track.AgentVersion `json:"agent_version"`     // null while the agent has not reported it
	Mismatches   []DriverMismatch    `json:"driver_mismatches"` // sources that are believed by the slow rule
	Conversation string              `json:"conversation"`      // the agent's id of it; empty for a program without a driver, or while not known
	Resumable    bool                `json:"resumable"`         // restart takes the conversation up, and fork can begin from it
	Fork         *InfoFork           `json:"fork"`              // what it began as a copy of
	Started      api.Time            `json:"started"`
	Title        string              `json:"title"`
	PID          int                 `json:"pid"`
	HolderPID    int                 `json:"holder_pid"`
	Cols         int                 `json:"cols"`
	Rows         int                 `json:"rows"`
	TotalWritten int64               `json:"total_written"`
	OutputFrom   int64               `json:"output_from"` // oldest byte kept
	LostBytes    int64               `json:"lost_bytes"`
	Problem      string              `json:"problem"`
	Orphans      []int               `json:"orphans"` // of a lost program: processes that run on; kill, restart and rm end them
}

// InfoFork is the conversation that a session's own began as a copy of.
type InfoFork struct {
	ID           string `json:"id"` // of the session
	Conversation string `json:"conversation"`
}

func names(m map[string]any) []string {
	return append([]string{}, slices.Sorted(maps.Keys(m))...)
}

// serverNames are the servers of tools, which may stand below a key of their
// own, as in the agent's file.
func serverNames(mcp map[string]any) []string {
	if whole, ok := mcp["mcpServers"].(map[string]any); ok {
		return names(whole)
	}
	return names(mcp)
}

// InfoLimits is how info shows a session's limits.
type InfoLimits struct {
	Output        int64 `json:"output"`
	Scrollback    int   `json:"scrollback"`
	TTLMS         int64 `json:"ttl_ms"`
	IdleTimeoutMS int64 `json:"idle_timeout_ms"`

	Memory    *int64   `json:"memory_bytes"` // null: no limit
	Processes *int     `json:"processes"`
	CPU       *float64 `json:"cpu"` // processors
}

func (l Limits) info() InfoLimits {
	i := InfoLimits{Output: l.Output, Scrollback: l.Scrollback, TTLMS: l.TTL.Milliseconds(), IdleTimeoutMS: l.IdleTimeout.Milliseconds()}
	if l.Memory != 0 {
		i.Memory = &l.Memory
	}
	if l.Processes != 0 {
		i.Processes = &l.Processes
	}
	if l.CPU != 0 {
		cpu := float64(l.CPU) / 1000
		i.CPU = &cpu
	}
	return i
}

// orphans are what runs on of a lost program. One that cannot be looked for is
// not listed.
func (s *Session) orphans(st *Status) []int {
	pids := []int{}
	if st.Exit == nil || !st.Exit.Lost {
		return pids
	}
	left, _ := hold.Orphans(s.dir)
	for _, o := range left {
		pids = append(pids, o.PID())
	}
	return pids
}

// Info is all there is to know of the session but its secrets. Values that may
// be secret whatever their names are, those of the environment and the
// command's arguments, are for admins alone: whole says that the caller is one.
func (s *Session) Info(whole bool) Info {
	st := s.Status()
	e := s.reg.options.Environment
	env, argv, meta := maps.Clone(e.Redact(st.Env)), st.Command, st.Meta
	if !whole {
		argv, meta = slices.Clone(argv), e.Redact(meta)
		for i := range argv[1:] {
			argv[i+1] = api.Hidden
		}
		for name := range env {
			env[name] = api.Hidden
		}
	}
	i := Info{
		stateNow: st.State(s.reg.now()), Profile: st.Profile, Command: argv, User: cmp.Or(st.User, e.User), Env: env,
		EnvFile: st.EnvFile, EnvPass: noNil(st.EnvPass), LoginEnv: st.LoginEnv, SizePolicy: string(st.SizePolicy), Restart: string(st.Spec.Restart),
		Limits: st.Limits.info(),
		Tags:   noNil(st.Tags), Team: orNil(st.Team), Peers: st.Peers, Meta: meta, Parent: orNil(st.Parent), Depth: st.Depth, Created: st.Created, CreatedBy: st.CreatedBy,
		Driven: st.Driven, Rules: orNil(st.RulesName), Isolate: string(st.Isolate), Groom: string(st.Groom), AfterLimit: orNil(st.AfterLimit), Trust: st.Trust, AcceptBypass: st.AcceptBypass, Settings: names(st.Settings), MCP: serverNames(st.MCP),
		AgentVersion: st.AgentVersion, Mismatches: noNil(st.Mismatches), Conversation: st.Talk(), Resumable: s.reg.resumable(st),
		Started: api.At(st.Started), Title: st.Row().Title, PID: st.PID, HolderPID: st.HolderPID, Cols: st.Cols, Rows: st.Rows,
		TotalWritten: st.Offset, LostBytes: st.Losses, Problem: st.Problem, Orphans: s.orphans(st),
	}
	if st.Fork.Conversation != "" {
		i.Fork = &InfoFork{st.Fork.Session, st.Fork.Conversation}
	}
	if len(st.Children.Profiles) > 0 {
		i.Children = &Children{Profiles: st.Children.Profiles, Max: st.Children.Max, Depth: st.Children.Depth, Total: st.Children.Total, LifetimeMS: st.Children.LifetimeMS, Cwd: noNil(st.Children.Cwd), Starts: st.Children.starts(), Keep: st.Children.keep(), Verbs: noNil(st.Children.Verbs), InboxOnly: st.Children.InboxOnly}
	}
	if i.Meta == nil {
		i.Meta = map[string]string{}
	}
	out := hold.OpenOutput(s.dir)
	defer out.Close()
	if first, next, err := out.Range(); err == nil {
		i.OutputFrom, i.TotalWritten = first, max(next, i.TotalWritten)
	}
	return i
}

func noNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// OutputStart settles where reading output begins: at offset, or for a
// negative one at the oldest byte kept, or at the newest to follow from there.
func (s *Session) OutputStart(offset int64, newest bool) (int64, error) {
	if offset >= 0 {
		return offset, nil
	}
	out := hold.OpenOutput(s.dir)
	defer out.Close()
	first, next, err := out.Range()
	if err != nil {
		return 0, err
	}
	if newest {
		return next, nil
	}
	return first, nil
}

// Output reads kept output from an offset, at most limit bytes. Where output
// is gone the answer begins at the next byte there is: its offset says so.
func (s *Session) Output(offset, limit int64) (api.Output, error) {
	out := hold.OpenOutput(s.dir)
	defer out.Close()
	_, next, err := out.Range()
	if err != nil {
		return api.Output{}, err
	}
	if offset > next {
		return api.Output{}, api.Errorf(api.CodeBadRequest, "offset %d is past the end of the output, %d", offset, next).With("total_written", next)
	}
	answer := api.Output{Data: []byte{}, Offset: offset, NextOffset: offset, TotalWritten: next}
	buf := make([]byte, min(limit, max(next-offset, 1)))
	for int64(len(answer.Data)) < int64(len(buf)) {
		n, err := out.ReadAt(buf[len(answer.Data):], answer.NextOffset)
		var trimmed *hold.TrimmedError
		switch {
		case errors.As(err, &trimmed) && len(answer.Data) == 0:
			answer.Offset, answer.NextOffset = trimmed.First, trimmed.First
			continue
		case errors.As(err, &trimmed), errors.Is(err, io.EOF):
			return answer, nil
		case err != nil:
			return answer, err
		}
		answer.Data = buf[:len(answer.Data)+n]
		answer.NextOffset += int64(n)
	}
	return answer, nil
}
