package audit

import (
	"errors"
	"time"
)

// ErrBusy: another line has been on its way to the disk for so long that nobody
// waits for it any more. Nothing was added.
var ErrBusy = errors.New("the disk of the audit log does not answer")

// patience is how long a line waits for the one before it. A disk that is busy
// takes tenths of a second; one that takes longer than this has gone away.
const patience = 5 * time.Second

// patient is a lock that may be waited for with a bound: whoever holds it may be
// stuck in a write to a file system that does not answer, and the others are not to
// hang with it.
type patient chan struct{}

func newPatient() patient { return make(patient, 1) }

func (p patient) Lock()   { p <- struct{}{} }
func (p patient) Unlock() { <-p }

// LockWithin reports whether it got the lock in that time.
func (p patient) LockWithin(d time.Duration) bool {
	select {
	case p <- struct{}{}:
		return true
	default:
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case p <- struct{}{}:
		return true
	case <-t.C:
		return false
	}
}
