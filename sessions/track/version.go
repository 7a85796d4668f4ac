package track

import (
	"slices"
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
	Known    string  `json:"known"` // the newest version that was measured
	Note     *string `json:"note"`  // null when it was measured
}

// versionMost is how much of an agent's word for its version is shown, in bytes.
const versionMost = 64

func agentVersion(d agent.Driver, b detect.Status) *AgentVersion {
	m, ok := d.(agent.VersionLister)
	if !ok || b.Version == "" {
		return nil
	}
	said := terminal.Printable(b.Version)
	if len(said) > versionMost {
		said = strings.ToValidUTF8(said[:versionMost], "")
	}
	measured := m.MeasuredVersions()
	v := &AgentVersion{Version: said, Measured: slices.Contains(measured, b.Version), Known: measured[0]}
	if !v.Measured {
		v.Note = orNil("berth was measured with " + d.Name() + " " + strings.Join(measured, " and ") + ", not with " + v.Version)
	}
	return v
}
