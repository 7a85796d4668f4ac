package hold

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// timerSlack is by how much the kernel may delay timers of server and
	// holder. Each time one of them awakes, Go's monitor thread does too and
	// sleeps 20 µs at a time until all is idle again. With the kernel's usual
	// slack it woke several times for each line of a session and took a
	// processor from who had work: a third of all switches, and a quarter of
	// the CPU time. No timer here is for less than a millisecond.
	timerSlack = time.Millisecond
	// usualSlack is the kernel's own, which programs expect.
	usualSlack = 50 * time.Microsecond
)

// SlackTimers begins this process anew with timers that the kernel may delay:
// the slack holds for threads made after it was set, and the one it is for is
// made before main runs. Holders inherit it. It is called before anything else
// is done, and does not return when it works; else all goes on as usual.
func SlackTimers() {
	runtime.LockOSThread() // what is set is the thread's
	defer runtime.UnlockOSThread()
	if slack() >= timerSlack || setSlack(timerSlack) != nil || slack() != timerSlack {
		return // done, or not to be had: a real-time thread has none
	}
	if exe, err := os.Executable(); err == nil {
		_ = syscall.Exec(exe, os.Args, os.Environ())
	}
	_ = setSlack(usualSlack) // it is as before
}

func slack() time.Duration {
	n, _, errno := unix.Syscall6(unix.SYS_PRCTL, unix.PR_GET_TIMERSLACK, 0, 0, 0, 0, 0)
	if errno != 0 {
		return 0
	}
	return time.Duration(n)
}

func setSlack(d time.Duration) error {
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(d), 0, 0, 0); err != nil {
		return fmt.Errorf("setting the timer slack: %w", err)
	}
	return nil
}

// withUsualSlack starts a program on a thread whose slack it may inherit.
func withUsualSlack(start func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := slack()
	_ = setSlack(usualSlack) // without, its timers are late by a millisecond
	start()
	_ = setSlack(before)
}
