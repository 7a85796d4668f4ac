package gemini_test

import (
	"fmt"
	"testing"
)

// TestChangeThatIsModified: the prompt of a change has the blanks and the characters of the lines that the notification reports, if the call
// has others: a person modifies the change in an editor, or a hook does.
func TestChangeThatIsModified(t *testing.T) {
	const wrote = "echo a\ntouch x"
	for _, tool := range []string{"write_file", "replace"} {
		for modified, want := range map[string]string{
			wrote:                   "",
			"echo a \ntouch x":      `change, line 1: ending with " "`,
			"echo a\ntouch x\u200b": `change: "touch x\u200b"`,
			"echo a\n\ttouch x\t":   "change, line 2: ending with \"\\t\"\nchange, line 2: beginning with \"\\t\"",
			"echo a\nmore":          "",
		} {
			s := tell(t)
			s.begin(1000).at(1100).changes("BeforeTool", tool, "/w/s.js", wrote).at(1200).asksToChange(tool, "/w/s.js", wrote)
			s.screen(changed(tool, "s.js")...).at(4500)
			first := s.fold.Status().Request
			if first == nil || text(first.Text) != "" || !s.keyed(first.ID) {
				t.Fatalf("%s: it asks %+v", tool, first)
			}
			s.screen(work...).at(6000).asksToChange(tool, "/w/s.js", modified).screen(changed(tool, "s.js")...).at(9500)
			if p := s.fold.Status().Request; p == nil || text(p.Text) != want || want != "" && p.ID == first.ID || !s.keyed(p.ID) {
				t.Errorf("%s to %q: it asks %+v: %s", tool, modified, p, text(p.Text))
			}
		}
	}
}

// TestEditInALine: an edit of a part of a line has the blanks that the file has around it, other than an indent that stays.
func TestEditInALine(t *testing.T) {
	for _, c := range []struct{ gone, added, want string }{
		{"\techo start", "\techo stop", ""},
		{"\techo start ", "\techo stop ", `change, line 1: ending with " "`},
		{"\techo\tstart", "\techo\tstop", `change, line 1: "echo\tstop"`},
		{"    echo start", "\techo stop", `change, line 1: beginning with "\t"`},
		{"    echo start\u200b", "    echo stop\u200b", `change: "echo stop\u200b"`},
	} {
		s := tell(t)
		s.begin(1000).at(1100).changes("BeforeTool", "replace", "/w/s.js", "stop")
		diff := fmt.Sprintf("Index: x\n--- x\tCurrent\n+++ x\tProposed\n@@ -1,1 +1,1 @@\n-%s\n+%s", c.gone, c.added)
		s.at(1200).hook("Notification", fmt.Sprintf(`"notification_type":"ToolPermission","details":{"type":"edit","title":"Confirm Edit: x","filePath":"/w/s.js","fileDiff":%q}`, diff))
		s.screen(changed("replace", "s.js")...).at(4500)
		if p := s.fold.Status().Request; p == nil || text(p.Text) != c.want || !s.keyed(p.ID) {
			t.Errorf("%q to %q: it asks %+v: %s", c.gone, c.added, p, text(p.Text))
		}
	}
}
