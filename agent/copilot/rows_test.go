package copilot_test

import (
	"strings"
	"testing"
)

// TestNamesOfSeveralRows: the end of a row may be within the name of a file, or of a command that an option always
// allows. A blank in its place would name another one.
func TestNamesOfSeveralRows(t *testing.T) {
	edit := command(" ❯ 1. Yes", "   2. No")
	for i, row := range edit {
		edit[i] = strings.Replace(row, "Do you want to run this command?", "Do you want to edit /ws/.git/hooks/ ", 1)
		if edit[i] != row {
			edit = append(edit[:i+1], append([]string{strings.Replace(row, "Do you want to run this command?", "pre-commit?                     ", 1)}, edit[i+1:]...)...)
			break
		}
	}
	if d := shown(edit...).Dialog; d == nil || d.Title != "Do you want to edit /ws/.git/hooks/\npre-commit?" {
		t.Errorf("a file: %+v", d)
	}
	d := shown(command(" ❯ 1. Yes", "   2. Yes, and don't ask again for `git", "   push` and `touch` in this", "   directory (/srv/", "   lab/ws)", "   3. No")...).Dialog
	if d == nil || d.Options[1].Label != "Yes, and don't ask again for `git\npush` and `touch` in this directory (/srv/lab/ws)" {
		t.Errorf("a command: %+v", d)
	}
}
