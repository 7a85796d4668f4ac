package attach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"berth/terminal"
)

// Prefix keys.
const DefaultPrefix byte = 0x1d // Ctrl-]

// DefaultHistory is how many lines above the screen a client's own scrollback
// is given.
const DefaultHistory = 1000

// Options of Run. Session, In, Out and Window are needed.
type Options struct {
	Session Session

	In  Input     // what the client's terminal sends
	Out io.Writer // to it, as it is: nothing may turn LF into CRLF
	// Hangup makes a blocked Write to Out return. It is called once if the
	// client takes nothing for a second while it is being left.
	Hangup func()

	Window  func() (cols, rows int) // the client's window now
	Resized <-chan struct{}         // holds one signal when the window changed: latest wins

	Term string            // TERM of the client
	Env  map[string]string // COLORTERM, LC_ALL, LC_CTYPE, LANG as far as they were sent

	Prefix   byte // a control character; 0 is DefaultPrefix
	MayWrite bool // the key's rights
	ReadOnly bool // the client asked to only look on

	Dashboard bool // prefix b ends Run with ErrDashboard

	Identity string // who it is, as shown to others
	Host     string // USER@HOST (and -p PORT) as the client would write it after ssh, for the hint how to come back
	History  int    // lines for the client's scrollback; 0 is DefaultHistory, less is none
	Clock    Clock  // nil is SystemClock
}

// ErrClientGone is what Run returns when the client's input ended or its
// output failed.
var ErrClientGone = errors.New("the client is gone")

// ErrDashboard is what Run returns when the client left for the dashboard.
var ErrDashboard = errors.New("the client left for the dashboard")

// KickedError is what Run returns when the session sent the client away.
type KickedError struct{ Reason string }

func (e *KickedError) Error() string { return e.Reason }

// Run attaches a client's terminal to a session until the client detaches (nil, or ErrDashboard), the
// session ends (ErrEnded), the client is gone (ErrClientGone), the session sends it away (*KickedError)
// or ctx is done (its cause). Unless the client is gone, Run restores its terminal and prints how to
// come back. Input after the detach key is put back into In. No goroutine outlives Run.
func Run(ctx context.Context, o Options) error {
	o, err := o.withDefaults()
	if err != nil {
		return err
	}
	cols, rows := o.window()
	member, err := o.Session.Join(ctx, Client{
		Identity: o.Identity, MayWrite: o.MayWrite && !o.ReadOnly, Terminal: true, Cols: cols, Rows: rows,
	})
	if err != nil {
		return fmt.Errorf("attach to %s: %w", o.Session.Name(), err)
	}
	defer member.Leave()
	return newClient(o, member, cols, rows).run(ctx)
}

func (o Options) withDefaults() (Options, error) {
	switch {
	case o.Session == nil || o.In == nil || o.Out == nil || o.Window == nil:
		return o, errors.New("attach: Session, In, Out and Window are needed")
	case o.Prefix >= 0x20 || o.Prefix == 0x1b || o.Prefix == '\r' || o.Prefix == '\n':
		return o, fmt.Errorf("attach: prefix %#x isn't a control character that can be the prefix", o.Prefix)
	}
	if o.Prefix == 0 {
		o.Prefix = DefaultPrefix
	}
	if o.Clock == nil {
		o.Clock = SystemClock{}
	}
	if o.History == 0 {
		o.History = DefaultHistory
	}
	if o.Hangup == nil {
		o.Hangup = func() {}
	}
	return o, nil
}

// A client without a size gets the classic one.
const defaultCols, defaultRows = 80, 24

func (o Options) window() (cols, rows int) {
	cols, rows = o.Window()
	if cols <= 0 || rows <= 0 {
		return defaultCols, defaultRows
	}
	return min(max(cols, terminal.MinCols), terminal.MaxCols), min(rows, terminal.MaxRows)
}

// Delays of a client, by what a person notices or a machine needs.
const (
	frameTime  = 16 * time.Millisecond  // 60 frames a second are as many as terminals show
	resizeTime = 500 * time.Millisecond // for the session to follow the writer's window before it is drawn cropped
	leaveTime  = time.Second            // for a client to take the last output
)
