package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"berth/agent"
	"berth/api"
	"berth/keys"
	"berth/sessions"
)

func waitVerb() *Verb {
	return &Verb{
		Name: "wait", Group: "follow", Synopsis: "TARGET... [--until STATE,..] [--text REGEX] [--after SEQ] [--all] [--queued ID] [--timeout D]",
		Short: "wait until a session is idle, reaches a state, or shows a text",
		Examples: []Example{
			{"wait alpha --timeout 1s", "until alpha is idle"},
			{"wait alpha --until prompt,error,parked --timeout 1s", "until it needs a person"},
			{"wait alpha beta --all --timeout 1s", "until both are idle"},
			{"wait alpha --queued q0 --timeout 1s", "until the turn of its first message has ended"},
			{`wait alpha --text '"tests? passed"' --timeout 1s`, "until its screen shows a text"},
		},
		Need: keys.Viewer, MinArgs: 1, MaxArgs: -1, Targets: true, Answer: api.State{}, Run: wait,
		Flags: func(f *pflag.FlagSet) {
			f.StringSlice("until", nil, "states to wait for; default idle; prompt, error, parked and exited end that wait too")
			f.String("text", "", "a regular expression that a line of the screen matches")
			f.Uint64("after", 0, "only consider what happened after event number SEQ of the session")
			f.Bool("all", false, "wait for every target, not just the first")
			f.String("queued", "", "wait for the end of the turn of this queued message: status 0 idle, 20 prompt, 21 error, 22 exited")
			f.Duration("timeout", 0, "stop waiting after this long, with status 10")
		},
	}
}

// condition is what one call of wait waits for.
type condition struct {
	until   map[agent.State]bool // if empty: idle, and the states that end a wait for idle
	pattern string               // of --text
	text    *regexp.Regexp
	looks   *matcher // runs text
	after   uint64
	queued  string // id of the message whose turn is waited for, see waitQueued
}

func wait(ctx context.Context, c *Call) error {
	cond, err := c.condition()
	if err != nil {
		return err
	}
	list, err := c.targets(c.Args, needsOne)
	if err != nil {
		return err
	}
	if id, _ := c.flags.GetString("queued"); c.flags.Changed("queued") {
		if len(list) != 1 || c.flags.Changed("until") || c.flags.Changed("text") || c.flags.Changed("after") || c.flags.Changed("all") {
			return api.Errorf(api.CodeUsage, "--queued is for one session, without --until, --text, --after and --all")
		}
		patience, cancel, err := c.timeout(ctx)
		if err != nil {
			return err
		}
		defer cancel()
		return condition{queued: id}.late(patience, c.waitQueued(patience, list[0], id))
	}
	for _, s := range list {
		if err := cond.possible(s.Status()); err != nil {
			return err
		}
	}
	ctx, cancel, err := c.timeout(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	if cond.pattern != "" {
		looks, leave, err := c.matchers.enter(c.Identity(), searches)
		if err != nil {
			return err
		}
		defer leave()
		cond.looks = looks
		if cond.text, err = looks.compile(ctx, "--text", cond.pattern); err != nil {
			return cond.late(ctx, err)
		}
	}
	all, _ := c.flags.GetBool("all")
	worst, err := c.waitFor(ctx, list, cond, all)
	if err == nil && worst != api.StatusDone {
		return statusError(worst)
	}
	return cond.late(ctx, err)
}

// late is err, or an error that says that --timeout ended the wait.
func (cond condition) late(ctx context.Context, err error) error {
	var said *api.Error
	if err != nil && !errors.As(err, &said) && errors.Is(context.Cause(ctx), errWaited) {
		return api.Errorf(api.CodeTimeout, "%s was not reached within --timeout", cond)
	}
	return err
}

// timeout bounds ctx by --timeout, if that was given.
func (c *Call) timeout(ctx context.Context) (context.Context, context.CancelFunc, error) {
	d, _ := c.flags.GetDuration("timeout")
	if !c.flags.Changed("timeout") {
		return ctx, func() {}, nil
	}
	if d <= 0 {
		return nil, nil, api.Errorf(api.CodeUsage, "--timeout must be above 0, such as 30s")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, d, errWaited)
	return ctx, cancel, nil
}

func (c *Call) condition() (condition, error) {
	var cond condition
	until, err := c.statesOf("until")
	if err != nil {
		return cond, err
	}
	cond.until = until
	cond.after, _ = c.flags.GetUint64("after")
	if pattern, _ := c.flags.GetString("text"); c.flags.Changed("text") {
		if pattern == "" {
			return cond, api.Errorf(api.CodeUsage, "--text needs a regular expression")
		}
		if len(cond.until) > 0 {
			return cond, api.Errorf(api.CodeUsage, "--text and --until exclude each other")
		}
		cond.pattern = pattern
	}
	return cond, nil
}

func (cond condition) String() string {
	if cond.queued != "" {
		return "the end of the turn of " + cond.queued
	}
	if cond.pattern != "" {
		return "the text"
	}
	if len(cond.until) == 0 {
		return "idle"
	}
	var words []string
	for _, st := range agent.States {
		if cond.until[st] {
			words = append(words, string(st))
		}
	}
	return strings.Join(words, " or ")
}

// possible refuses to wait for a state that the session can never report.
func (cond condition) possible(st *sessions.Status) error {
	if cond.pattern != "" {
		return nil
	}
	can := sessions.Reportable(st)
	if len(cond.until) == 0 {
		if can[agent.Idle] {
			return nil
		}
	}
	for want := range cond.until {
		if can[want] {
			return nil
		}
	}
	if st.Now == agent.Exited && len(cond.until) == 0 {
		return nil // the answer is 22, at once
	}
	return api.Errorf(api.CodeNoDriver, "%s runs %s: Berth can't tell when it is %s. Use wait --text REGEX or --until exited",
		st.Name, api.Quote(st.Command[0]), cond).With("session", st.Name)
}

// waitFor waits on all targets at once and prints each one's state when its wait ends. It
// returns the highest exit status.
func (c *Call) waitFor(ctx context.Context, list []*sessions.Session, cond condition, all bool) (int, error) {
	var waiting sync.WaitGroup
	defer waiting.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type arrival struct {
		s      *sessions.Session
		status int
		err    error
		broken *broke
	}
	arrivals := make(chan arrival, len(list)) // each sends once, so no sender blocks after the first wins
	for _, s := range list {
		waiting.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					arrivals <- arrival{broken: &broke{p, debug.Stack()}}
				}
			}()
			status, err := cond.wait(ctx, s, func() error { return c.may("wait", keys.Viewer, s) })
			arrivals <- arrival{s: s, status: status, err: err}
		})
	}
	worst := api.StatusDone
	for range list {
		got := <-arrivals
		if got.broken != nil {
			panic(got.broken)
		}
		if got.err != nil {
			return worst, got.err
		}
		worst = max(worst, got.status)
		st := got.s.Status().State(c.Now())
		if err := c.answer(st, func(w io.Writer) { fmt.Fprintf(w, "%s is %s\n", st.Session, st.State) }); err != nil {
			return worst, err
		}
		if !all {
			return worst, nil
		}
	}
	return worst, nil
}

// textEvery bounds how often a constantly changing screen is searched.
const textEvery = 50 * time.Millisecond

// wait returns when the session meets the condition or can no longer meet it. Before each check
// it asks whether the caller may still see the session.
func (cond condition) wait(ctx context.Context, s *sessions.Session, may func() error) (int, error) {
	changed, stop := s.Subscribe()
	defer stop()
	for {
		if err := may(); err != nil {
			return 0, err
		}
		st := s.Status()
		met, err := cond.met(ctx, s, st)
		switch {
		case err != nil:
			return 0, err
		case met:
			return api.StatusDone, nil
		}
		if status, over := cond.over(st); over {
			return status, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
		if cond.text != nil {
			if err := pause(ctx, textEvery); err != nil {
				return 0, err
			}
		}
	}
}

func (cond condition) met(ctx context.Context, s *sessions.Session, st *sessions.Status) (bool, error) {
	if cond.text != nil {
		snap, err := s.Snapshot(ctx, 0)
		if err != nil {
			return false, err
		}
		return cond.looks.look(ctx, cond.text, snap.Text())
	}
	if st.StateSeq <= cond.after && cond.after > 0 {
		return false, nil
	}
	if len(cond.until) == 0 {
		return st.Now == agent.Idle && !st.FirstPending, nil // a queued message counts as work
	}
	return cond.until[st.Now] && !(st.Now == agent.Idle && st.FirstPending), nil
}

// over is the exit status of a wait that ends although its condition isn't met.
func (cond condition) over(st *sessions.Status) (int, bool) {
	if st.Now == agent.Exited {
		return api.StatusExited, true
	}
	if cond.text != nil || len(cond.until) > 0 || st.StateSeq <= cond.after && cond.after > 0 {
		return 0, false
	}
	switch st.Now {
	case agent.Prompt:
		return api.StatusPrompt, true
	case agent.InError, agent.Parked:
		return api.StatusError, true
	}
	return 0, false
}
