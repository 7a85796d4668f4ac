package agent

// Process is what the operating system reports about a session's own program and its terminal's
// foreground process.
type Process struct {
	Leader     int    // process group of the session's own program
	Foreground int    // foreground process group of its terminal; 0 when not known
	Program    string // name of the foreground program
}
