package commands

import (
	"strings"
	"testing"
)

// TestNothingWithoutTheAuditLog: what changes something is not done while it
// cannot be written down; looking, and ending what runs, is.
func TestNothingWithoutTheAuditLog(t *testing.T) {
	d := newDesk(t)
	if a := d.call(admin, "new alpha -- cat"); a.status != 0 {
		t.Fatal(a)
	}
	if err := d.Audit.Close(); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"input alpha x", "new beta -- cat", "tag alpha +x", "report status x", "audit verify", "queue alpha rm q1"} {
		if a := d.call(admin, line); a.status != 1 || !strings.Contains(a.err, "audit log can't be written") {
			t.Errorf("%s: %+v", line, a)
		}
	}
	for _, line := range []string{"ls", "state alpha", "screen alpha", "queue alpha", "kill alpha --grace 0s", "rm alpha"} {
		if a := d.call(admin, line); a.status != 0 {
			t.Errorf("%s: %+v", line, a)
		}
	}
	if a := d.call(viewer, "health"); !strings.Contains(a.out, "the audit log can't be written") {
		t.Errorf("health: %+v", a)
	}
}
