package render

import (
	"fmt"
	"strings"
	"testing"
)

// A patch as git writes it, between other text. Lines that look like heads are of a file, where the
// hunk's counts say so.
func TestPatch(t *testing.T) {
	const text = `api: 1 commits since main
diff --git a/notes.txt b/notes.txt
index 83db48f..bf269f4 100644
--- a/notes.txt
+++ b/notes.txt
@@ -2,3 +2,3 @@ head
 two
--- three
+++ drei
 four

New files:
diff --git a/new file b/new file
new file mode 100644
--- /dev/null
+++ b/new file
@@ -0,0 +1 @@
+diff --git a/x b/x
\ No newline at end of file
diff --git a/old b/renamed
similarity index 100%`
	var got []string
	for _, l := range Patch(text) {
		got = append(got, fmt.Sprintf("%s%s", l.Prefix(1), l.Text()))
	}
	want := []string{
		"api: 1 commits since main", "notes.txt", "  @ @@ -2,3 +2,3 @@ head", "2   two", "  - -- three", "3 + ++ drei", "4   four",
		"", "New files:", "new file", "new file mode 100644", "  @ @@ -0,0 +1 @@", "1 + diff --git a/x b/x", "No newline at end of file",
		"a/old b/renamed", "similarity index 100%",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}
