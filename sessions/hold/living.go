package hold

// Living tells which process holds the session in a folder, by its holder.json
// alone: false when there is none or it is dead.
func Living(dir string) (pid int, start string, ok bool) {
	id, err := readIdentity(dir)
	if err != nil || !alive(id.PID, id.Start) {
		return 0, "", false
	}
	return id.PID, id.Start, true
}

// StartOf tells a process from a later one with its pid, as HolderStart does.
func StartOf(pid int) (string, error) {
	p, err := lookProcess(pid)
	return p.start, err
}
