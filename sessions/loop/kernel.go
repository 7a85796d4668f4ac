package loop

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"berth/detect"
	"berth/sessions/events"
	"berth/sessions/hold"
	"berth/sessions/screen"
	"berth/terminal"
)

// KernelEnv is what the kernel uses of its session.
type KernelEnv struct {
	ID     string // of the session
	Dir    string // its folder
	Name   func() string
	Log    *slog.Logger
	Events *events.Log
	Now    func() time.Time
	Read   *atomic.Int64 // counts the bytes of output, over all sessions; nil: not counted
	Screen screen.Env    // the kernel sets its Now, Past and Dropped, and the handlers of its Options

	// Begin is called when the loop begins, and Close when it has ended. Stopped is the error of calls
	// after that.
	Begin, Close func()
	Stopped      func() error
	// Wake is called before the loop does anything, and Sleep before it sleeps. Between Sleep and
	// Wake, a client may write to the holder by itself.
	Wake, Sleep func()
	// Publish publishes the session's status. Visible says that more has changed than times and the
	// offset of the output.
	Publish func(visible bool)

	// PassOn passes output on to the clients. Gather writes the event of the keystrokes so far.
	PassOn, Gather func()
	// Clipboard passes on what the program writes to the clipboard.
	Clipboard func(write string)
	// Applied is called when a control record is applied and its events are written.
	Applied func(hold.Record)
	// Running says that the program runs.
	Running func() bool
}

// Signal wakes the loop, which calls Take then.
type Signal struct {
	C    <-chan struct{}
	Take func()
}

// Observer is the part that follows what the program shows, and that makes events of what has changed
// in what Berth knows of the agent.
type Observer interface {
	Output(data []byte, offset int64) // which was printed at that offset
	Printed()                         // the screen and the foreground may have changed
	Title(title string)
	Notice(osc int, payload string)
	// Emit makes events of the results and appends them after the first ones, in one step. Reapply
	// takes in results whose events were written before.
	Emit(results []detect.Result, first ...events.Event)
	Reapply(results []detect.Result)
}

// Kernel is the loop of one session. Do may be called from any goroutine; everything else is for
// the loop's own, and for its maker before Run.
type Kernel struct {
	Journal *Journal
	Screen  *screen.Screen
	Emit    *Emitter
	Problem *Problem
	Parts   Parts

	env      KernelEnv
	observer Observer
	signals  [2]Signal
	calls    chan func()
	over     chan struct{} // closed when the loop has ended
	due      time.Time     // when a part has something to do; zero: never
	changed  bool          // status to publish
	moved    bool          // likewise, but only times and the offset of the output
	stopping bool          // the loop ends after this call

	applied   uint64    // number of the last control record applied to the screen
	lastOut   time.Time // when the program last printed
	losses    int64     // bytes of output that could not be kept
	reviewing bool      // the journal is read for the screen alone
	turns     turns     // where turns begin on the screen
	live      bool      // the output that was taken in last was printed to this server
	saving    saving
}

// NewKernel is the kernel of a session without parts. Add follows.
func NewKernel(env KernelEnv) *Kernel {
	k := &Kernel{env: env, calls: make(chan func()), over: make(chan struct{}), changed: true, saving: saving{at: env.Now()}}
	k.Problem = &Problem{Log: env.Log, Changed: k.Changed}
	k.Emit = NewEmitter(EmitterEnv{Log: env.Events, ID: env.ID, Name: env.Name, Now: env.Now, Gather: env.Gather, Changed: k.Changed}, k.Problem)
	on := env.Screen
	on.Now, on.Past, on.Dropped = env.Now, func() bool { return k.Journal.Past() }, func() { k.Journal.CloseFiles() }
	on.Options = func() terminal.Options {
		options := env.Screen.Options()
		options.Handlers = terminal.Handlers{Title: k.title, Notice: k.notice, Clipboard: k.clipboard}
		return options
	}
	k.Screen = screen.New(on)
	k.Journal = NewJournal(env.Dir, JournalEnv{
		Offset: k.Screen.Offset, Output: k.output, Skip: k.skip, Record: k.Record,
		Passed: env.PassOn, Unlinked: k.Changed, Trouble: k.Problem.Trouble, Cured: k.Problem.Cured,
	})
	return k
}

// Add gives the kernel its parts. Observer is one of them. Signals wake the loop, beside calls, the
// holder and the clock.
func (k *Kernel) Add(parts Parts, observer Observer, signals [2]Signal) {
	k.Parts, k.observer, k.signals = parts, observer, signals
}

// Over is closed when the loop has ended.
func (k *Kernel) Over() <-chan struct{} { return k.over }

// Applied is the number of the last control record applied to the screen.
func (k *Kernel) Applied() uint64 { return k.applied }

// Reached is the number of the newest control record that was read or has events, and the offset of the first byte of
// output that wasn't read.
func (k *Kernel) Reached() (record uint64, offset int64) {
	return max(k.applied, k.Journal.recordsRead, k.Emit.emitted), k.Screen.Offset()
}

// LastOut is when the program last printed.
func (k *Kernel) LastOut() time.Time { return k.lastOut }

// Losses are the bytes of output that could not be kept.
func (k *Kernel) Losses() int64 { return k.losses }

// Changed has the status published at the end of this turn.
func (k *Kernel) Changed() { k.changed = true }

// Moved does the same when only times and the offset of the output have changed.
func (k *Kernel) Moved() { k.moved = true }

// Stop ends the loop after this call, without another checkpoint.
func (k *Kernel) Stop() { k.stopping = true }

// Stopping says that Stop was called.
func (k *Kernel) Stopping() bool { return k.stopping }

// Do runs fn on the loop, and returns when fn has run and the status shows what it changed. A caller
// that gives up leaves fn to run without it, so fn keeps its results to itself.
func (k *Kernel) Do(ctx context.Context, fn func()) error {
	done := make(chan struct{})
	call := func() { defer close(done); fn(); k.Publish() }
	select {
	case k.calls <- call:
	case <-k.over:
		return k.env.Stopped()
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Settled is Do at a moment when no synchronized update is under way.
func (k *Kernel) Settled(ctx context.Context, fn func()) error {
	done := make(chan struct{})
	err := k.Do(ctx, func() {
		k.Screen.WhenSettled(func() { defer close(done); fn() })
	})
	if err != nil {
		return err
	}
	select {
	case <-done:
		return nil
	case <-k.over:
		select {
		case <-done: // the loop's last act
			return nil
		default:
			return k.env.Stopped()
		}
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Run is the loop. It ends with ctx, or after Stop; the program runs on.
func (k *Kernel) Run(ctx context.Context) {
	defer close(k.over)
	defer k.Close()
	timer := time.NewTimer(0)
	defer timer.Stop()
	k.env.Begin()
	k.Publish()
	for {
		k.env.Wake()
		more := k.Journal.CatchUp()
		if !more && (k.Journal.Live() || !k.env.Running()) {
			k.markRecalled(time.Time{})
		}
		k.tick(k.env.Now())
		k.Publish() // before the checkpoint, which waits for the disk: a reader of an event asks for the status at once
		k.rest(k.env.Now())
		k.Publish()
		if k.stopping {
			return
		}
		pause := time.Duration(0) // calls are looked at between two pieces of a flood
		if !more {
			pause = k.pause(k.env.Now())
		}
		timer.Reset(pause)
		k.env.Sleep()
		select {
		case call := <-k.calls:
			k.env.Wake()
			call()
		case <-k.signals[0].C:
			k.signals[0].Take()
		case <-k.signals[1].C:
			k.signals[1].Take()
		case <-k.Journal.Wake():
			k.Journal.Woken()
		case <-timer.C:
		case <-ctx.Done():
			k.env.Wake()
			k.Emit.Flush()
			k.Save()
			return
		}
	}
}

// tick does what is due by the clock.
func (k *Kernel) tick(now time.Time) {
	k.Screen.Settle()
	k.Emit.Ready(now)
	k.due = k.Parts.Tick(now)
}

// rest does what no client waits for.
func (k *Kernel) rest(now time.Time) {
	k.saveIfDue(now)
	k.Screen.DropIfIdle(now)
}

// pause is how long nothing is due.
func (k *Kernel) pause(now time.Time) time.Duration {
	if k.Journal.Unread() {
		return 0
	}
	next := time.Hour
	for _, at := range []time.Time{k.due, k.Screen.Due(now), k.Emit.Due(), k.saveDue()} {
		if !at.IsZero() {
			next = min(next, max(at.Sub(now), 0))
		}
	}
	return next
}

// Publish publishes the present status, if it has changed.
func (k *Kernel) Publish() {
	if !k.changed && !k.moved {
		return
	}
	visible := k.changed
	k.changed, k.moved = false, false
	k.env.Publish(visible)
}

// Close gives everything back. Run calls it at its end. The program runs on.
func (k *Kernel) Close() {
	k.Screen.Close()
	k.env.Close()
	k.Journal.Close()
}
