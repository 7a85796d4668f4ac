package attach

import (
	"context"
	"errors"
	"io"
)

// Input is what a client types. One goroutine reads at a time.
type Input interface {
	// ReadContext is io.Reader's Read that gives up when ctx is done, with
	// ctx's error and without having taken a byte.
	ReadContext(ctx context.Context, p []byte) (int, error)
	// Unread puts bytes back before all others.
	Unread(p []byte)
}

// promptInput is an Input that can be asked without waiting, so that a key
// needs no goroutine on its way to the client's loop.
type promptInput interface {
	Ready() <-chan struct{} // holds one signal when there may be something
	TryRead(p []byte) (n int, err error, ok bool)
}

// promptOutput is an output with room of its own: TryWrite takes all of p
// without waiting, or nothing.
type promptOutput interface {
	TryWrite(p []byte) bool
}

// isEOF says that an input ended normally.
func isEOF(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe)
}
