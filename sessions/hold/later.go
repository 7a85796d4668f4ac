package hold

import (
	"encoding/json"
	"fmt"
)

// InputLater is Input for a caller that must not wait for the program: the
// message has its place in the order when it returns, and the channel receives
// Input's error once.
func (l *Link) InputLater(data []byte, mark json.RawMessage) (<-chan error, error) {
	if len(data) > MaxInput || len(mark) > maxMark {
		return nil, fmt.Errorf("%w: %d bytes of input, a mark of %d", ErrTooLarge, len(data), len(mark))
	}
	answer := make(chan error, 1)
	l.mu.Lock()
	if l.ended {
		defer l.mu.Unlock()
		return nil, l.err
	}
	l.nextID++
	id := l.nextID
	l.waiting[id] = answer
	l.mu.Unlock()
	head, err := encodeRequest(request{ID: id, Mark: mark})
	if err == nil {
		err = l.send(appendFrame(nil, frameInput, head, data))
	}
	if err != nil {
		l.mu.Lock()
		delete(l.waiting, id)
		l.mu.Unlock()
		return nil, err
	}
	return answer, nil
}
