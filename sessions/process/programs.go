package process

// Program is a process that a session's terminal has in its foreground.
type Program struct {
	PID    int
	Parent int    // its parent, if that is in the foreground too; else 0
	Start  string // its start time in clock ticks since boot, which distinguishes processes with the same pid
	UID    int    // its user; -1 when that isn't known, or when real, effective and saved user differ
	Argv   []string
	Exe    string // empty when the system doesn't tell
	// Terminal is false when the program is known to read or write something else than a terminal,
	// as in a pipe.
	Terminal bool
}
