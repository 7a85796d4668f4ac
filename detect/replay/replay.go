package replay

import (
	"encoding/json"
	"fmt"
	"time"

	"berth/agent"
	"berth/detect"
	"berth/terminal"
)

// Options of a run.
type Options struct {
	Without map[agent.Source]bool // sources to leave out
	// Late is how much later than recorded a source's reports arrive, as on a loaded machine.
	Late map[agent.Source]time.Duration
	// Pace is the delay between output and reading the screen; 0 means 25 ms.
	Pace time.Duration
	// Conversation is the conversation's id, if Berth chose it.
	Conversation string
	// Each, if set, is called with the fold after each event.
	Each func(at time.Duration, f *detect.Fold)
}

// Step is a transition and its time in the recording.
type Step struct {
	At time.Duration
	detect.Transition
}

// MarshalJSON makes the line that explain prints.
func (s Step) MarshalJSON() ([]byte, error) {
	line := struct {
		T        float64         `json:"t"`
		Prev     agent.State     `json:"prev"`
		Next     agent.State     `json:"next"`
		Prompt   *agent.Request  `json:"prompt,omitempty"`
		Failure  *agent.Failure  `json:"failure,omitempty"`
		Activity *agent.Activity `json:"activity,omitempty"`
		Tier     int             `json:"tier"`
		Cause    string          `json:"cause"`
		Evidence string          `json:"evidence,omitempty"`
	}{s.At.Seconds(), s.Prev, s.Next, s.Request, s.Failure, s.Activity, s.Tier, s.Cause, s.Evidence}
	out, err := json.Marshal(line)
	if err != nil {
		return nil, fmt.Errorf("encode transition: %w", err)
	}
	return out, nil
}

// Run replays the recording and returns every transition; the first is the start. A report that
// can't be read is left out, as in a live session.
func Run(r *Recording, d agent.Driver, o Options) []Step { return newPlayer(r, d, o).run() }

func newPlayer(r *Recording, d agent.Driver, o Options) *player {
	if o.Pace == 0 {
		o.Pace = 25 * time.Millisecond
	}
	p := &player{rec: r, driver: d, o: o}
	p.told, _ = r.hookZero(d)
	p.fold = detect.New(d, p.options())
	p.term = terminal.New(terminal.Options{
		Cols: r.Cols, Rows: r.Rows, Now: func() time.Time { return r.Start.Add(p.now) },
		Handlers: terminal.Handlers{Title: p.title, Notice: p.notice},
	})
	p.steps = []Step{{Transition: detect.Transition{Time: r.Start, Next: agent.Starting, Tier: agent.TierProcess, Cause: "process:start"}}}
	return p
}

func (p *player) run() []Step {
	for _, e := range p.rec.all(p.driver, p.o.Late) {
		if e.at > p.rec.End {
			break // the program had ended
		}
		p.until(e.at)
		p.play(e)
	}
	p.until(p.rec.End)
	p.look()
	if p.rec.running {
		return p.steps
	}
	p.apply(agent.Fact{Kind: agent.ProgramExited, Source: agent.SourceProcess, Cause: "process:exit"})
	return p.steps
}

type player struct {
	rec    *Recording
	driver agent.Driver
	o      Options
	fold   *detect.Fold
	term   *terminal.Terminal
	viewer detect.Viewer
	looks  detect.Looks
	ledger detect.Ledger
	now    time.Duration
	told   time.Time // the time of day of the recording's start, from the hooks' events
	unread bool
	readAt time.Duration
	steps  []Step
}

func (p *player) options() detect.Options {
	return detect.Options{Start: p.rec.Start, Conversation: p.o.Conversation, Dir: p.rec.dir, PromptID: func(n uint64, _ bool) string {
		return fmt.Sprintf("%s-%d", p.rec.Name, n)
	}}
}

// until advances the clock: it reads the screen and calls the fold's Tick when they are due.
func (p *player) until(at time.Duration) {
	for {
		next, wake := at, false
		if d := p.fold.Deadline(); !d.IsZero() && d.Sub(p.rec.Start) < next {
			next, wake = max(d.Sub(p.rec.Start), p.now), true
		}
		if p.unread && p.readAt <= next {
			p.now = max(p.readAt, p.now)
			p.look()
			continue
		}
		p.now = max(next, p.now)
		if !wake {
			return
		}
		p.keep(p.fold.Tick(p.rec.Start.Add(p.now)))
	}
}

func (p *player) play(e event) {
	switch e.kind {
	case output:
		_, _ = p.term.Write(e.data) // Write takes all bytes and never fails
		p.drawn()
	case resized:
		p.term.Resize(e.cols, e.rows)
		p.drawn()
	case typed:
		p.keep(p.fold.Typed(p.rec.Start.Add(p.now)))
	case hooked:
		p.hook(e)
	case logged:
		p.stamped(e, p.entry)
	case registered:
		p.stamped(e, func(data []byte) ([]agent.Fact, error) { return p.driver.Registry(e.name, data) })
	}
}

// entry reads an entry of the log; the ledger adds what earlier entries say about it.
func (p *player) entry(line []byte) ([]agent.Fact, error) {
	facts, err := p.driver.Log(line)
	for i := range facts {
		p.ledger.Enter(&facts[i])
	}
	return facts, err
}

// stamped reads facts that have their own time, converted to the recording's clock.
func (p *player) stamped(e event, read func([]byte) ([]agent.Fact, error)) {
	facts, err := read(e.data)
	for i := range facts {
		facts[i].At = p.rec.Start.Add(e.stamp)
	}
	p.facts(facts, err)
}

// hook reads an event, and converts its time to the recording's clock.
func (p *player) hook(e event) {
	facts, err := p.driver.Hook(e.data)
	for i := range facts {
		if at := &facts[i].At; !at.IsZero() {
			*at = p.rec.Start.Add(at.Sub(p.told))
		}
	}
	p.facts(facts, err)
}

func (p *player) drawn() {
	if !p.unread {
		p.unread, p.readAt = true, p.now+p.o.Pace
	}
}

// look reads the screen, unless a synchronized update is in progress.
func (p *player) look() {
	if !p.unread {
		return
	}
	if p.term.InSync() {
		p.readAt = p.now + p.o.Pace
		return
	}
	p.unread = false
	if f, ok := p.looks.Fact(p.driver.Screen(p.viewer.View(p.term.Snapshot(0))), p.rec.Start.Add(p.now)); ok {
		p.apply(f)
	}
}

func (p *player) title(title string) { p.facts(p.driver.Title(title), nil) }

func (p *player) notice(n terminal.Notice) { p.facts(p.driver.OSC(n.OSC, n.Payload), nil) }

func (p *player) facts(facts []agent.Fact, err error) {
	if err != nil {
		return // the last valid value holds
	}
	for _, f := range facts {
		p.apply(f)
	}
}

func (p *player) apply(f agent.Fact) {
	if p.o.Without[f.Source] {
		return
	}
	f.Time = p.rec.Start.Add(p.now)
	p.keep(p.fold.Apply(f))
}

func (p *player) keep(r detect.Result) {
	for _, t := range r.Transitions {
		p.steps = append(p.steps, Step{At: t.Time.Sub(p.rec.Start), Transition: t})
	}
	if p.o.Each != nil {
		p.o.Each(p.now, p.fold)
	}
}
