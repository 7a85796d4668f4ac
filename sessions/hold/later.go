package hold

import (
	"encoding/json"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// InputLater is Input for a caller that must not wait for the program: the
// message has its place in the order when it returns, and the channel receives
// Input's error once.
func (l *Link) InputLater(data []byte, mark json.RawMessage) (<-chan error, error) {
	answer := make(chan error, 1)
	err := l.later(data, mark, func(err error) { answer <- err }, func(id uint32) ([]byte, error) {
		head, err := encodeRequest(request{ID: id, Mark: mark})
		return appendFrame(nil, frameInput, head, data), err
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// InputWithin is InputLater for a key that depends on what the screen shows now: if the holder can't type it within that time, such as
// because it is stopped, it doesn't, and Input's error is ErrLate. A holder that is too old for this types it whenever it can.
func (l *Link) InputWithin(within time.Duration, data []byte, mark json.RawMessage) (<-chan error, error) {
	now, err := monotonic()
	if err != nil {
		return nil, err
	}
	answer := make(chan error, 1)
	err = l.later(data, mark, func(err error) { answer <- err }, func(id uint32) ([]byte, error) {
		head, err := encodeRequest(request{ID: id, Mark: mark, By: now + within.Nanoseconds()})
		return appendFrame(nil, frameInput, head, data), err
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// monotonic is the time of a clock that all processes of the machine share, in nanoseconds. No program sets it, and it pauses
// while the machine sleeps.
func monotonic() (int64, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		return 0, fmt.Errorf("read the clock: %w", err)
	}
	return t.Nano(), nil
}

// Type is InputLater for what a person types: the answer may come with the
// echo, or 10 ms later when there is none. answered is called once, unless
// there is an error; it must neither wait nor use the link.
func (l *Link) Type(data []byte, mark json.RawMessage, answered func(error)) error {
	return l.later(data, mark, answered, func(id uint32) ([]byte, error) {
		if l.welcome.Types {
			return appendFrame(nil, frameTyped, encodeTyped(id, mark), data), nil
		}
		head, err := encodeRequest(request{ID: id, Mark: mark})
		return appendFrame(nil, frameInput, head, data), err
	})
}

// later sends the frame of a message and leaves its answer to answered.
func (l *Link) later(data []byte, mark json.RawMessage, answered func(error), frame func(id uint32) ([]byte, error)) error {
	if len(data) > MaxInput || len(mark) > maxMark {
		return fmt.Errorf("%w: %d bytes of input, a mark of %d", ErrTooLarge, len(data), len(mark))
	}
	l.mu.Lock()
	if l.ended {
		defer l.mu.Unlock()
		return l.err
	}
	l.nextID++
	id := l.nextID
	l.waiting[id] = answered
	l.mu.Unlock()
	p, err := frame(id)
	if err == nil {
		err = l.send(p)
	}
	if err == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, waits := l.waiting[id]; !waits {
		return nil // it was answered already, by the link's end
	}
	delete(l.waiting, id)
	return err
}
