package gemini_test

import (
	"fmt"
	"testing"
	"time"
)

// in is the call of a command in a folder.
func (s *story) in(event, command, folder string) *story {
	return s.hook(event, fmt.Sprintf(`"tool_name":"run_shell_command","tool_input":{"command":%q,"description":"Go","dir_path":%q}`, command, folder))
}

// keyed says whether accepting the prompt presses a key at the dialog.
func (s *story) keyed(id string) bool {
	p, ok := s.fold.Pending(id)
	return ok && p.Dialog != nil && p.Whole && !p.Request.Contested && !p.Over && !p.Alike && s.fold.Asks(p.Dialog, id)
}

// accept is Berth's key that allows what is asked.
func (s *story) accept() *story {
	s.fold.Answered(s.fold.Status().Request.ID, true)
	return s
}

// unanswerable fails for each prompt that takes a key.
func (s *story) unanswerable(why string) {
	s.t.Helper()
	for _, p := range s.fold.Status().Requests {
		if s.keyed(p.ID) {
			s.t.Errorf("%s: a key answers %q %q", why, text(p.Input), text(p.Text))
		}
	}
}

// TestFolderOfACommand: no dialog draws the folder that a command runs in, so the prompt shows it
// as its hook reported it.
func TestFolderOfACommand(t *testing.T) {
	s := tell(t)
	s.begin(1000).at(1100).in("BeforeTool", "rm -rf x", "../b").at(1200).asks("rm -rf x").screen(confirm("rm -rf x")...).at(1500)
	p := s.fold.Status().Request
	if p == nil || text(p.Text) != `dir_path: "../b"` || !s.keyed(p.ID) {
		t.Errorf("it asks %+v", p)
	}
	s = tell(t)
	s.begin(1000).at(1100).call("rm -rf x").at(1200).asks("rm -rf x").screen(confirm("rm -rf x")...).at(1500)
	if p := s.fold.Status().Request; p == nil || p.Text != nil || !s.keyed(p.ID) {
		t.Errorf("without a folder it asks %+v", p)
	}
}

// TestTwoFolders: two calls differ only in the folder, and the dialog doesn't show which of them it
// asks about. So no key answers either.
func TestTwoFolders(t *testing.T) {
	s := tell(t)
	s.begin(1000).at(1100).in("BeforeTool", "rm -rf x", "a").in("BeforeTool", "rm -rf x", "b")
	s.at(1200).asks("rm -rf x").screen(confirm("rm -rf x")...).at(1500)
	s.unanswerable("both were called")
	s.at(1600).in("AfterTool", "rm -rf x", "b").at(1700)
	s.unanswerable("one was reported to be over while its dialog is on the screen")

	s = tell(t)
	s.begin(1000).at(1100).in("BeforeTool", "rm -rf x", "a").at(1200).asks("rm -rf x").screen(confirm("rm -rf x")...).at(1500)
	s.in("AfterTool", "rm -rf x", "a").in("BeforeTool", "rm -rf x", "b").asks("rm -rf x").at(4000)
	s.unanswerable("the second has the dialog of the first")
	s.at(4100).screen(work...).at(4500).screen(confirm("rm -rf x")...).at(6000)
	s.unanswerable("the first one's dialog was covered")

	s = tell(t)
	s.begin(1000).at(1100).asks("rm -rf x").screen(confirm("rm -rf x")...).at(1200).in("BeforeTool", "rm -rf x", "b").at(2000)
	s.unanswerable("the call was reported after its dialog")
}

// TestCallReportedOver: a forged hook reports that the true call is over before Gemini CLI asks about it.
// The dialog may still be that call's, so no key answers a prompt that shows another folder.
func TestCallReportedOver(t *testing.T) {
	for name, over := range map[string]func(s *story) *story{
		"it has ended":      func(s *story) *story { return s.in("AfterTool", "rm -rf x", "b") },
		"its step":          func(s *story) *story { return s.hook("PreCompress", `"trigger":"auto"`) },
		"another was begun": func(s *story) *story { return s.in("AfterTool", "rm -rf x", "b").call("rm -rf x") },
		"many were begun": func(s *story) *story {
			for i := range 70 {
				s.in("BeforeTool", fmt.Sprint("ls ", i), "a")
			}
			return s.call("rm -rf x")
		},
	} {
		s := tell(t)
		over(s.begin(1000).at(1100).in("BeforeTool", "rm -rf x", "b").at(1110)).at(1200).asks("rm -rf x").screen(confirm("rm -rf x")...).at(1500)
		s.unanswerable(name)
	}
	for _, allowed := range []bool{true, false} { // else another process covers the dialog for a moment
		s := tell(t)
		s.begin(1000).at(1100).in("BeforeTool", "rm -rf x", "a").at(1200).asks("rm -rf x").screen(confirm("rm -rf x")...).at(1500)
		if allowed {
			s.accept()
		}
		s.screen(work...).at(1800).in("AfterTool", "rm -rf x", "a").at(1900).in("BeforeTool", "rm -rf x", "b").at(2000).asks("rm -rf x").screen(confirm("rm -rf x")...).at(4000)
		if p := s.fold.Status().Request; p == nil || text(p.Text) != `dir_path: "b"` || s.keyed(p.ID) != allowed {
			t.Errorf("after a call that was asked about, allowed %v, it asks %+v", allowed, p)
		}
	}
}

// TestManyCallsReportedOver: a long turn reads hundreds of files, which no dialog asks about, or calls a server's tool, whose dialogs name no
// tool. A dialog after them is answered.
func TestManyCallsReportedOver(t *testing.T) {
	for tool, answered := range map[string]bool{"read_file": true, serverTool: true, "web_fetch": true, "run_shell_command": false} {
		s := tell(t)
		s.begin(1000)
		for i := range 300 {
			for _, event := range []string{"BeforeTool", "AfterTool"} {
				s.at(1100+i).hook(event, fmt.Sprintf(`"tool_name":%q,"tool_input":{"file_path":"f%d","command":"cat f%d"}`, tool, i, i))
			}
		}
		s.at(2000).call("rm -rf x").at(2100).asks("rm -rf x").screen(confirm("rm -rf x")...).at(4000)
		if p := s.fold.Status().Request; p == nil || s.keyed(p.ID) != answered {
			t.Errorf("after %s: %+v", tool, p)
		}
	}
}

// TestCoveredDialogIsNotRest: another process covers a dialog by an empty composer, and reports that its call is over. Nothing
// was typed since the dialog was there, so it isn't answered, and its call counts for the next dialog that looks the same.
func TestCoveredDialogIsNotRest(t *testing.T) {
	for _, typed := range []bool{false, true} {
		s := tell(t)
		s.begin(1000).at(1100).in("BeforeTool", "rm -rf x", "a").at(1200).asks("rm -rf x").screen(confirm("rm -rf x")...).at(1500)
		if typed {
			s.fold.Typed(midnight.Add(time.Duration(s.now) * time.Millisecond))
		}
		s.screen(rest...).at(1800).in("AfterTool", "rm -rf x", "a").at(1900).hook("AfterAgent", `"prompt":"x","prompt_response":"y"`).at(9000)
		s.begin(9100).at(9200).in("BeforeTool", "rm -rf x", "b").asks("rm -rf x").screen(confirm("rm -rf x")...).at(12000)
		if p := s.fold.Status().Request; p == nil || text(p.Text) != `dir_path: "b"` || s.keyed(p.ID) != typed {
			t.Errorf("typed %v: it asks %+v", typed, p)
		}
	}
}
