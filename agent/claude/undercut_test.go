package claude_test

import (
	"strings"
	"testing"
	"time"
)

// TestCutOverAnother: on a small screen a dialog is cut, and it may be that of another call whose end has no room. Another process draws the
// first one's whole dialog after a resize. Its prompt takes no key, whether it was seen whole before or not.
func TestCutOverAnother(t *testing.T) {
	long := "touch " + strings.Repeat("a", 40)
	whole := asksOfCommand("Makes", long)
	rows := strings.Split(strings.Join(whole.Dialog.Lines, "\n"), "\n")
	cut := draw(80, 8, strings.Join(rows[4:], "\n")) // the end of a dialog: what is above it isn't known
	if cut.Dialog == nil || !cut.Dialog.Cut && cut.Dialog.Title != "" {
		t.Fatalf("it isn't cut: %+v", cut.Dialog)
	}
	for _, before := range []bool{true, false} {
		s := newForgery(t)
		if before {
			s.show(whole)
			s.pass(time.Second)
		}
		s.show(cut)
		s.pass(time.Second)
		s.show(cut)
		if s.takesKeys(whole) {
			t.Errorf("seen whole before: %v: it asks %+v", before, s.f.Status().Requests)
		}
	}
}
