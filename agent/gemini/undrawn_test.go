package gemini_test

import (
	"fmt"
	"strings"
	"testing"
)

// wrapped is the dialog of the command "rm -rf x y", which has no room in one row.
func wrapped() []string {
	return box("? Shell  rm -rf x", "╭──────────╮", "│ rm -rf x │", "│ y        │", "╰──────────╯", "Allow execution of [Shell]?", "● 1. Allow once", "  2. Allow for this session", "  3. No, suggest changes (esc)")
}

// TestFolderOfAWrappedCommand: a command that is wrapped is asked as it is drawn. Its prompt shows the folder,
// or takes no key if the folder may be another's.
func TestFolderOfAWrappedCommand(t *testing.T) {
	const command = "rm -rf x y"
	s := tell(t)
	s.begin(1000).at(1100).in("BeforeTool", command, "../b").at(1200).asks(command).screen(wrapped()...).at(3500)
	if p := s.fold.Status().Request; p == nil || text(p.Text) != `dir_path: "../b"` || !s.keyed(p.ID) {
		t.Errorf("it asks %+v", p)
	}
	for name, forged := range map[string]func(*story) *story{
		"it has ended":      func(s *story) *story { return s.in("AfterTool", command, "../b") },
		"its step":          func(s *story) *story { return s.hook("PreCompress", `"trigger":"auto"`) },
		"another was begun": func(s *story) *story { return s.in("AfterTool", command, "../b").call(command) },
	} {
		s := tell(t)
		forged(s.begin(1000).at(1100).in("BeforeTool", command, "../b").at(1110)).at(1200).asks(command).screen(wrapped()...).at(4500)
		s.unanswerable(name)
	}
}

// writes is the call that writes a file, and written its dialog.
func (s *story) writes(event, content string) *story {
	return s.hook(event, fmt.Sprintf(`"tool_name":"write_file","tool_input":{"file_path":"a.go","content":%q}`, content))
}

func (s *story) asksToWrite(content string) *story {
	return s.hook("Notification", fmt.Sprintf(`"notification_type":"ToolPermission","details":{"type":"edit","title":"Confirm Write","filePath":"/w/a.go","fileDiff":%q}`, "+"+content))
}

func written(content string) []string {
	return box("? WriteFile  Writing to a.go", "╭────────────────────╮", "│ 1 "+content+strings.Repeat(" ", 16-len(content))+" │", "╰────────────────────╯", "Apply this change?",
		"● 1. Allow once", "  2. Allow for this session", "  3. Modify with external editor", "  4. No, suggest changes (esc)")
}

// TestUndrawnCharacters: the dialog of an edit draws no control, direction or zero-width character. The prompt shows
// the lines that have one, or takes no key.
func TestUndrawnCharacters(t *testing.T) {
	const content, line = "one\nkey\u202e \u200bhidden\n", `content: "key\u202e \u200bhidden"`
	s := tell(t)
	s.begin(1000).at(1100).writes("BeforeTool", content).at(1200).asksToWrite(content).screen(written("key hidden")...).at(3500)
	if p := s.fold.Status().Request; p == nil || text(p.Text) != line || !s.keyed(p.ID) {
		t.Errorf("it asks %+v", p)
	}
	s = tell(t)
	s.begin(1000).at(1100).screen(written("key hidden")...).at(1500).writes("BeforeTool", content).at(1600)
	s.unanswerable("its call came after its dialog")
	s.asksToWrite(content).at(3500)
	if p := s.fold.Status().Request; p == nil || text(p.Text) != line || !s.keyed(p.ID) {
		t.Errorf("after its report it asks %+v", p)
	}
	for name, forged := range map[string]func(*story) *story{
		"it has ended":      func(s *story) *story { return s.writes("AfterTool", content) },
		"another was begun": func(s *story) *story { return s.writes("AfterTool", content).writes("BeforeTool", "key hidden") },
	} {
		s := tell(t)
		forged(s.begin(1000).at(1100).writes("BeforeTool", content).at(1110)).at(1200).asksToWrite(content).screen(written("key hidden")...).at(4500)
		s.unanswerable(name)
	}
	s = tell(t)
	s.begin(1000).at(1100).writes("BeforeTool", "  key\nend\n").at(1200).asksToWrite("  key\nend\n").screen(written("  key")...).at(3500)
	if p := s.fold.Status().Request; p == nil || p.Text != nil || !s.keyed(p.ID) {
		t.Errorf("without such a character it asks %+v", p)
	}
}
