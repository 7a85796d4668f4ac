package sessions

// foreground is not told without a file of each process: a shell's session
// stays in the state starting here.
func foreground(int) (group, front int, program string) { return 0, 0, "" }

// unread is not told without it either.
func unread(int) int { return -1 }

// computing is not told either; without unread it is not asked for.
func computing(int) bool { return false }
