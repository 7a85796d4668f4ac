package codex_test

import (
	"slices"
	"strings"
	"testing"

	"berth/agent"
	"berth/agent/codex"
)

// The dialogs here are those of version 0.169.0.

const confirm = "\n\n  Press enter to confirm or esc to cancel"

// TestWholeLabels: an option of a permission is shown to its end, with any blanks in it.
func TestWholeLabels(t *testing.T) {
	long := "\n     " + strings.Repeat("abcdefghij", 11) + "\n     abcdefghij`"
	for prefix, want := range map[string]string{
		"`echo 'a  b'`": "`echo 'a  b'`",
		"`echo" + long:  "`echo " + strings.Repeat("abcdefghij", 11) + " abcdefghij`",
	} {
		for _, yes := range []string{"Yes, proceed (y)", "Yes, just this once (y)"} {
			d := draw("  \x1b[1mWould you like to run the following command?\x1b[22m\n\n  Environment: local\n\n  $ echo 'a  b' c\n\n\n› 1. "+yes+"\n"+
				"  2. Yes, and don't ask again for commands that start with "+prefix+" (p)\n  3. No, and tell Codex what to do differently (esc)"+confirm, -1, 0).Dialog
			want := []string{yes, "Yes, and don't ask again for commands that start with " + want + " (p)", "No, and tell Codex what to do differently (esc)"}
			if d == nil || !slices.Equal(d.Labels(), want) {
				t.Errorf("%q: %+v, want %q", prefix, d, want)
			}
		}
	}
}

// TestBrokenLabel: where a row of an answer may end within a word, no blank is made up. These rows are
// those of a window with 60 columns.
func TestBrokenLabel(t *testing.T) {
	for rows, want := range map[string]string{
		"commands that start with\n     `touch nn` (p)":                                                                  "commands that start with `touch nn` (p)",
		"commands that start with\n     `printf aaaa-bbbb/cccc-dddd/eeee-ffff/gggg-hhhh/iiii-\n     jjjj/kkkk-llll` (p)": "commands that start with `printf aaaa-bbbb/cccc-dddd/eeee-ffff/gggg-hhhh/iiii-\njjjj/kkkk-llll` (p)",
		"commands that start with\n     `touch\n     " + strings.Repeat("a", 55) + "\n     aaa` (p)":                     "commands that start with `touch " + strings.Repeat("a", 55) + "\naaa` (p)",
		"commands that start with\n     `echo '" + strings.Repeat("世", 24) + "\n     世世'` (p)":                           "commands that start with `echo '" + strings.Repeat("世", 24) + "\n世世'` (p)",
		"commands `cat aa/\n     kkkk-llll` (p)":                                                                         "commands `cat aa/\nkkkk-llll` (p)",
	} {
		d := drawAt(60, "  \x1b[1mWould you like to run the following command?\x1b[22m\n\n  $ ls\n\n\n› 1. Yes, proceed (y)\n  2. Yes, and don't ask again for "+rows+"\n  3. No, and tell Codex what to do differently (esc)"+confirm, -1, 0).Dialog
		if d == nil || len(d.Options) != 3 || d.Options[1].Label != "Yes, and don't ask again for "+want {
			t.Errorf("%q: %+v", rows, d)
		}
	}
}

// TestAnotherSize: a dialog keeps its id at another size where its command and its answers are not
// broken otherwise; its reason may be.
func TestAnotherSize(t *testing.T) {
	asks := func(cols int, about, prefix string) *agent.Reading {
		r := drawAt(cols, "  \x1b[1mWould you like to run the following command?\x1b[22m\n\n  Environment: local\n\n"+about+"\n\n\n› 1. Yes, proceed (y)\n  2. Yes, and don't ask again for commands that start with"+prefix+" (p)\n  3. No, and tell Codex what to do differently (esc)"+confirm, -1, 0)
		r.Dialog.Height = cols
		return r
	}
	for name, c := range map[string]struct {
		wide, narrow string
		prefix       [2]string
		same         bool
	}{
		"a reason":                  {"  Reason: Why not this or that, or what it is called?\n\n  $ ls", "  Reason: Why not this or that, or\n  what it is called?\n\n  $ ls", [2]string{" `ls`", "\n     `ls`"}, true},
		"another reason":            {"  Reason: Why not?\n\n  $ ls", "  Reason: Why\n  so?\n\n  $ ls", [2]string{" `ls`", "\n     `ls`"}, false},
		"a reason, another command": {"  Reason: Why not?\n\n  $ ls", "  Reason: Why\n  not?\n\n  $ ls -l", [2]string{" `ls`", "\n     `ls`"}, false},
		"a command like a reason":   {"  $ cat <<E\n  Reason: a b\n  E", "  $ cat <<E\n  Reason: a\n  b\n  E", [2]string{" `ls`", "\n     `ls`"}, false},
		"a permission":              {"  Reason: Why\n\n  Permission rule: write `/a b`\n\n  $ ls", "  Reason: Why\n\n  Permission rule: write `/a\n  b`\n\n  $ ls", [2]string{" `ls`", "\n     `ls`"}, false},
		"an answer":                 {"  $ ls", "  $ ls", [2]string{" `ls a/b`", " `ls a/\n     b`"}, false},
	} {
		s := newSeen()
		first := s.show(asks(100, c.wide, c.prefix[0]))
		id, digest := first.ID, first.Digest
		if p := s.show(asks(60, c.narrow, c.prefix[1])); (p.ID == id) != c.same || c.same && p.Digest != digest {
			t.Errorf("%s: prompt %s %s, then %s %s", name, id, digest, p.ID, p.Digest)
		}
	}
}

// TestMorePermissions: the permissions that a dialog asks for in addition to the command are part of its
// prompt.
func TestMorePermissions(t *testing.T) {
	told := codex.Driver{}.Waiting(&agent.Fact{Tool: "Bash", Input: []byte(`{"command":"ls /etc","description":"List"}`)})
	show := func(about string) *agent.Dialog {
		return draw("  \x1b[1mWould you like to run the following command?\x1b[22m\n\n"+about+"  $ ls /etc\n\n\n› 1. Yes, proceed (y)\n  2. No, and tell Codex what to do differently (esc)"+confirm, -1, 0).Dialog
	}
	digests := map[string]string{}
	for about, want := range map[string]struct {
		match agent.Match
		text  string
	}{
		"  Environment: local\n\n  Reason: List\n\n":                                              {agent.WholeMatch, "List"},
		"  Environment: local\n\n  Reason: List\n\n  Permission rule: network; write `/etc`\n\n":  {agent.PartMatch, "List\n\nPermission rule: network; write `/etc`"},
		"  Environment: local\n\n  Reason: List\n\n  Permission rule: network; write `/home`\n\n": {agent.PartMatch, "List\n\nPermission rule: network; write `/home`"},
		"  Environment: production\n\n  Reason: List\n\n":                                         {agent.PartMatch, "Environment: production\n\nReason: List"},
		"  Environment: local\n\n  Permission rule: write `/etc`\n\n":                             {agent.PartMatch, "Permission rule: write `/etc`"},
		"  Environment: local\n\n  Reason: List\n\n  Environment: none\n\n":                       {agent.PartMatch, "List\n\nEnvironment: none"},
	} {
		d := show(about)
		if got := (codex.Driver{}).Match(d, told); got != want.match {
			t.Errorf("%q: %v, want %v", about, got, want.match)
		}
		p := codex.Driver{}.FromDialog(d)
		if p.FullInput != "ls /etc" || drawnText(p) != want.text {
			t.Errorf("%q: it asks %q, %q", about, p.FullInput, agent.Value(p.Text))
		}
		p.Sign()
		if other, same := digests[p.Digest]; same {
			t.Errorf("%q has the digest of %q", about, other)
		}
		digests[p.Digest] = about
	}
	d := draw("  \x1b[1mWould you like to grant these permissions?\x1b[22m\n\n  Environment: local\n\n  Reason: want it\n\n  Permission rule: network; write `/etc`\n\n\n"+
		"› 1. Yes, grant these permissions for this turn (y)\n  2. No, continue without permissions (d)"+confirm, -1, 0).Dialog
	if p := (codex.Driver{}).FromDialog(d); agent.Value(p.Text) != "want it\n\nPermission rule: network; write `/etc`\n\nCodex draws no characters without a width, so this can't show them." {
		t.Errorf("permissions: %q", agent.Value(p.Text))
	}
}

// options are the rows of a question's options, with their descriptions in one column.
const options = "  › 1. Yes                does it\n" +
	"       2. No              2. rm  -rf / x\n" +
	"    2. Wipe  all          y  z\n" +
	"    3. 語 and more        \n" +
	"    4. None of the above  Optionally, add details in notes (tab)\n"

// TestQuestionsHead: a question starts at the row that Codex draws dim, with any words in it.
func TestQuestionsHead(t *testing.T) {
	head, foot := "  \x1b[2mQuestion 1/1 (1 unanswered)\x1b[22m\n", "\n  tab to add notes | enter to submit answer | esc to interrupt"
	d := draw(head+"  \x1b[36mDelete all?\n  Question 1/1 (1 unanswered)\n  Harmless?\x1b[39m\n\n"+options+foot, -1, 0).Dialog
	if d == nil || d.Type != agent.PromptQuestion || d.Cut || !strings.Contains(d.Body, "Delete all?") || !strings.Contains(strings.Join(d.Lines, "\n"), "Delete all?") {
		t.Errorf("%+v", d)
	}
	if d = draw("  Question 1/1 (1 unanswered)\n  Harmless?\n\n"+options+foot, -1, 0).Dialog; d != nil && d.Type == agent.PromptQuestion {
		t.Errorf("without its own head: %+v", d)
	}
}

// TestColumns: a label and its description are parted by their column. Blanks in a label do
// not end it.
func TestColumns(t *testing.T) {
	d := draw("  \x1b[2mQuestion 1/1 (1 unanswered)\x1b[22m\n  Go on?\n\n"+options+"\n  tab to add notes | enter to submit answer | esc to interrupt", -1, 0).Dialog
	if d == nil || !slices.Equal(d.Labels(), []string{"Yes 2. No", "Wipe  all", "語 and more", "None of the above"}) || d.Options[0].More != "does it\n2. rm  -rf / x" || d.Options[1].More != "y  z" || d.Options[2].More != "" {
		t.Fatalf("%+v", d)
	}
	for explained, want := range map[string]agent.Match{"y  z": agent.WholeMatch, "yz": agent.AlikeMatch, "y z and more": agent.PartMatch} {
		p := &agent.Request{Type: agent.PromptQuestion, Questions: []agent.Question{{Text: "Go on?", Options: []string{"Yes 2. No", "Wipe  all", "語 and more"}, Descriptions: []string{"does it 2. rm  -rf / x", explained, ""}}}}
		if got := (codex.Driver{}).Match(d, p); got != want {
			t.Errorf("%q: %v, want %v", explained, got, want)
		}
	}
}

// TestListWithoutRoom: of a list that has no room an option may go on unseen.
func TestListWithoutRoom(t *testing.T) {
	d := draw("  \x1b[2mQuestion 1/1 (1 unanswered)\x1b[22m\n  Go on?\n\n  › 1. Yes long long  does it\n       long long\n    2. Wipe long      y\n       long long\n\n"+
		"  option 1/3 | tab to add notes\n  enter to submit answer\n  esc to interrupt", -1, 0).Dialog
	if d == nil || !d.Cut {
		t.Fatalf("%+v", d)
	}
	p := codex.Driver{}.FromDialog(d)
	if got := (codex.Driver{}).Match(d, p); got != agent.PartMatch {
		t.Errorf("it is shown %v", got)
	}
}

// notDrawn is in the text of a prompt that only its dialog shows.
const notDrawn = "Codex draws no tabs and no characters without a width, so this can't show them."

// drawnText is a prompt's text without that sentence.
func drawnText(p *agent.Request) string {
	return strings.TrimPrefix(strings.Replace(text(p.Text), "\n\n"+notDrawn, "", 1), notDrawn)
}

// TestWhatIsNotDrawn: a command that only its dialog shows may have characters that Codex doesn't draw, and its prompt
// says so. One that a hook reported has them.
func TestWhatIsNotDrawn(t *testing.T) {
	r := draw("  \x1b[1mWould you like to run the following command?\x1b[22m\n\n  Reason: May I?\n\n  $ rm build/"+answers, -1, 0)
	if p := newSeen().show(r); text(p.Text) != "May I?\n\n"+notDrawn+noShell+noFolder {
		t.Errorf("seen: %q", text(p.Text))
	}
	s := newSeen()
	for _, f := range hook(t, "PermissionRequest", `,"cwd":"/w","tool_name":"Bash","tool_input":{"command":"rm build/","description":"May I?"}`) {
		f.Time = s.now
		s.f.Apply(f)
	}
	if p := s.show(r); !p.OnScreen || strings.Contains(text(p.Text), notDrawn) {
		t.Errorf("reported: %+v", p)
	}
}

// TestListScrolled: of a list that was scrolled the first options are out of view. The prompt stays, and its dialog
// shows a part of it, so the answer's error says to make the screen larger.
func TestListScrolled(t *testing.T) {
	const head, foot = "  \x1b[2mQuestion 1/1 (1 unanswered)\x1b[22m\n  Go on?\n\n", " | tab to add notes\n  enter to submit answer\n  esc to interrupt"
	s := newSeen()
	p := s.show(draw(head+"  › 1. Yes                does it\n    2. Wipe               wipes it\n    3. None of the above  Optionally\n\n  tab to add notes | enter to submit answer | esc to interrupt", -1, 0))
	r := draw(head+"    2. Wipe               wipes it\n  › 3. None of the    Optionally\n\n  option 3/3"+foot, -1, 0)
	now := s.show(r)
	if now == nil || now.ID != p.ID || !now.OnScreen || r.Dialog == nil || !r.Dialog.Cut {
		t.Fatalf("%+v, drawn %+v", now, r.Dialog)
	}
	if pending, ok := s.f.Pending(p.ID); !ok || pending.Dialog == nil || pending.Whole || s.keyed(p.ID, r.Dialog) {
		t.Errorf("%+v", pending)
	}
	if now = s.show(draw(head+"    1. Yes                does it\n  › 2. Wipe               wipes it\n    3. None of the above  Optionally\n\n  tab to add notes | enter to submit answer | esc to interrupt", -1, 0)); now.ID != p.ID {
		t.Errorf("whole again: %+v", now)
	}
}

// TestForms: a server's tool is asked about in a form of one field, which the words above it and within
// it cannot turn into a command's dialog; nor can such words turn a command's dialog into a form.
func TestForms(t *testing.T) {
	const (
		head    = "  \x1b[2mField 1/1\x1b[22m\n  Allow the lab MCP server to run tool \"ask\"?\n\n"
		answers = "  › 1. Allow                   Run the tool and continue\n    2. Allow for this session  Run the tool and remember this choice for this session\n    3. Always allow            Run the tool and remember this choice for future tool calls\n    4. Cancel                  Cancel this tool call\n  enter to submit | esc to cancel"
		bold    = "  \x1b[1mWould you like to run the following command?\x1b[22m\n\n  $ ls\n\n"
	)
	labels := []string{"Allow", "Allow for this session", "Always allow", "Cancel"}
	for name, drawn := range map[string]string{
		"alone":               head + "  message: hello\n\n" + answers,
		"below a bold head":   "• Look:\n\n" + bold + head + "  message: hello\n\n" + answers,
		"around such a head":  head + "  message: hello\n\n  Would you like to run the following command? $ ls\n\n" + answers,
		"with another's head": head + "  message: hello\n  Field 1/2: Question 1/1\n\n" + answers,
	} {
		d := draw(drawn, -1, 0).Dialog
		if d == nil || d.Type != agent.PromptPermission || d.Title != `Allow the lab MCP server to run tool "ask"?` || d.Tool != "" || d.Cut != strings.HasPrefix(name, "around") || !d.Alike || !slices.Equal(d.Labels(), labels) || !strings.HasPrefix(d.Body, "message: hello") {
			t.Errorf("%s: %+v", name, d)
		}
		told := hook(t, "PermissionRequest", `,"tool_name":"Bash","tool_input":{"command":"ls"}`)[0].Request
		if m := (codex.Driver{}).Match(d, told); m != agent.NoMatch {
			t.Errorf("%s: a command is shown as %v", name, m)
		}
	}
	for name, drawn := range map[string]string{
		"of several fields":    "  \x1b[2mField 1/2 (1 required unanswered)\x1b[22m\n  Allow the lab MCP server to run tool \"ask\"?\n\n  Size\n\n" + answers,
		"with another message": "  \x1b[2mField 1/1\x1b[22m\n  Pick one\n\n  Would you like to run the following command?\n\n  › 1. Yes, proceed (y)\n    2. No\n  enter to submit | esc to cancel",
		"without its head":     "  Would you like to run the following command?\n\n  › 1. Yes, proceed (y)\n    2. No\n  enter to submit | esc to cancel",
	} {
		if d := draw(drawn, -1, 0).Dialog; d == nil || d.Type != agent.PromptNotice {
			t.Errorf("a form %s: %+v", name, d)
		}
	}
	thought := "• \x1b[2mThinking\x1b[22m\n  \x1b[2mField 1/1\x1b[22m\n  \x1b[2mQuestion 1/1 (1 unanswered)\x1b[22m\n  \x1b[2mAllow the lab MCP server to run tool \"ask\"?\x1b[22m\n\n"
	if d := draw(thought+runs, -1, 0).Dialog; d == nil || d.Tool != "Bash" {
		t.Errorf("a command below words of a form: %+v", d)
	}
	if d := draw(thought+"• Proposed Plan\n\n  Build it."+planEnds, -1, 0).Dialog; d == nil || d.Type != agent.PromptPlan || d.Partial {
		t.Errorf("a plan below words of a question: %+v", d)
	}
}

// TestOtherQuestions: a dialog that isn't about a command has no command, even if its reason or the
// names of a call's fields look like one.
func TestOtherQuestions(t *testing.T) {
	const yes = "\n\n\n› 1. Yes, just this once (y)\n  2. No, and tell Codex what to do differently (esc)" + confirm
	for name, drawn := range map[string]string{
		"the network":   "  \x1b[1mDo you want to approve network access to \"example.com\"?\x1b[22m\n\n  Reason: List\n  $ ls" + yes,
		"permissions":   "  \x1b[1mWould you like to grant these permissions?\x1b[22m\n\n  Environment: local\n\n  Reason: List\n  $ ls" + yes,
		"server's tool": "  \x1b[2mField 1/1\x1b[22m\n  Allow the lab MCP server to run tool \"wipe\"?\n\n  $ ls\n\n  › 1. Allow   Run the tool and continue\n    2. Cancel  Cancel this tool call\n  enter to submit | esc to cancel",
	} {
		r := draw(drawn, -1, 0)
		if r.Dialog == nil || r.Dialog.Type != agent.PromptPermission || r.Dialog.Cut {
			t.Errorf("%s: %+v", name, r.Dialog)
			continue
		}
		if p := (codex.Driver{}).FromDialog(r.Dialog); p.Input != nil || !strings.Contains(text(p.Text), "$ ls") {
			t.Errorf("%s: it asks %q, %q", name, text(p.Input), text(p.Text))
		}
		for _, input := range []string{`{"command":"ls"}`, `{"command":"ls","description":"List"}`} {
			s := newSeen()
			for _, f := range hook(t, "PermissionRequest", `,"tool_name":"Bash","tool_input":`+input) {
				f.Time = s.now
				s.f.Apply(f)
			}
			s.show(r)
			for _, p := range s.f.Status().Requests {
				if text(p.Tool) == "Bash" && s.keyed(p.ID, r.Dialog) {
					t.Errorf("%s: a key answers the command %s", name, input)
				}
			}
		}
	}
}
