package audit

import (
	"errors"
	"time"
)

// ErrBusy says that an earlier line has been on its way to the disk for too long. Nothing was added.
var ErrBusy = errors.New("the disk of the audit log doesn't answer")

// patience is how long a line waits for the one before it. A busy disk takes tenths of a second; one that
// takes longer than this is gone.
const patience = 5 * time.Second

// patient is a lock with a bounded wait: its holder may be stuck in a write to a file system that doesn't
// answer, and the other callers must not hang with it.
type patient chan struct{}

func newPatient() patient { return make(patient, 1) }

func (p patient) Lock()   { p <- struct{}{} }
func (p patient) Unlock() { <-p }

// LockWithin says whether it got the lock in that time.
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
