package hold

import (
	"errors"
	"fmt"
)

// What callers branch on.
var (
	// ErrGone says that no holder lives in this folder (any more).
	ErrGone = errors.New("the session's holder is gone")
	// ErrNoAnswer says that the holder lives but cannot be asked.
	ErrNoAnswer = errors.New("the session's holder doesn't answer")
	// ErrRefused says that the holder will not serve this process.
	ErrRefused = errors.New("the session's holder refuses this process")
	// ErrBusy says that the holder has as much unwritten input as it keeps;
	// nothing of the message was typed.
	ErrBusy = errors.New("the program doesn't read its input, and the queue is full")
	// ErrLate says that the time for an input was over before it could be typed. It was not typed.
	ErrLate = errors.New("the holder could not type it in time")
	// ErrEnded says that the program has ended.
	ErrEnded = errors.New("the program has ended")
	// ErrTooLarge says that a message is larger than a frame may be.
	ErrTooLarge = errors.New("the message is too large")
	// ErrReplaced says that another server has taken the holder over.
	ErrReplaced = errors.New("another server has taken over")
	// ErrClosed says that the link was closed by its own side.
	ErrClosed = errors.New("the link to the holder is closed")
	// ErrNotWaiting says that a hook waits for no verdict (any more).
	ErrNotWaiting = errors.New("the hook no longer waits for an answer")
	// ErrNoHooks says that the holder has no hook socket, or is too old for one.
	ErrNoHooks = errors.New("the session's holder doesn't accept hooks")
	// ErrBadRequest says that the holder could not make sense of a message.
	ErrBadRequest = errors.New("the holder doesn't accept this message")
)

// A TrimmedError says that the bytes asked for are not to be had: deleted as
// old, or lost to a write error. First is the next offset that there is.
type TrimmedError struct{ First int64 }

func (e *TrimmedError) Error() string {
	return fmt.Sprintf("the output before offset %d is no longer stored", e.First)
}

// A StartError is why a program could not be started. It unwraps to the
// system's error where there was one.
type StartError struct {
	Message string
	Errno   error
}

func (e *StartError) Error() string { return e.Message }

func (e *StartError) Unwrap() error { return e.Errno }
