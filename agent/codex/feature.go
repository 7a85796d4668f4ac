package codex

import (
	"strings"

	"berth/agent"
	"berth/agent/pattern"
)

// With this feature a call can ask for network or folders beside its command. Codex shows them
// in the dialog and tells them to no hook, so an answer by hook would allow what nobody saw.
const wideningFeature = "exec_permission_approvals"

// notWidening turns it off, also against the config.toml of a project. Another version may
// not know it: --disable would be an error then.
var notWidening = []string{"-c", "features." + wideningFeature + "=false"}

var turnsOn = pattern.New(wideningFeature + `["']?\s*($|[^=\s"']|=\s*[^f\s])`)

// widens reports whether the user or the session turns the feature on.
func widens(s agent.Start, config string) bool {
	features, _ := s.Settings["features"].(map[string]any)
	given := features[wideningFeature]
	return given != nil && given != false || turnsOn.MatchString(strings.Join(s.Argv, " ")) || turnsOn.MatchString(config)
}
