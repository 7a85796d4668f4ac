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

// TestWholeLabels: an answer to a permission is shown to its end, whatever blanks are in it.
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

// TestMorePermissions: what a dialog asks for beside the command is a part of its prompt.
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
		if p.FullInput != "ls /etc" || agent.Value(p.Text) != want.text {
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
	if p := (codex.Driver{}).FromDialog(d); agent.Value(p.Text) != "want it\n\nPermission rule: network; write `/etc`" {
		t.Errorf("permissions: %q", agent.Value(p.Text))
	}
}

// options are the rows of a question's options, with their descriptions in one column.
const options = "  › 1. Yes                does it\n" +
	"       2. No              2. rm  -rf / x\n" +
	"    2. Wipe  all          y  z\n" +
	"    3. 語 and more        \n" +
	"    4. None of the above  Optionally, add details in notes (tab)\n"

// TestQuestionsHead: a question begins at the row that Codex draws dim, whatever its words are.
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
