package keys_test

import (
	"testing"

	"berth/commands"
	"berth/keys"
)

// TestNamedVerbsExist: a verb that is renamed keeps its rights, or this fails.
func TestNamedVerbsExist(t *testing.T) {
	for name, list := range keys.NamedVerbs() {
		if commands.Lookup(name) == nil {
			t.Errorf("%s names %s, which is not a verb", list, name)
		}
	}
}
