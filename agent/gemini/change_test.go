package gemini_test

import (
	"fmt"
	"strings"
	"testing"
)

// changes is a call that changes a file, and asksToChange the report of its dialog.
func (s *story) changes(event, tool, file, text string) *story {
	input := fmt.Sprintf(`{"file_path":%q,"content":%q}`, file, text)
	if tool == "replace" {
		input = fmt.Sprintf(`{"file_path":%q,"old_string":"start","new_string":%q}`, file, text)
	}
	return s.hook(event, fmt.Sprintf(`"tool_name":%q,"tool_input":%s`, tool, strings.ReplaceAll(input, `\x00`, `\u0000`)))
}

func (s *story) asksToChange(tool, file, text string) *story {
	title := map[string]string{"write_file": "Confirm Write: x", "replace": "Confirm Edit: x"}[tool]
	diff := "Index: x\n--- x\tCurrent\n+++ x\tProposed\n@@ -1,1 +1,2 @@\n-start\n+" + strings.ReplaceAll(text, "\n", "\n+")
	return s.hook("Notification", fmt.Sprintf(`"notification_type":"ToolPermission","details":{"type":"edit","title":%q,"filePath":%q,"fileDiff":%q}`, title, file, diff))
}

func changed(tool, file string) []string {
	head := map[string]string{"write_file": "? WriteFile  Writing to " + file, "replace": "? Edit  " + file + ": start => echo \\"}[tool]
	return box(head, "╭────────────────────╮", "│ 1 + echo \\         │", "│ 2 + touch x        │", "╰────────────────────╯", "Apply this change?",
		"● 1. Allow once", "  2. Allow for this session", "  3. Modify with external editor", "  4. No, suggest changes (esc)")
}

// TestPathsSpelledElse: Gemini changes a file whose path its call spells in another way. The prompt has the call's blanks, and the path that
// Gemini changes. Without its call it takes no key.
func TestPathsSpelledElse(t *testing.T) {
	const text2, blank = "echo \\ \ntouch x", `, line 1: ending with " "`
	deep := "alpha_alpha_alpha/beta_beta_beta/gamma_gamma/c.js"
	for _, c := range []struct{ tool, called, file, drawn, want string }{
		{"write_file", "/w/s%2ejs", "/w/s.js", "s.js", "content" + blank},
		{"write_file", "@at.js", "/w/at.js", "at.js", "content" + blank},
		{"write_file", "nu\x00l.js", "/w/nul.js", "nul.js", "content" + blank},
		{"write_file", "link.js", "/w/target.js", "target.js", "content" + blank},
		{"replace", "/w/lf%2Ejs", "/w/lf.js", "lf.js", "new_string" + blank},
		{"replace", "link.js", "/w/target.js", "target.js", "new_string" + blank},
		{"replace", "c.js", "/w/" + deep, "alpha_alpha_alpha/.../c.js", `file_path: "/w/` + deep + "\"\nnew_string" + blank},
	} {
		for _, other := range []bool{false, true} {
			s := tell(t)
			s.begin(1000).at(1100).changes("BeforeTool", c.tool, c.called, text2)
			if other {
				s.changes("BeforeTool", "write_file", "/w/README.md", "start\n")
			}
			s.at(1200).asksToChange(c.tool, c.file, text2).screen(changed(c.tool, c.drawn)...).at(4500)
			if p := s.fold.Status().Request; p == nil || text(p.Text) != c.want || !s.keyed(p.ID) {
				t.Errorf("%+v: it asks %+v: %s", c, p, text(p.Text))
			}
			s.screen(work...).at(5000).changes("AfterTool", c.tool, c.called, text2).at(5500)
			if p := s.fold.Status().Request; p != nil {
				t.Errorf("%+v: after its end it asks %+v", c, p)
			}
		}
	}
	s := tell(t)
	s.begin(1000).at(1100).changes("BeforeTool", "write_file", "/w/README.md", "start\n").at(1200).asksToChange("write_file", "/w/s.js", text2)
	s.screen(changed("write_file", "s.js")...).at(4500).unanswerable("no call is its own")
	s = tell(t)
	s.begin(1000).at(1100).changes("BeforeTool", "write_file", "link.js", text2).changes("BeforeTool", "write_file", "/w/target.js", "echo \\\ntouch x")
	s.at(1200).asksToChange("write_file", "/w/target.js", text2).screen(changed("write_file", "target.js")...).at(4500)
	if p := s.fold.Status().Request; p == nil || !strings.Contains(text(p.Text), "content"+blank) {
		t.Errorf("of two calls it asks %+v: %s", p, text(p.Text))
	}
}
