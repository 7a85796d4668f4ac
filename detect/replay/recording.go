// Package replay runs recordings of an agent through detection, on the recordings' own clock: the
// PTY's output, and with it the hooks, the session log and the live state file. Load reads a
// Recording; Run returns the transitions. berth explain --file and detection's tests call it. All
// of it is synchronous.
package replay

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"berth/agent"
)

// Recording is one recorded run.
type Recording struct {
	Name       string
	Cols, Rows int
	Start      time.Time
	events     []event       // without the session log's lines
	End        time.Duration // of the program's output
	running    bool          // the program still ran at the end
	logged     []logLine
	dir        string // the folder that the program was started in, from its first hook
}

// sourceOf is the source of a kind's events.
var sourceOf = map[kind]agent.Source{hooked: agent.SourceHook, logged: agent.SourceLog, registered: agent.SourceRegistry}

func sortEvents(events []event) {
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
}

// event is one event of the recording.
type event struct {
	at    time.Duration
	stamp time.Duration // the time that the source itself gives
	kind  kind
	data  []byte
	name  string
	cols  int
	rows  int
}

type kind int

const (
	output kind = iota
	resized
	typed
	hooked
	logged
	registered
)

// StillRunning is the marker (asciicast's event m) at the end of a recording whose
// program had not ended.
const StillRunning = "still running"

// ErrRecording is the error for a file that isn't a recording.
var ErrRecording = errors.New("not a recording")

// Load reads NAME.cast (asciicast 2) and, if they exist next to it, NAME.hooks.jsonl,
// NAME.log.jsonl and NAME.sessions-dir.json.
func Load(fsys fs.FS, cast string) (*Recording, error) {
	data, err := fs.ReadFile(fsys, cast)
	if err != nil {
		return nil, fmt.Errorf("read the recording: %w", err)
	}
	base := strings.TrimSuffix(cast, ".cast")
	r := &Recording{Name: path.Base(base)}
	if err := r.cast(data); err != nil {
		return nil, fmt.Errorf("read %s: %w", cast, err)
	}
	for suffix, read := range map[string]func([]byte) error{
		".hooks.jsonl": r.hooks, ".sessions-dir.json": r.registry, ".log.jsonl": r.log,
	} {
		if err := beside(fsys, base+suffix, read); err != nil {
			return nil, err
		}
	}
	sortEvents(r.events)
	return r, nil
}

func beside(fsys fs.FS, name string, read func([]byte) error) error {
	data, err := fs.ReadFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = read(data)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}

// lines calls fn for each line that isn't blank.
func lines(data []byte, fn func([]byte) error) error {
	s := bufio.NewScanner(bytes.NewReader(data))
	s.Buffer(nil, 64<<20)
	for n := 1; s.Scan(); n++ {
		if len(bytes.TrimSpace(s.Bytes())) == 0 {
			continue
		}
		if err := fn(bytes.Clone(s.Bytes())); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return s.Err()
}

// Typed reports whether the recording has what was typed.
func (r *Recording) Typed() bool {
	return slices.ContainsFunc(r.events, func(e event) bool { return e.kind == typed })
}

func seconds(t float64) time.Duration { return time.Duration(t * float64(time.Second)) }

// replies is input that a terminal sends by itself: replies to queries, and reports of focus.
var replies = regexp.MustCompile(`^(\x1b\][^\x07\x1b]*(\x07|\x1b\\)|\x1b\[[?>]?[\d;:]*[cRynt]|\x1b\[\?\d*u|\x1b\[[IO]|\x1bP[^\x1b]*\x1b\\)+$`)

func (r *Recording) cast(data []byte) error {
	first := true
	return lines(data, func(line []byte) error {
		if first {
			first = false
			var h struct {
				Version, Width, Height int
				Timestamp              float64 // in seconds, with a fraction where the start is known that precisely
			}
			if err := json.Unmarshal(line, &h); err != nil || h.Version != 2 {
				return fmt.Errorf("%w: the first line isn't an asciicast 2 header", ErrRecording)
			}
			r.Cols, r.Rows, r.Start = h.Width, h.Height, time.UnixMilli(int64(math.Round(h.Timestamp*1000)))
			return nil
		}
		var t float64
		var code, text string
		if err := json.Unmarshal(line, &[]any{&t, &code, &text}); err != nil {
			return fmt.Errorf("%w: %w", ErrRecording, err)
		}
		e := event{at: seconds(t), data: []byte(text)}
		switch code {
		case "o":
			e.kind = output
			r.End = max(r.End, e.at)
		case "r":
			e.kind = resized
			if _, err := fmt.Sscanf(text, "%dx%d", &e.cols, &e.rows); err != nil {
				return fmt.Errorf("%w: size %q", ErrRecording, text)
			}
		case "m":
			if text == StillRunning {
				r.running, r.End = true, max(r.End, e.at)
			}
			return nil
		case "i":
			if replies.MatchString(text) {
				return nil
			}
			e.kind = typed
		default:
			return nil
		}
		r.events = append(r.events, e)
		return nil
	})
}

func (r *Recording) hooks(data []byte) error {
	return lines(data, func(line []byte) error {
		var h struct {
			T       float64
			Payload json.RawMessage
		}
		if err := json.Unmarshal(line, &h); err != nil {
			return fmt.Errorf("%w: %w", ErrRecording, err)
		}
		var place struct{ Cwd string }
		if r.dir == "" && json.Unmarshal(h.Payload, &place) == nil {
			r.dir = place.Cwd
		}
		if h.T >= 0 { // earlier hooks are from another run with the same settings
			r.events = append(r.events, event{at: seconds(h.T), kind: hooked, data: h.Payload})
		}
		return nil
	})
}

// registry reads [seconds, name, text] for each version of each file. The times in the files come
// from another clock. It finds the offset between the clocks from the fact that no file was read
// before it was written.
func (r *Recording) registry(data []byte) error {
	var all [][]any
	if err := json.Unmarshal(data, &all); err != nil {
		return fmt.Errorf("%w: %w", ErrRecording, err)
	}
	first := len(r.events)
	ahead := time.Duration(math.MinInt64)
	for _, one := range all {
		if len(one) != 3 {
			return fmt.Errorf("%w: %v", ErrRecording, one)
		}
		t, _ := one[0].(float64)
		name, _ := one[1].(string)
		text, ok := one[2].(string)
		if !ok {
			continue // the file was removed
		}
		e := event{at: seconds(t), kind: registered, name: name, data: []byte(text)}
		var written struct{ StatusUpdatedAt int64 }
		if json.Unmarshal(e.data, &written) == nil && written.StatusUpdatedAt > 0 {
			e.stamp = time.Duration(written.StatusUpdatedAt) * time.Millisecond
			ahead = max(ahead, e.stamp-e.at)
		}
		r.events = append(r.events, e)
	}
	for i := range r.events[first:] {
		if e := &r.events[first+i]; e.stamp > 0 {
			e.stamp -= ahead
		}
	}
	return nil
}

// otherFile is how far a line's time jumps back when the line is the first of another log that was
// appended to the recorded one.
const otherFile = time.Second

// log keeps the lines. They have the time of day; only a driver can find where in it the recording
// started.
func (r *Recording) log(data []byte) error {
	return lines(data, func(line []byte) error {
		var l struct{ Timestamp time.Time }
		if json.Unmarshal(line, &l) == nil { // a line without JSON was truncated when it was recorded
			r.logged = append(r.logged, logLine{l.Timestamp, line})
		}
		return nil
	})
}

// logLine is a line of the session log and the time it gives, zero for none.
type logLine struct {
	time time.Time
	data []byte
}

// all returns the recording's events and the log's lines in the order that they arrive in, some
// sources' later than recorded. The driver finds the start of the recording in the log's times.
func (r *Recording) all(d agent.Driver, late map[agent.Source]time.Duration) []event {
	begin := r.began(d)
	at := time.Duration(0)
	events := slices.Clone(r.events)
	for _, l := range r.logged {
		facts, _ := d.Log(l.data)
		for _, f := range facts { // a message that is written again has the time of its new part
			if f.At.After(l.time) {
				l.time = f.At
			}
		}
		if own := l.time.Sub(begin); !l.time.IsZero() && (own > at || own < at-otherFile) {
			at = own
		}
		if at < 0 {
			continue // from an earlier run
		}
		events = append(events, event{at: at, stamp: at, kind: logged, data: l.data})
	}
	for i := range events {
		events[i].at += late[sourceOf[events[i].kind]]
	}
	sortEvents(events)
	return events
}

// hookZero is the time of day of the recording's start, from the times in the hooks' events. It is the
// latest that all of them allow, because no event was received before it happened.
func (r *Recording) hookZero(d agent.Driver) (zero time.Time, ok bool) {
	for _, e := range r.events {
		if e.kind != hooked {
			continue
		}
		facts, _ := d.Hook(e.data) // an unknown event has no time
		for _, f := range facts {
			if at := f.At.Add(-e.at); !f.At.IsZero() && at.After(zero) {
				zero, ok = at, true
			}
		}
	}
	return zero, ok
}

// began is the time of day of the recording's start: the median over the turns' starts, which both
// the hooks and the log report. Without one it uses the turns' ends.
func (r *Recording) began(d agent.Driver) time.Time {
	started, ended := map[string]time.Duration{}, map[string]time.Duration{}
	for _, e := range r.events {
		if e.kind != hooked {
			continue
		}
		facts, _ := d.Hook(e.data) // an unknown event has no time
		for _, f := range facts {
			switch {
			case f.Turn == "" || f.Agent != "":
			case f.Kind == agent.TurnStarted:
				started[f.Turn] = e.at
			case f.How != "":
				ended[f.Turn] = e.at
			}
		}
	}
	var begins, ends []time.Time
	for _, l := range r.logged {
		facts, _ := d.Log(l.data)
		for _, f := range facts {
			if at, ok := started[f.Turn]; ok && f.Kind == agent.TurnStarted && f.Text != "" {
				begins = append(begins, l.time.Add(-at))
				delete(started, f.Turn)
			}
			if at, ok := ended[f.Turn]; ok && f.Kind == agent.TurnEnded {
				ends = append(ends, l.time.Add(-at))
				delete(ended, f.Turn)
			}
		}
	}
	if len(begins) == 0 {
		begins = ends
	}
	if zero, ok := r.hookZero(d); ok && len(begins) == 0 {
		return zero
	}
	if len(begins) == 0 {
		return r.Start
	}
	slices.SortFunc(begins, func(a, b time.Time) int { return a.Compare(b) })
	return begins[len(begins)/2]
}
