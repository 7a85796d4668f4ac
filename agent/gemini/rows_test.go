package gemini_test

import (
	"strings"
	"testing"
)

// TestRowsThatBeginLikeABox: a plan's row can begin like the side of a box. The prompt shows it.
func TestRowsThatBeginLikeABox(t *testing.T) {
	for _, row := range []string{"╭── and push to production", "╰── and push to production"} {
		d := draw(box("Ready to start implementation?", "", "Change it.", row, "Test it.", "", "● 1.  Yes, automatically accept edits", "  2.  Yes, manually accept edits", "  3.  Type your feedback...", "", "Enter to select · Esc to cancel")...).Dialog
		if d == nil || d.Body != "Change it.\n"+row+"\nTest it." {
			t.Errorf("%s: %+v", row, d)
		}
	}
}

// TestBlankRowInADescription: an option's description can have a blank row. The prompt shows what is below it.
func TestBlankRowInADescription(t *testing.T) {
	d := draw(box("Answer Questions", "", "Where to?", "", "▲", "● 1.  Staging", "      The team's.", "", "      And production.", "  2.  Nowhere", "      No release.", "  3.  Enter a custom value", "▼", "", "Enter to select · ↑/↓ to navigate · Esc to cancel")...).Dialog
	if d == nil || len(d.Options) != 3 || strings.Join(strings.Fields(d.Options[0].More), " ") != "The team's. And production." || d.Options[1].More != "No release." || d.Options[2].More != "" {
		t.Errorf("it is read as %+v", d)
	}
}
