package clients

import (
	"encoding/json"
	"errors"
	"syscall"
	"time"

	"berth/api"
	"berth/sessions/hold"
	"berth/sessions/lease"
)

// Holder is what the clients use of the link to the session's holder.
type Holder interface {
	Type(data []byte, mark json.RawMessage, answered func(error)) error
	InputLater(data []byte, mark json.RawMessage) (<-chan error, error)
	Resize(cols, rows int, mark json.RawMessage) error
	Signal(sig syscall.Signal, mark json.RawMessage) error
	Pace(pace time.Duration)
}

// WriteError puts refusals of lease and holder into words for a caller.
func WriteError(err error) error {
	var busy *lease.BusyError
	var lost *lease.LostError
	var long *lease.TooLongError
	switch {
	case errors.As(err, &busy):
		return api.Errorf(api.CodeWriterBusy, "%w. Wait with --wait-lock 10s, or take control with --takeover", busy).
			With("writer", WriterOf(busy.Holder))
	case errors.As(err, &lost):
		return api.Errorf(api.CodeWriterBusy, "%w", lost).With("generation", lost.Generation)
	case errors.As(err, &long):
		return api.Errorf(api.CodeUsage, "%w", long)
	}
	return inputError(err)
}

// inputError puts what the holder says into words for a caller.
func inputError(err error) error {
	switch {
	case errors.Is(err, hold.ErrBusy):
		return api.Errorf(api.CodeLimit, "the program doesn't read its input, and its input queue is full: nothing was typed")
	case errors.Is(err, hold.ErrEnded):
		return api.Errorf(api.CodeExited, "the session's program has ended")
	case errors.Is(err, hold.ErrTooLarge):
		return api.Errorf(api.CodeLimit, "one message can have at most %d bytes: nothing was typed", hold.MaxInput)
	}
	return err
}
