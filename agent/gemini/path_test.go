package gemini_test

import (
	"fmt"
	"testing"

	"berth/agent/gemini"
)

const shortened = "packages/.../components/index.ts"

func longPath(folder string) string {
	return "packages/" + folder + "/long-name/src/components/index.ts"
}

func (s *story) writesTo(event, file string) *story {
	return s.hook(event, fmt.Sprintf(`"tool_name":"write_file","tool_input":{"file_path":%q,"content":"key"}`, "/w/"+file))
}

func (s *story) asksToWriteTo(file string) *story {
	return s.hook("Notification", fmt.Sprintf(`"notification_type":"ToolPermission","details":{"type":"edit","title":"Confirm Write","filePath":%q,"fileDiff":"+key"}`, "/w/"+file))
}

func writtenTo(file string) []string {
	return box("? WriteFile  Writing to "+file, "╭────────╮", "│ 1 key  │", "╰────────╯", "Apply this change?", "● 1. Allow once", "  2. Allow for this session", "  3. Modify with external editor", "  4. No, suggest changes (esc)")
}

// TestFolderOfAFile: a long path is drawn without folders in its middle, so the prompt has the whole one. If the dialog may be about
// another file too, the prompt has both.
func TestFolderOfAFile(t *testing.T) {
	line := func(folder string) string { return `file_path: "/w/` + longPath(folder) + `"` }
	asks := func(s *story) *story {
		return s.asksToWriteTo(longPath("one")).screen(writtenTo(shortened)...).at(4500)
	}
	const also = "\n\nThe dialog may be that of a call with\n"
	for name, c := range map[string]struct {
		before func(s *story) *story
		want   string
	}{
		"one":             {func(s *story) *story { return s }, line("one")},
		"a short path":    {func(s *story) *story { return s.writesTo("BeforeTool", "other.ts") }, line("one")},
		"a parallel call": {func(s *story) *story { return s.writesTo("BeforeTool", longPath("two")) }, line("one") + also + line("two")},
		"a call before": {func(s *story) *story {
			return s.writesTo("BeforeTool", longPath("two")).writesTo("AfterTool", longPath("two"))
		}, line("one") + also + line("two")},
	} {
		s := tell(t)
		asks(c.before(s.begin(1000).at(1100)).writesTo("BeforeTool", longPath("one")).at(1200))
		if p := s.fold.Status().Request; p == nil || text(p.Text) != c.want || !s.keyed(p.ID) {
			t.Errorf("%s: it asks %+v: %s", name, p, text(p.Text))
		}
	}
	s := tell(t)
	asks(s.begin(1000).at(1100).writesTo("BeforeTool", longPath("one")).at(1200)).writesTo("BeforeTool", longPath("two")).at(5000)
	if p := s.fold.Status().Request; p == nil || text(p.Text) != line("one")+also+line("two") || !s.keyed(p.ID) {
		t.Errorf("a call after it: it asks %+v: %s", p, text(p.Text))
	}
}

// TestUndrawnOfAPage: a page's address, and a found tool's input, may have characters that Gemini doesn't draw.
func TestUndrawnOfAPage(t *testing.T) {
	for tool, hides := range map[string]bool{"web_fetch": true, "discovered_tool_x": true, "mcp_lab_x": true, "ask_user": false} {
		for input, odd := range map[string]bool{`{"prompt":"read http://x/a"}`: false, `{"prompt":"read http://x/a\u200b"}`: true} {
			if text := (gemini.Driver{}).Undrawn(tool, []byte(input), "/w"); (text != "") != (hides && odd) {
				t.Errorf("%s %s: %q", tool, input, text)
			}
		}
	}
}
