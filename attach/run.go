package attach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"berth/terminal"
)

// DefaultPrefixes are Ctrl-], and Ctrl-\ for keyboards without a ].
const DefaultPrefixes = "\x1d\x1c"

// DefaultHistory is how many lines above the screen a client's own scrollback
// is given.
const DefaultHistory = 1000

// Options of Run. Session, In, Out and Window are needed.
type Options struct {
	Session Session

	In  Input     // what the client's terminal sends
	Out io.Writer // to it, as it is: nothing may turn LF into CRLF
	// Share bounds what is queued for the terminals of the client's caller; may be nil.
	Share *Share
	// Hangup makes a blocked Write to Out return. It is called once if the
	// client takes nothing for a second while it is being left.
	Hangup func()

	Window  func() (cols, rows int) // the client's window now
	Resized <-chan struct{}         // holds one signal when the window changed: latest wins

	Term string            // TERM of the client
	Env  map[string]string // COLORTERM, LC_ALL, LC_CTYPE, LANG as far as they were sent

	Prefixes string // control characters; empty is DefaultPrefixes
	MayWrite bool   // the key's rights
	ReadOnly bool   // the client asked to only look on

	Dashboard bool   // prefix b ends Run with ErrDashboard
	Warning   string // one printable line to show at first; may be empty

	StatusLine     bool          // show it from the start
	ShowStatusLine func(on bool) // the client has toggled it; may be nil

	Echoed func(time.Duration) // is called with the time from a key to the next output for the client; it must not wait; may be nil

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

// DetachedError is what Run returns when another caller detached the client.
type DetachedError struct{ By string }

func (e *DetachedError) Error() string { return "detached by " + e.By }

// Run attaches a client's terminal to a session until the client detaches (nil, or ErrDashboard), the
// session ends (ErrEnded), the client is gone (ErrClientGone), the session sends it away (*KickedError, *DetachedError)
// or ctx is done (its cause). Unless the client is gone, Run restores its terminal and prints how to
// come back. Input after the detach key is put back into In. No goroutine outlives Run.
func Run(ctx context.Context, o Options) error {
	o, err := o.withDefaults()
	if err != nil {
		return err
	}
	cols, rows := o.window()
	member, err := o.Session.Join(ctx, Client{
		Identity: o.Identity, MayWrite: o.MayWrite && !o.ReadOnly, Terminal: true, Cols: cols, Rows: height(rows, o.StatusLine),
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
	case strings.ContainsFunc(o.Prefixes, func(r rune) bool { return r >= 0x20 || r == 0x1b || r == '\r' || r == '\n' }):
		return o, fmt.Errorf("attach: prefixes %q aren't control characters that can be a prefix", o.Prefixes)
	}
	if o.Prefixes == "" {
		o.Prefixes = DefaultPrefixes
	}
	if o.ShowStatusLine == nil {
		o.ShowStatusLine = func(bool) {}
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
