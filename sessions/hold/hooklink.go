package hold

import (
	"encoding/json"
	"fmt"
)

// Verdict answers the hook whose record is number id: stdout, at most
// MaxVerdict bytes, is what its process prints, status its exit status, 0 to
// 255. It returns when the verdict is recorded and on its way; a record of
// KindDelivered or KindGone says what became of it. ErrNotWaiting says that
// the hook has been answered, let go or has hung up: nothing was sent.
func (l *Link) Verdict(id uint64, stdout []byte, status int) error {
	return l.VerdictMarked(id, stdout, status, nil)
}

// VerdictMarked is Verdict with at most 4 KiB of JSON for its record.
func (l *Link) VerdictMarked(id uint64, stdout []byte, status int, mark json.RawMessage) error {
	if len(stdout) > MaxVerdict {
		return fmt.Errorf("%w: a verdict of %d bytes", ErrTooLarge, len(stdout))
	}
	if !l.welcome.TakesHooks {
		return ErrNoHooks
	}
	return l.askSoonWith(frameVerdict, request{Hook: id, Status: status, Mark: mark}, stdout)
}

// Release lets the hook whose record is number id go without a verdict: its
// process ends with status 0 and no output. ErrNotWaiting says that it has
// gone already.
func (l *Link) Release(id uint64) error {
	if !l.welcome.TakesHooks {
		return ErrNoHooks
	}
	return l.askSoon(frameRelease, request{Hook: id})
}
