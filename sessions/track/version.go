package track

import (
	"slices"
	"strings"

	"berth/agent"
	"berth/detect"
	"berth/terminal"
)

// AgentVersion is the version that a session's agent reports, and whether Berth was measured with it.
type AgentVersion struct {
	Version  string  `json:"version"`
	Measured bool    `json:"measured"`
	Known    string  `json:"known"` // the newest version that was measured
	Note     *string `json:"note"`  // null if it was measured
}

// versionMost is how many bytes of an agent's version are shown.
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
