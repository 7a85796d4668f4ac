package codex

import (
	"strings"
	"testing"

	"berth/agent"
)

// Codex ends a new file at the first line without "+", and trims the line that begins the next file.
// A card that shows such a line as an unchanged one would hide a deletion.
func TestPatchOfANewFile(t *testing.T) {
	read := func(lines ...string) []agent.Change {
		return readPatch("*** Begin Patch\n*** Add File: a.txt\n+one\n" + strings.Join(append(lines, "*** End Patch"), "\n"))
	}
	if got := read("+two"); len(got) != 1 || len(got[0].Patch) != 2 {
		t.Errorf("a new file of two lines is read as %+v", got)
	}
	if got := read("*** Update File: b.txt", "@@ f", " one", "-two", "+2", "*** End of File"); len(got) != 2 || len(got[1].Patch) != 5 {
		t.Errorf("a new file and a change are read as %+v", got)
	}
	for _, line := range []string{" *** Delete File: b.txt", "-two", " two", "@@", "*** End of File"} {
		if got := read(line); got != nil {
			t.Errorf("a new file with the line %q is read as %+v", line, got)
		}
	}
}
