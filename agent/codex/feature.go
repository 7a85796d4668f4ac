package codex

import (
	"strings"

	"berth/agent"
	"berth/agent/pattern"
)

// wideningFeature lets a call ask for network or folders besides its command. Codex shows them in
// the dialog and reports them to no hook, so an answer by hook would allow what no person saw.
const wideningFeature = "exec_permission_approvals"

// notWidening turns the feature off, also against a project's config.toml. Another version may not
// know the feature, and --disable would then be an error.
var notWidening = []string{"-c", "features." + wideningFeature + "=false"}

var turnsOn = pattern.New(wideningFeature + `["']?\s*($|[^=\s"']|=\s*[^f\s])`)

// widens reports whether the user or the session turns the feature on.
func widens(s agent.Start, config string) bool {
	features, _ := s.Settings["features"].(map[string]any)
	given := features[wideningFeature]
	return given != nil && given != false || turnsOn.MatchString(strings.Join(s.Argv, " ")) || turnsOn.MatchString(config)
}
