package process

import "time"

// Foreground is not known without a file of each process: a shell's session
// stays in the state starting here.
func Foreground(int) (group, front int, program string) { return 0, 0, "" }

// Unread is not known without it either.
func Unread(int) int { return -1 }

// Computing is not known either; without Unread it is not asked for.
func Computing(int) bool { return false }

// Busy is not known either.
func Busy(int) bool { return false }

// Halted and Stopped are not known either.
func Halted(int) bool  { return false }
func Stopped(int) bool { return false }

// Held is not known either.
func Held(int, bool) bool { return false }

// Changes is not known either.
func Changes(int) bool { return false }

// Shared is not known either.
func Shared(int, int, int) bool { return false }

// Sized is not known either.
func Sized(int, int, int) bool { return true }

// Finds reports whether Programs knows any process.
const Finds = false

// Programs are not known either: no agent is found in a shell.
func Programs(int) []Program { return nil }

// InFront is not asked for without Programs.
func InFront(int, string) bool { return false }

// Runs is not asked for either.
func Runs(int, string) bool { return false }

// Environ is not known either.
func Environ(int) []string { return nil }

// Age is not known either.
func Age(string) time.Duration { return 0 }
