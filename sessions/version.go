package sessions

import (
	"strings"

	"berth/agent"
	"berth/detect"
	"berth/terminal"
)

// AgentVersion is which version of its agent a session runs, by the agent's own
// word, and whether berth knows how that one behaves.
type AgentVersion struct {
	Version  string  `json:"version"`
	Measured bool    `json:"measured"`
	Known    string  `json:"known"` // the version that was measured
	Note     *string `json:"note"`  // what follows, null when it was measured
}

// versionMost is how much of an agent's word for its version is shown, in bytes.
const versionMost = 64

func agentVersion(d agent.Driver, b detect.Status) *AgentVersion {
	m, ok := d.(agent.Measurer)
	if !ok || b.Version == "" {
		return nil
	}
	said := terminal.Printable(b.Version)
	if len(said) > versionMost {
		said = strings.ToValidUTF8(said[:versionMost], "")
	}
	v := &AgentVersion{Version: said, Measured: !b.Unmeasured, Known: m.MeasuredVersion()}
	if b.Unmeasured {
		v.Note = orNil("berth was measured with " + d.Name() + " " + v.Known + ", not with " + v.Version +
			": it waits longer before it believes that a turn is over, and only when all it sees agrees")
	}
	return v
}

// unmeasured says that the agent's version is another than the measured one.
func (c *core) unmeasured() bool {
	return c.detection != nil && c.detection.fold.Status().Unmeasured
}
