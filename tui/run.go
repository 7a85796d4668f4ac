package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"berth/sessions"
	"berth/sessions/events"
	"berth/terminal"
	"berth/terminal/paint"
)

// Host is what the dashboard is given of the server. Each call judges the
// person's rights as they are then. Its methods are safe for concurrent use.
type Host interface {
	// World is what the person may see and do now.
	World() World
	// Find gives a session that the person may see.
	Find(id string) (*sessions.Session, bool)
	// Attach shares the terminal of a session with the person until they leave
	// it. An error says why they could not, or were sent away.
	Attach(ctx context.Context, id string) error
	// Run runs a verb with these words and that standard input.
	Run(ctx context.Context, a Act) Done
	// Events is the log by which the dashboard hears that something changed.
	Events() *events.Log
	// Seen remembers for the person which states of which sessions they have
	// seen, by session.
	Seen() map[string]uint64
	SetSeen(map[string]uint64)
}

// Input is what the client types.
type Input interface {
	Ready() <-chan struct{} // holds one signal when there may be something
	TryRead(p []byte) (n int, err error, ok bool)
	Unread(p []byte) // puts bytes back before all others
}

// Options of Run; all are needed but Select.
type Options struct {
	Host    Host
	In      Input
	Out     io.Writer // nothing may turn LF into CRLF
	Hangup  func()    // makes a blocked Write return
	Window  func() (cols, rows int)
	Resized <-chan struct{}
	Term    string
	Env     map[string]string
	Person  Person
	Address string // how the client reaches the server, behind ssh: for how to come back
	Now     func() time.Time
	Select  string // id of the session to choose first
}

// ErrGone is what Run returns when the client is no longer there.
var ErrGone = errors.New("the client is gone")

// The rim's own times.
const (
	frameTime = time.Second / 30
	leaveTime = time.Second            // for a client to take what it is told on leaving
	replyTime = 300 * time.Millisecond // for a terminal to answer, before answers would meet a shell
)

// dashboard is one person's. All fields belong to the goroutine of Run.
type dashboard struct {
	Options
	model   *Model
	look    paint.Look
	screen  *screen
	out     *output
	decoder decoder

	changed chan struct{} // holds one: something happened
	screens chan shot
	done    chan Done
	acts    sync.WaitGroup
	over    chan error // the event log has come to its end

	watched  string // session whose screen is followed
	unwatch  func()
	dirty    bool // the picture is to be drawn
	stale    bool // the world is to be looked at
	nextDraw time.Time
	keyed    time.Time // when the last byte came
	leaving  bool      // as soon as the acts under way have ended
	answers  bool      // the terminal has answered a question
	timer    *time.Timer
	work     context.Context
}

// shot is a screen that was followed.
type shot struct {
	id  string
	pic *terminal.Snapshot
	why string
}

// Run shows the dashboard until the person leaves it (nil), is gone (ErrGone) or
// ctx ends (its cause). The terminal has then been put right, and what was
// typed behind the last key is put back into In. No goroutine outlives Run.
func Run(ctx context.Context, o Options) error {
	d := newDashboard(o)
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	d.work = work
	followed := make(chan struct{})
	go func() { defer close(followed); d.followEvents(work) }()
	defer func() {
		d.timer.Stop()
		d.stopWatching()
		cancel()
		<-followed
		d.acts.Wait()
		d.Host.SetSeen(d.model.seen)
	}()
	d.model.SetWorld(d.Host.World(), d.Now())
	d.model.Select(o.Select)
	for {
		effect, err := d.show(ctx)
		attach, ok := effect.(Attach)
		if err != nil || !ok {
			return err
		}
		d.stopWatching()
		why := ""
		if err := d.Host.Attach(ctx, attach.ID); err != nil {
			if errors.Is(err, ErrGone) || ctx.Err() != nil {
				return err
			}
			why = err.Error()
		}
		d.model.Back(why, d.Now())
		d.model.SetWorld(d.Host.World(), d.Now())
		d.model.Select(attach.ID)
	}
}

func newDashboard(o Options) *dashboard {
	d := &dashboard{
		Options: o, look: paint.NewLook(o.Term, o.Env),
		changed: make(chan struct{}, 1), screens: make(chan shot), done: make(chan Done), over: make(chan error, 1), timer: time.NewTimer(time.Hour),
	}
	if o.Env["NO_COLOR"] != "" {
		d.look.Depth = paint.DepthNone
	}
	cols, rows := d.size()
	d.model = NewModel(o.Person, o.Host.Seen(), cols, rows, o.Now())
	d.model.SetLook(d.look, false)
	return d
}

// size is the client's window, within bounds.
func (d *dashboard) size() (cols, rows int) {
	cols, rows = d.Window()
	if cols <= 0 || rows <= 0 {
		return 80, 24
	}
	return min(cols, maxCols), min(rows, maxRows)
}

const maxCols, maxRows = 1000, 500

// show has the terminal until a key asks for something that needs it, or all
// ends.
func (d *dashboard) show(ctx context.Context) (effect Effect, err error) {
	d.out = newOutput(d.Out)
	d.screen = newScreen(d.look)
	d.out.send(d.screen.enter())
	d.model.Redraw()
	d.dirty, d.nextDraw = true, time.Time{}
	d.resize()
	for effect == nil && err == nil {
		d.follow()
		d.draw()
		effect, err = d.wait(ctx)
	}
	return effect, errors.Join(err, d.leave(ctx, err))
}

// draw sends a picture if there is a new one and the client has taken the last.
func (d *dashboard) draw() {
	now := d.Now()
	if d.out.busy || now.Before(d.nextDraw) {
		return
	}
	if d.stale {
		d.stale = false
		d.model.SetWorld(d.Host.World(), now)
		d.dirty = true
	}
	if !d.dirty {
		return
	}
	d.dirty, d.nextDraw = false, now.Add(frameTime)
	if b := d.screen.draw(d.model); len(b) > 0 {
		d.out.send(b)
	}
}

// wait sleeps until there is something to do, and does it.
func (d *dashboard) wait(ctx context.Context) (Effect, error) {
	now := d.Now()
	changed, screens := d.changed, d.screens
	if d.out.busy || now.Before(d.nextDraw) { // at most a frame's worth at once
		changed, screens = nil, nil
	}
	d.timer.Reset(max(d.due(now).Sub(now), 0))
	select {
	case <-d.In.Ready():
		return d.read()
	case <-d.Resized:
		d.resize()
	case <-changed:
		d.stale = true
	case done := <-d.done:
		d.model.Finish(done, d.Now())
		d.stale = true
		if d.leaving && d.model.doing == 0 {
			return Quit{}, nil
		}
	case s := <-screens:
		d.model.SetScreen(s.id, s.pic, s.why)
		d.stale = true // its state may have changed with it
	case err := <-d.out.done:
		if d.out.busy = false; err != nil {
			return nil, ErrGone
		}
		if !d.answers { // that it was taken is all there is to know
			d.model.Shown(max(d.screen.asked, 1), d.Now())
		}
	case <-d.timer.C:
		return d.tick()
	case err := <-d.over:
		if ctx.Err() == nil {
			return nil, err
		}
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return nil, nil
}

// due is when to look again at the latest.
func (d *dashboard) due(now time.Time) time.Time {
	next := d.model.Due()
	if hold := d.decoder.hold(); hold > 0 {
		next = earlier(next, d.keyed.Add(hold))
	}
	if now.Before(d.nextDraw) {
		next = earlier(next, d.nextDraw)
	}
	return next
}

func (d *dashboard) tick() (Effect, error) {
	now := d.Now()
	if hold := d.decoder.hold(); hold > 0 && !now.Before(d.keyed.Add(hold)) {
		d.decoder.expire()
		return d.press()
	}
	if !now.Before(d.model.Due()) {
		d.model.Tick(now)
		d.stale = true
	}
	return nil, nil
}

func (d *dashboard) resize() {
	cols, rows := d.size()
	d.model.Resize(cols, rows)
	d.screen.resize(cols, rows)
	d.dirty, d.nextDraw = true, time.Time{}
}

// read takes what was typed.
func (d *dashboard) read() (Effect, error) {
	var buf [4 << 10]byte
	n, err, ok := d.In.TryRead(buf[:])
	switch {
	case !ok:
		return nil, nil
	case n == 0 && err != nil:
		return nil, ErrGone
	}
	d.decoder.feed(buf[:n])
	d.keyed = d.Now()
	return d.press()
}

// press obeys the keys that are whole. What follows a key that ends this is
// left alone.
func (d *dashboard) press() (Effect, error) {
	for {
		k, ok := d.decoder.next()
		d.heard()
		if !ok {
			return nil, nil
		}
		d.dirty, d.nextDraw = true, time.Time{} // a key is answered at once
		switch effect := d.model.Press(k, d.Now()).(type) {
		case nil:
		case Act:
			d.run(effect)
		case Quit:
			if d.model.doing == 0 || d.leaving {
				return effect, nil
			}
			d.leaving = true
			d.model.Tell("leaving when that has come to its end; q leaves at once", faint)
		default:
			return effect, nil
		}
	}
}

// run has a verb done beside the loop. What is not told to the verb's end, since
// the person went, stands in the events.
func (d *dashboard) run(a Act) {
	d.acts.Go(func() {
		done := Done{Act: a}
		if a.Kind == "history" {
			done = d.history(a)
		} else {
			done = d.Host.Run(d.work, a)
		}
		select {
		case d.done <- done:
		case <-d.work.Done():
		}
	})
}

// heard takes in what the terminal has answered.
func (d *dashboard) heard() {
	for _, r := range d.decoder.takeReplies() {
		if r == "da" {
			d.answers = true
			d.screen.answered++
			d.model.Shown(d.screen.answered, d.Now())
		}
		if light, ok := isLight(r); ok {
			d.model.SetLook(d.look, light)
			d.dirty = true
		}
	}
}

// leave gives the terminal back.
func (d *dashboard) leave(ctx context.Context, why error) error {
	defer d.out.close()
	if errors.Is(why, ErrGone) {
		d.Hangup()
		return nil
	}
	patience := time.NewTimer(leaveTime)
	defer patience.Stop()
	d.awaitReplies()
	d.In.Unread(d.decoder.rest())
	last := ""
	if d.leaving { // what it waited for
		last = terminal.Printable(d.model.flash.text)
	}
	if why != nil { // of an end from outside the edge says the reason
		last = "the sessions go on; come back with: ssh -t " + terminal.Printable(d.Address)
		if ctx.Err() == nil {
			last = fmt.Sprintf("berth: %s; %s", terminal.Printable(why.Error()), last)
		}
	}
	if d.out.drained(patience.C) {
		d.out.send(d.screen.leave(last))
		if d.out.drained(patience.C) {
			return nil
		}
	}
	d.Hangup()
	return ErrGone
}

// awaitReplies waits for what the terminal was asked, which would else be taken
// for typed text by whoever has it next.
func (d *dashboard) awaitReplies() {
	patience := time.NewTimer(replyTime)
	defer patience.Stop()
	var kept []byte
	defer func() { d.decoder.feed(kept) }()
	for d.screen.answered < d.screen.asked {
		select {
		case <-d.In.Ready():
			var buf [4 << 10]byte
			n, err, ok := d.In.TryRead(buf[:])
			if ok && err != nil {
				return
			}
			reply := decoder{buf: append(kept, buf[:n]...)}
			kept = reply.keepKeys()
			for _, r := range reply.replies {
				if r == "da" {
					d.screen.answered++
				}
			}
		case <-patience.C:
			return
		}
	}
}
