package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"berth/agent"
	"berth/api"
	"berth/keys"
	"berth/sessions"
	"berth/sessions/events"
	"berth/terminal"
)

// heartbeatEvery is how often a quiet watch prints a heartbeat; the design promises 15 s.
const heartbeatEvery = 15 * time.Second

func watchVerb() *Verb {
	return &Verb{
		Name: "watch", Group: "follow", Synopsis: "[TARGET...] [--tree] [--type T,..|--state STATE,..] [--since CURSOR] [--past] [--full] [--until STATE] [--timeout D]",
		Short: "follow events, one a line",
		Examples: []Example{
			{"watch --timeout 1s", "each event as a line of JSON, for a second"},
			{"watch alpha --type state_change,prompt --timeout 1s", "what alpha becomes, and what it asks"},
			{"watch --state prompt,error,parked --timeout 1s", "who needs a person"},
			{"watch alpha --since 0 --past --timeout 1s", "what happened to alpha so far"},
			{"watch alpha --until idle --timeout 1s", "until alpha is idle"},
		},
		Need: keys.Viewer, MaxArgs: -1, Targets: true, Answer: api.EventHead{}, Others: lines(), Open: true, Run: watch,
		Flags: func(f *pflag.FlagSet) {
			f.StringSlice("type", nil, "only these types of events")
			f.StringSlice("state", nil, "only changes to one of these states")
			f.String("since", "", "print every event after this cursor (e123; at a fleet's gateway f123), or after event N of session S (S:N); 0 is the beginning")
			f.Bool("past", false, "stop after the newest event")
			f.Bool("full", false, "print hooks' payloads in full, also those over 64 KiB")
			f.String("until", "", "stop when a session is in this state")
			f.Duration("timeout", 0, "stop after this long, with status 10")
		},
	}
}

// lines are the lines of watch, by type.
func lines() map[string]any {
	all := map[string]any{"snapshot": snapshotLine{}, "live": streamLine{}, "heartbeat": streamLine{}, "end": endLine{}}
	for kind, data := range sessions.EventData {
		all[kind] = eventLine{kind, data}
	}
	return all
}

// eventLine is a line with an event, for its schema: the head, and in the same object the fields of its type.
type eventLine struct {
	kind string
	data any
}

// streamLine is a line about the stream itself.
type streamLine struct {
	Cursor string   `json:"cursor"`
	Type   string   `json:"type"`
	Time   api.Time `json:"time"`
}

// snapshotLine is the state of a session when a watch begins.
type snapshotLine struct {
	streamLine
	Session  string    `json:"session"`
	ID       string    `json:"id"`
	Seq      uint64    `json:"seq"`
	Snapshot api.State `json:"snapshot"`
}

// watcher is one call of watch: its filter, and where it reads.
type watcher struct {
	*Call
	targets []string
	types   map[string]bool
	states  map[agent.State]bool // changes to these only
	until   agent.State
	full    bool // hooks' payloads are printed whole
	stream
}

// stream is what a watch reads: this server's events, or those of a fleet's hosts.
type stream interface {
	// next waits for a line. Errors are those of ctx, events.ErrEnd, and of a log that can't be read.
	next(ctx context.Context) (streamed, error)
	// cursor is what was reached, as users see it.
	cursor() string
	// endNow ends the stream after the newest event that there is. False says that it is reached.
	endNow() bool
	// begin are the sessions that the words name, as they are now.
	begin(w *watcher) ([]seen, error)
	// concerns applies rights and targets to an event.
	concerns(w *watcher, line streamed) bool
	// idle says that the event's session is idle now.
	idle(line streamed) bool
}

// streamed is a line of a stream. host is empty for a line of this server's own stream, and for a gap in a fleet's.
type streamed struct {
	events.Line
	host string
}

// seen is a session when a watch begins.
type seen struct {
	name    string
	state   agent.State
	pending bool // its first message isn't taken, so it isn't at rest when it is idle
	line    func(head streamLine) any
}

// watch prints events as the log gets them. Without --since it first prints a line snapshot for each
// session, and then the line live. With --since it prints the log's events after that cursor, so a client
// continues from the last cursor that it has seen. After each quiet 15 s it prints a line heartbeat. These
// three lines have the cursor that the watch has reached, and aren't in the log. Neither is the line end,
// the last one of a watch that ends by itself. Targets, --type, --state and the caller's rights filter
// the events; a gap in the log is printed unless it is known that only other sessions lost events.
func watch(ctx context.Context, c *Call) error {
	w, err := newWatcher(c)
	if err != nil {
		return err
	}
	ctx, cancel, err := c.timeout(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	past, _ := c.flags.GetBool("past")
	switch {
	case past && !c.flags.Changed("since"):
		return Lookup("watch").usage(errors.New("--past needs --since: 0 is before the first event, S:0 before the first of a session"))
	case past && !w.endNow():
		return w.end("past")
	case past:
	case !c.flags.Changed("since"):
		if done, err := w.begin(); err != nil {
			return err
		} else if done {
			return w.end("until")
		}
	}
	reason, err := w.follow(ctx)
	switch {
	case err == nil:
		return w.end(reason)
	case !errors.Is(context.Cause(ctx), errWaited):
		return err
	}
	if err := w.end("timeout"); err != nil {
		return err
	}
	return statusError(api.CodeTimeout.Status())
}

// end prints why the watch ends, for every --type.
func (w *watcher) end(reason string) error {
	if !w.JSON {
		return nil
	}
	return w.printJSON(endLine{w.cursor(), "end", api.At(w.Now()), reason})
}

// endLine is the last line of a watch that ends by itself.
type endLine struct {
	Cursor string   `json:"cursor"`
	Type   string   `json:"type"`
	Time   api.Time `json:"time"`
	Reason string   `json:"reason"` // timeout, past, until
}

var errWaited = errors.New("waited long enough")

func newWatcher(c *Call) (w *watcher, err error) {
	w = &watcher{Call: c, targets: slices.Clone(c.Args)}
	since, _ := c.flags.GetString("since")
	if c.overFleet() {
		w.stream, err = c.fleetEvents(since)
	} else {
		w.stream, err = c.ownEvents(w, since)
	}
	if err != nil {
		return nil, err
	}
	if list, _ := c.flags.GetStringSlice("type"); len(list) > 0 {
		w.types = map[string]bool{}
		for _, t := range list {
			if !sessions.KnownEvent(t) {
				return nil, api.Errorf(api.CodeUsage, "unknown event type %s: give one of %s", api.Quote(t), strings.Join(sessions.EventTypes, " "))
			}
			w.types[t] = true
		}
	}
	if w.states, err = c.statesOf("state"); err != nil {
		return nil, err
	}
	if w.states != nil && w.types != nil {
		return nil, Lookup("watch").usage(errors.New("--state and --type exclude each other"))
	}
	if until, _ := c.flags.GetString("until"); until != "" {
		if w.until = agent.State(until); !knownState(w.until) {
			return nil, unknownState(until)
		}
	}
	w.full, _ = c.flags.GetBool("full")
	return w, nil
}

// begin prints the current state of every session, and where the live part starts. It reports
// whether --until is already met.
func (w *watcher) begin() (done bool, err error) {
	list, err := w.stream.begin(w)
	if err != nil {
		return false, err
	}
	for _, one := range list {
		done = done || w.until != "" && one.state == w.until && !(one.state == agent.Idle && one.pending)
		if w.states != nil && !w.states[one.state] {
			continue
		}
		if err := w.print("snapshot", one.line, func(out io.Writer) { fmt.Fprintf(out, "%s is %s\n", one.name, one.state) }); err != nil {
			return false, err
		}
	}
	return done, w.print("live", nil, func(io.Writer) {})
}

// print writes a line that isn't in the log: snapshot, live, heartbeat.
func (w *watcher) print(kind string, line func(streamLine) any, text func(io.Writer)) error {
	if w.types != nil && !w.types[kind] {
		return nil
	}
	head := streamLine{w.cursor(), kind, api.At(w.Now())}
	if line == nil {
		return w.answer(head, text)
	}
	return w.answer(line(head), text)
}

// follow prints events until the caller leaves, --until is met or --timeout ends. It returns why it
// ended, unless with an error.
func (w *watcher) follow(ctx context.Context) (reason string, err error) {
	for {
		// An event that doesn't concern this watcher doesn't delay the heartbeat.
		quiet, cancel := context.WithTimeout(ctx, heartbeatEvery)
		line, err := w.nextWanted(quiet)
		cancel()
		switch {
		case errors.Is(err, events.ErrEnd):
			return "past", nil
		case ctx.Err() != nil:
			return "", ctx.Err()
		case errors.Is(err, context.DeadlineExceeded):
			err = w.print("heartbeat", nil, func(io.Writer) {})
		case err != nil:
			return "", fmt.Errorf("read the event log: %w", err)
		default:
			err = w.tell(ctx, line)
		}
		if err != nil {
			return "", err
		}
		if w.ends(line) {
			return "until", nil
		}
	}
}

// ends reports whether --until is met with this event. A session's first message counts as work while it is
// queued.
func (w *watcher) ends(line streamed) bool {
	switch {
	case w.until == "":
		return false
	case line.Type == "state_change":
		next, waits := sessions.NextState(line.Raw)
		return next == w.until && !waits
	case w.until == agent.Idle && sessions.FirstNotTaken(line.Line):
		return w.idle(line)
	}
	return false
}

// nextWanted waits for an event that this watcher may see and asked for.
func (w *watcher) nextWanted(ctx context.Context) (streamed, error) {
	for {
		line, err := w.next(ctx)
		if err != nil {
			return line, err
		}
		if w.concerns(w, line) && (w.wants(line) || w.ends(line)) {
			return line, nil
		}
	}
}

// wants applies --type and --state. A gap may stand for events that the watcher wants.
func (w *watcher) wants(line streamed) bool {
	if w.states != nil && line.Type != events.TypeGap {
		if line.Type != "state_change" {
			return false
		}
		next, _ := sessions.NextState(line.Raw)
		return w.states[next]
	}
	return w.types == nil || w.types[line.Type] || line.Type == events.TypeGap
}

func (w *watcher) tell(ctx context.Context, line streamed) error {
	if !w.wants(line) {
		return nil
	}
	if w.full && line.Type == "hook" {
		if s, ok := w.Sessions.Find(line.ID); ok {
			leave, err := w.answers.enter(ctx, w.Identity(), largeAnswer, 0)
			if err != nil {
				return err
			}
			defer leave()
			line.Raw = s.WholeHook(line.Line)
		}
	}
	return w.printLine(line.Line)
}

func (w *watcher) printLine(line events.Line) error {
	if w.JSON {
		text := api.WithNewNames(terminal.EscapeJSON(append(slices.Clip(line.Raw), '\n')), line.Type+" event")
		_, err := w.Out.Write(w.lines(text))
		return err
	}
	text := fmt.Sprintf("%s  %-16s %-14s %s\n", line.Time.Local().Format("15:04:05"), line.Session, line.Type, sessions.Describe(line))
	_, err := w.Out.Write(w.lines([]byte(terminal.Printable(strings.TrimSuffix(text, "\n")) + "\n")))
	return err
}

// statesOf are the states that an option lists; nil without the option.
func (c *Call) statesOf(option string) (map[agent.State]bool, error) {
	if !c.flags.Changed(option) {
		return nil, nil
	}
	list, _ := c.flags.GetStringSlice(option)
	states := map[agent.State]bool{}
	for _, word := range list {
		if !knownState(agent.State(word)) {
			return nil, unknownState(word)
		}
		states[agent.State(word)] = true
	}
	return states, nil
}

func knownState(s agent.State) bool {
	for _, known := range agent.States {
		if s == known {
			return true
		}
	}
	return false
}

func unknownState(word string) error {
	var list []string
	for _, s := range agent.States {
		list = append(list, string(s))
	}
	return api.Errorf(api.CodeUsage, "unknown state %s: give one of %s", api.Quote(word), strings.Join(list, " "))
}
