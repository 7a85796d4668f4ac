package drivers

import "testing"

// TestNames: each driver has a name of its own. With a name that is there twice, one of the two
// drivers would never run.
func TestNames(t *testing.T) {
	if names, all := Names(), ByName(); len(all) != len(names) || all[""] != nil {
		t.Errorf("the names of %d drivers are %q", len(names), names)
	}
}
