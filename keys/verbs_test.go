package keys_test

import (
	"testing"

	"berth/commands"
	"berth/keys"
)

// TestNamedVerbsExist fails if a verb is renamed and the rights still name the old one.
func TestNamedVerbsExist(t *testing.T) {
	for name, list := range keys.NamedVerbs() {
		if commands.Lookup(name) == nil {
			t.Errorf("%s names %s, which is not a verb", list, name)
		}
	}
}
