package agent

// Process is what the operating system says of a session's own program and of
// who has its terminal.
type Process struct {
	Leader     int    // process group of the session's own program
	Foreground int    // foreground process group of its terminal; 0 when not known
	Program    string // name of the foreground program
}

// Supervisor is a Driver that goes by who is in the foreground of the terminal.
// Like all of a Driver it is pure.
type Supervisor interface {
	// Process reads what the system says, which is told when it has changed.
	Process(p Process) []Fact
}

// Fitter is a Driver that is another one for each program.
type Fitter interface {
	// Fit is the driver of a program that is started by that command. rules names
	// those of the configuration that it is read by; empty: those that are for
	// the program, if there are any.
	Fit(command []string, rules string) Driver
	// Rules are the names that there are.
	Rules() []string
}

// Ruled is a Driver that goes by rules of the configuration.
type Ruled interface {
	RulesName() string
}

// Limited is a Driver that cannot tell every state of its program.
type Limited interface {
	// Tells are the states that it can tell by itself, beside those that every
	// session has. What the program says of itself comes on top of them.
	Tells() []State
}

// Laborer is a Driver that says what its agent is at when all that is known is
// that it works; nil: nothing is known. Without it an agent thinks.
type Laborer interface {
	Labor() *Activity
}
