//go:build agents

package claude

import "berth/test/agents/host"

// kills is how many rounds a queue is killed in.
func kills() int { return 3 * host.Soak() }

// messages is how many are given while people come and go, and dialogs how many
// of them around the appearance of a dialog.
func messages() int { return 40 * host.Soak() }
func dialogs() int  { return 20 * host.Soak() }
