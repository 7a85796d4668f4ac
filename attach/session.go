package attach

import (
	"context"
	"errors"
	"fmt"
	"time"

	"berth/terminal"
)

// ErrReadOnly is what Type, Take and Release answer a client whose key may not
// write.
var ErrReadOnly = errors.New("this key may look on but not type")

// ErrEnded is what a Member's calls answer when the session's program is gone.
var ErrEnded = errors.New("the session has ended")

// BusyError is what Type and Take answer while another client holds the lease
// and does not let go.
type BusyError struct {
	Writer  Person // who writes
	MayTake bool   // Take would succeed
}

func (e *BusyError) Error() string { return fmt.Sprintf("%s is writing", e.Writer.Name) }

// Session is what attach needs of a session. Its methods are safe for
// concurrent use.
type Session interface {
	Name() string // the present name, without control characters
	ID() string

	// Join registers a client and counts it among those who are here. It gets
	// the lease with the first key typed. It fails with an error that names the
	// reason. The caller owns the Member and calls Leave.
	Join(ctx context.Context, c Client) (Member, error)
}

// Client is who joins.
type Client struct {
	Identity string // as shown to others
	MayWrite bool   // the key's rights, and the client did not ask to only look on
	Terminal bool   // has a terminal; false for RunPlain
	Cols     int    // of the client's window; 0 without a terminal
	Rows     int
}

// Member is a client that has joined. Its methods are safe for concurrent use
// and never wait for another client. Once the session has ended Status,
// Snapshot and Resync go on answering with the last picture.
type Member interface {
	ID() string // of the client, such as c12

	// Changed holds one signal when the picture or the Status changed since
	// it was last received from: latest wins, one channel for the member's
	// whole life, never closed.
	Changed() <-chan struct{}

	// Status is a copy of what the session is now. It is cheap.
	Status() Status

	// Notices are things to tell this client. The session drops a notice
	// rather than wait when the channel is full (it should hold 8 or more);
	// an end is seen in Status as well. Never closed.
	Notices() <-chan Notice

	// Clipboard holds the newest write of the program to this client's clipboard (see terminal.Handlers)
	// that was not received yet: latest wins, as on a clipboard. Never closed.
	Clipboard() <-chan string

	// Snapshot is the current picture with at most history lines above it. It is never one from inside a
	// synchronized update: Snapshot may wait out the 150 ms that an update may last.
	Snapshot(ctx context.Context, history int) (*terminal.Snapshot, error)

	// Resync gives, in one step on the session's goroutine, the bytes that
	// repaint a terminal of the returned size and the start of the stream that
	// goes on from there: it hands what the emulator has yet to pass on to the
	// followers there were, takes the repaint, calls q.Start and adds q to the
	// followers. When the session is resized it calls q.Lag on each follower
	// after the last bytes of the old size. A q that follows already starts
	// anew. Not from inside a synchronized update, like Snapshot.
	Resync(ctx context.Context, q *Queue, o terminal.RepaintOptions) (Paint, error)

	// Unfollow ends the pushing into q; it returns when no Push can follow.
	// Unknown queues are ignored.
	Unfollow(q *Queue)

	// Type writes data to the program as one message, whole and in order. It
	// takes the lease when it may, which makes this client's window the
	// session's. Else *BusyError, ErrReadOnly or ErrEnded. It waits while the
	// program does not read, until ctx is done.
	Type(ctx context.Context, data []byte) error

	// TryType is Type for a client that has the lease, without waiting: false
	// says that nothing was typed and Type has to be called. What Type would
	// return answered gets, once, on any goroutine; it must not wait.
	TryType(data []byte, answered func(error)) bool

	// Window reports the client's current window. It becomes the session's when
	// this client is the writer, or the only one that may be and no client is,
	// and the size policy says so. It does not wait.
	Window(cols, rows int)

	// Take takes the lease, from another client too where the key may. Others
	// are notified. It waits for a delivery in progress, at most 5 s.
	Take(ctx context.Context) error
	// Release gives the lease back; without it nothing happens.
	Release(ctx context.Context) error

	// Who is everybody who has joined, the writer first.
	Who(ctx context.Context) ([]Person, error)

	// Leave ends the membership: the lease falls free and no queue of this
	// member is pushed into again. A second call does nothing.
	Leave()
}

// Paint is what Resync gives.
type Paint struct {
	Bytes      []byte // terminal.Repaint's
	Cols, Rows int    // the session's size these are for
}

// Status is what an attached client shows of a session.
// Strings that came from the agent are printable (terminal.Printable).
type Status struct {
	Cols, Rows int
	Modes      terminal.Modes // in force now
	Strict     bool           // the program may take the release of a key, and a mouse event that isn't SGR, for keys
	Title      string
	State      string        // of DESIGN's states, such as working
	Mode       string        // what the agent may do unasked, in its own word; empty if unknown
	Detail     string        // activity or failure in a few words, may be empty
	Since      time.Time     // of the state
	Prompt     []string      // the pending prompt, one line an element; nil for none
	Respond    string        // the command line that answers the prompt, without ssh and host; may be empty
	Writer     Person        // zero when the lease is free
	Viewers    int           // clients here that do not write
	Ended      bool          // the program is gone and its last output is in the picture
	End        string        // how it ended in a few words: "exit status 1", "signal SIGKILL", "lost"
	Uptime     time.Duration // since the program started
}

// Person is a client that has joined, or that writes without joining (an exec
// call).
type Person struct {
	Client  string // the client's id; empty in the zero Person
	Name    string // identity as shown
	Writer  bool
	Source  string // the address it comes from
	Cols    int    // of its window, 0 if it has none
	Rows    int
	Since   time.Time
	Expires time.Time // of the lease; zero if it doesn't lapse or the person has no control
}

// Notice is a message to one client.
type Notice struct {
	Kind NoticeKind
	By   string // who did it
	Text string // for NoticeText and NoticeKicked: one printable line
}

// NoticeKind is what a Notice is about.
type NoticeKind int

// The kinds of notices.
const (
	NoticeLeaseLost NoticeKind = iota + 1 // By took the lease from this client
	NoticeKicked                          // this client has to go: Text says why
	NoticeDetached                        // By has detached this client
	NoticeText                            // Text, as it is
)
