package tui

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"berth/render"
	"berth/sessions"
	"berth/sessions/events"
	"berth/terminal"
	"berth/terminal/keyboard"
	"berth/terminal/paint"
)

// Host is what the dashboard uses of the server. Each call checks the person's current rights. Its
// methods are safe for concurrent use.
type Host interface {
	// World is what the person may see and do now.
	World() World
	// Find returns a session that the person may see.
	Find(id string) (*sessions.Session, bool)
	// What completes what the person types.
	Offers
	// Attach attaches the person to a session until they detach. An error says why that failed or
	// ended.
	Attach(ctx context.Context, id string) error
	// Run runs a verb with the act's words and standard input.
	Run(ctx context.Context, a Act) Done
	// File is the text of a file that the session's agent is about to change. An error says why it
	// isn't known.
	File(ctx context.Context, id, path string) (text string, exists bool, err error)
	// Fill has World know the whole prompt of another host's session, if that can be had.
	Fill(ctx context.Context, id string)
	// Events is the event log. The dashboard follows it to notice changes.
	Events() *events.Log
	// Seen and SetSeen keep which states the person has seen, by session.
	Seen() map[string]uint64
	SetSeen(map[string]uint64)
	// Choices and SetChoices keep the person's settings of the dashboard. SetChoices is called when they
	// have changed.
	Choices() Choices
	SetChoices(was, now Choices)
}

// Input is what the client types.
type Input interface {
	Ready() <-chan struct{} // holds one signal when there may be input
	TryRead(p []byte) (n int, err error, ok bool)
	Unread(p []byte) // puts bytes back in front
}

// Options are the options of Run. All but Select are required.
type Options struct {
	Host    Host
	In      Input
	Out     io.Writer // must not turn LF into CRLF
	Hangup  func()    // makes a blocked Write return
	Window  func() (cols, rows int)
	Resized <-chan struct{}
	Term    string
	Env     map[string]string
	Person  Person
	Address string // the arguments of ssh that reach the server, for the message on leaving
	Now     func() time.Time
	Select  string // id of the session to choose first
}

// ErrGone is what Run returns when the client is no longer there.
var ErrGone = errors.New("the client is gone")

// Times of the program around the model.
const (
	frameTime  = time.Second / 30
	rereadTime = time.Second            // between two looks at a fleet's other hosts
	leaveTime  = time.Second            // for a client to take the last message
	replyTime  = 300 * time.Millisecond // for a terminal to answer, so that no answer reaches the shell
)

// dashboard is the tea.Model of one person's dashboard. Goroutines send it messages, and verbs run
// as commands. The program's event loop owns its fields; Run owns them after the program has ended.
//
// It replaces two parts of Bubble Tea. It draws with terminal/paint, at once or one frame time after
// the last picture, so the program has no renderer. It decodes keys itself, one at a time, so that a
// session gets what is typed after the key that attaches.
type dashboard struct {
	Options
	ctx     context.Context // of Run
	program *tea.Program
	model   *Model
	look    paint.Look
	screen  *screen
	out     *output
	decoder keyboard.Decoder // listen owns it, except while Update handles a key

	watched  map[string]watching // the sessions whose screens are followed
	reads    string              // the session whose log is followed
	unread   func()
	shots    []chan struct{} // to be closed when the last shots are drawn
	chosen   Choices         // as the host has them
	typing   bool            // more keys have arrived: screens are followed and drawn after the last of them
	dirty    bool            // the picture must be drawn
	stale    bool            // the world must be read
	reread   time.Time       // when it must be read once more; zero: not
	later    *typed          // a key that waits for an answer; no other is read meanwhile
	stop     func()          // ends the line of the command bar that is running
	nextDraw time.Time
	leaving  bool // the program ends after the current acts
	over     bool // the program ends now
	why      error
	answers  bool        // the terminal has answered a question
	clock    *time.Timer // sends a tick
	acts     sync.WaitGroup
	work     context.Context // for acts
	feed     context.Context // for goroutines that send messages
	feeding  sync.WaitGroup  // these goroutines
	released sync.WaitGroup  // the program releases its terminal
}

// publishedWithin is how long after an event the session's status has it, also on a busy machine: the
// event is written first.
const publishedWithin = 500 * time.Millisecond

// The messages of a dashboard, besides shot and Done.
type (
	typed struct {
		Key
		handled chan<- bool // receives whether to send the next one
	}
	quiet   struct{} // no more keys have arrived
	reply   string   // the terminal's reply to a query
	resized struct{}
	news    struct{} // an event was written
	tick    struct{}
	ended   struct{ err error } // the client is gone, or the event log is closed
	files   struct {
		of   subjectKey
		read []render.File
	}
)

// shot is a picture of the followed screen.
type shot struct {
	id  string
	pic *terminal.Snapshot
	why string

	of    context.Context // ends when the screen is no longer followed
	drawn chan struct{}   // closed when the shot is drawn
}

// Run shows the dashboard until the person leaves it (nil), the client is gone (ErrGone) or ctx ends
// (its cause). Run restores the terminal, and puts back into In what was typed after the last key. No
// goroutine outlives it.
func Run(ctx context.Context, o Options) error {
	d := newDashboard(ctx, o)
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	feed, stop := context.WithCancel(work)
	d.work, d.feed = work, feed
	d.feeding.Go(d.listen)
	head := o.Host.Events().Head() // before the world is read, which includes all events until here
	d.feeding.Go(func() { d.followEvents(head) })
	defer func() {
		cancel()
		d.program.Kill()
		d.clock.Stop()
		d.feeding.Wait()
		if d.out != nil { // Update panicked: the caller says so on the client's terminal
			_ = d.leave(nil)
		}
		d.acts.Wait()
		d.released.Wait() // takes until 0.5 s after the start
		d.Host.SetSeen(d.model.seen)
	}()
	d.model.SetWorld(d.Host.World(), d.Now())
	d.model.Select(o.Select)
	switch _, err := d.program.Run(); {
	case errors.Is(d.why, ErrGone):
	case ctx.Err() != nil:
		d.why = context.Cause(ctx)
	case err != nil:
		d.why = err
	}
	stop()
	d.feeding.Wait()
	if d.out == nil {
		return d.why // it ended while a session was attached
	}
	return errors.Join(d.why, d.leave(d.why))
}

func newDashboard(ctx context.Context, o Options) *dashboard {
	d := &dashboard{Options: o, ctx: ctx, look: paint.NewLook(o.Term, o.Env), watched: map[string]watching{}}
	if o.Env["NO_COLOR"] != "" {
		d.look.Depth = paint.DepthNone
	}
	d.program = tea.NewProgram(d,
		tea.WithContext(ctx), tea.WithInput(nil), tea.WithOutput(io.Discard), tea.WithoutRenderer(), tea.WithFPS(1),
		tea.WithoutSignalHandler(), tea.WithoutCatchPanics(), tea.WithEnvironment([]string{}), tea.WithColorProfile(profiles[d.look.Depth]))
	d.clock = time.AfterFunc(time.Hour, func() { d.program.Send(tick{}) })
	cols, rows := d.size()
	d.model = NewModel(o.Person, o.Host.Seen(), cols, rows, o.Now())
	d.model.SetLook(d.look, false)
	d.chosen = o.Host.Choices()
	d.model.choose(d.chosen)
	d.decoder.Mouse = true
	return d
}

// Init takes the terminal and draws the first picture. The program has no terminal of its own:
// ReleaseTerminal only stops its renderer's ticker, which would wake the process each second.
func (d *dashboard) Init() tea.Cmd {
	d.released.Go(func() { _ = d.program.ReleaseTerminal() }) // it restores nothing, so it can't fail
	return tea.Batch(d.enter(), d.settle())
}

// Update handles a message, and draws the result.
func (d *dashboard) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if d.over {
		return d, nil // the message came before the program's QuitMsg
	}
	cmd := d.take(msg)
	if d.over {
		return d, tea.Quit
	}
	return d, tea.Batch(cmd, d.settle())
}

// View is empty: Update draws.
func (d *dashboard) View() tea.View { return tea.View{} }

func (d *dashboard) take(msg tea.Msg) tea.Cmd {
	now := d.Now()
	switch msg := msg.(type) {
	case typed:
		if d.model.Waits(msg.Key) {
			d.later, d.typing, d.dirty = &msg, false, true
			return nil
		}
		return d.handle(msg)
	case Offered:
		cmd := d.do(d.model.Answer(msg))
		d.dirty = true
		if later := d.later; later != nil && !d.model.Waits(later.Key) {
			d.later = nil
			return tea.Batch(cmd, d.handle(*later))
		}
		return cmd
	case quiet:
		d.typing = false
	case reply:
		d.takeReply(string(msg))
	case resized:
		d.resize()
	case news:
		d.stale, d.reread = true, now.Add(publishedWithin)
	case shot:
		if msg.of.Err() == nil {
			d.model.SetScreen(msg.id, msg.pic, msg.why)
			d.stale, d.shots = true, append(d.shots, msg.drawn) // the session's state may have changed too
			if len(d.watched) > 1 && !now.Before(d.nextDraw) {
				d.nextDraw = now.Add(frameTime) // the other tiles' pictures come now, too
			}
		}
	case said:
		if msg.of.Err() == nil {
			if msg.conv != nil || msg.why != "" {
				d.model.SetConversation(msg.id, msg.conv, msg.why)
			}
			d.model.AddEntries(msg.id, msg.entries)
			d.dirty = true
		}
	case files:
		d.model.SetFiles(msg.of, msg.read)
		d.dirty = true
	case Done:
		cmd := d.do(d.model.Finish(msg, now))
		d.stale = true
		if d.leaving && d.model.doing == 0 {
			d.end(nil)
		}
		return cmd
	case taken:
		switch {
		case msg.write != d.out.last: // an earlier picture
		case msg.err != nil:
			d.end(ErrGone)
		case !d.answers: // the terminal doesn't report what it has drawn
			d.model.Shown(max(d.screen.asked, 1), now)
		}
	case tick:
		if !now.Before(d.model.Due()) {
			minute := d.model.Tick(now)
			d.stale, d.dirty = d.stale || minute, true
		}
		if !d.reread.IsZero() && !now.Before(d.reread) {
			d.stale, d.reread = true, time.Time{}
		}
	case ended:
		d.end(msg.err)
	}
	return nil
}

// end ends the program; why is nil when the person leaves.
func (d *dashboard) end(why error) { d.over, d.why = true, why }

// settle follows the right screen, draws when a picture is due, and sets the clock.
func (d *dashboard) settle() tea.Cmd {
	if !d.typing {
		d.follow()
	}
	d.followTalk()
	if chosen := d.model.chosen(); chosen != d.chosen {
		d.Host.SetChoices(d.chosen, chosen)
		d.chosen = chosen
	}
	d.fillPrompt()
	read := d.readFiles()
	cmd := d.draw()
	now := d.Now()
	next := d.model.Due()
	if now.Before(d.nextDraw) {
		next = earlier(next, d.nextDraw)
	}
	if !d.reread.IsZero() {
		next = earlier(next, d.reread)
	}
	if len(d.model.world.Hosts) > 0 && d.reread.IsZero() { // other hosts send no events to this log
		d.reread = now.Add(rereadTime)
		next = earlier(next, d.reread)
	}
	d.clock.Reset(max(next.Sub(now), 0))
	return tea.Batch(read, cmd)
}

// size is the size of the client's window, within bounds.
func (d *dashboard) size() (cols, rows int) {
	cols, rows = d.Window()
	if cols <= 0 || rows <= 0 {
		return 80, 24
	}
	return min(cols, maxCols), min(rows, maxRows)
}

const maxCols, maxRows = 1000, 500

// draw sends a picture if there is a new one and the client has taken the last.
func (d *dashboard) draw() tea.Cmd {
	now := d.Now()
	if d.typing || d.out.busy() || now.Before(d.nextDraw) {
		return nil
	}
	if d.stale {
		d.stale = false
		d.model.SetWorld(d.Host.World(), now)
		d.dirty = true
	}
	if !d.dirty {
		return nil
	}
	d.dirty, d.nextDraw = false, now.Add(frameTime)
	for _, shot := range d.shots {
		close(shot)
	}
	d.shots = d.shots[:0]
	if b := d.screen.draw(d.model); len(b) > 0 {
		return d.out.send(b)
	}
	return nil
}

func (d *dashboard) resize() {
	cols, rows := d.size()
	d.model.Resize(cols, rows)
	d.screen.resize(cols, rows)
	d.dirty, d.nextDraw = true, time.Time{}
}

// handle handles a key, and has the next one read.
func (d *dashboard) handle(msg typed) tea.Cmd {
	d.typing = true
	cmd := d.press(msg.Key)
	msg.handled <- !d.over
	return cmd
}

// press handles a key.
func (d *dashboard) press(k Key) tea.Cmd {
	d.dirty, d.nextDraw = true, time.Time{} // draw at once after a key
	var effect Effect
	if k.Name == keyboard.MouseKey {
		effect = d.model.Mouse(k.Mouse, d.screen.was.targetAt(k.Mouse.Col, k.Mouse.Row), d.Now())
	} else {
		effect = d.model.Press(k, d.Now())
	}
	return d.do(effect)
}

func (d *dashboard) do(effect Effect) tea.Cmd {
	switch effect := effect.(type) {
	case Act:
		return d.run(effect)
	case Ask:
		return d.ask(effect)
	case Stop:
		d.stop()
	case Attach:
		return d.attach(effect.ID)
	case Quit:
		if d.model.doing == 0 || d.leaving {
			d.end(nil)
			break
		}
		d.leaving = true
		d.model.Flash("leaving when the verb has ended; q leaves at once", faint)
	}
	return nil
}

// attach shares the session's terminal until the person comes back. Like tea.Exec it blocks the
// event loop, so all senders of messages wait.
func (d *dashboard) attach(id string) tea.Cmd {
	d.stopWatching()
	if err := d.leave(nil); err != nil {
		d.end(err)
		return nil
	}
	why := ""
	if err := d.Host.Attach(d.ctx, id); err != nil {
		if errors.Is(err, ErrGone) || d.ctx.Err() != nil {
			d.end(err)
			return nil
		}
		why = err.Error()
	}
	d.model.Back(why, d.Now())
	d.model.SetWorld(d.Host.World(), d.Now())
	d.model.Select(id)
	return d.enter()
}

// run runs a verb. Bubble Tea doesn't wait for its commands at the end; Run waits for acts. When the
// person leaves before the verb ends, its result is only in the event log.
func (d *dashboard) run(a Act) tea.Cmd {
	done := make(chan Done, 1)
	ctx, cancel := context.WithCancel(d.work)
	if a.Line != "" {
		d.stop = cancel
	}
	d.acts.Go(func() {
		defer cancel()
		switch {
		case a.Kind == "history":
			done <- d.history(a)
		case len(a.each) > 0:
			done <- d.runEach(ctx, a)
		default:
			done <- d.Host.Run(ctx, a)
		}
	})
	return func() tea.Msg { return <-done }
}

// runEach runs a verb for marked sessions, some at once.
func (d *dashboard) runEach(ctx context.Context, a Act) Done {
	done := Done{Act: a, results: make([]Done, len(a.each))}
	free := make(chan struct{}, actsAtOnce)
	var all sync.WaitGroup
	for i, one := range a.each {
		free <- struct{}{}
		all.Go(func() {
			done.results[i] = d.Host.Run(ctx, one)
			<-free
		})
	}
	all.Wait()
	return done
}
