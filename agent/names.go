package agent

// Generic is the name of the agent of any command without a driver of its own. agent/drivers has
// the names of all agents.
const Generic = "generic"
