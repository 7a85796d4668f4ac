package agent

// Names of the agents, as used in the configuration and by the verb new.
const (
	Claude = "claude" // Claude Code
	Codex  = "codex"  // Codex CLI
	Gemini = "gemini" // Gemini CLI
	// Generic is the agent of any command that has no driver of its own.
	Generic = "generic"
)

// Names lists the agents that the configuration may name. cmd/berth has a driver for each.
func Names() []string { return []string{Claude, Codex, Gemini, Generic} }
