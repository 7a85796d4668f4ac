package detect

import (
	"testing"

	"berth/agent"
)

// TestAlone: a prompt's own words are what is before the calls that Berth names. A model's words can begin like those: what
// comes after them counts.
func TestAlone(t *testing.T) {
	also := orAlso("workdir: \"/srv\"")
	for text, want := range map[string]string{
		"":                                       "",
		"why":                                    "why",
		"why\n\n" + also:                         "why",
		also:                                     "",
		"why\n\n" + also + "\n\n" + orAlso(""):   "why",
		"why\n\n" + onlyHook + "\n\n" + also:     "why\n\n" + onlyHook,
		"why\n\n" + also + "\n\n" + onlyHook:     "why\n\n" + onlyHook,
		"why\n\n" + also + "\n\nworkdir: \"/w\"": "why\n\n" + also + "\n\nworkdir: \"/w\"",
	} {
		p := &agent.Request{Text: &text}
		if got := alone(p); got != want {
			t.Errorf("of %q: %q", text, got)
		}
		if got := ofSeveral(p); got != (want != text) {
			t.Errorf("%q names several: %v", text, got)
		}
	}
}
