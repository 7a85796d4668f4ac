package layout

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	fenced   = regexp.MustCompile("(?ms)^```.*?^```$")
	heading  = regexp.MustCompile(`(?m)^#+ (.+)$`)
	linked   = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)`)
	inAnchor = regexp.MustCompile("[^a-z0-9 _-]")
)

// TestLinks: what a page links to is there, pages, their headings and pictures.
func TestLinks(t *testing.T) {
	out, err := exec.Command("git", "-C", "../..", "ls-files", "--cached", "--others", "--exclude-standard", "*.md").Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	for name := range strings.Lines(string(out)) {
		name = filepath.Join("../..", strings.TrimSpace(name))
		for _, m := range linked.FindAllStringSubmatch(page(t, name), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			to := name
			if file != "" {
				to = filepath.Join(filepath.Dir(name), file)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to %s: %v", name, m[1], err)
			} else if anchor != "" && !anchors(page(t, to))[anchor] {
				t.Errorf("%s links to %s, and that page has no such heading", name, m[1])
			}
		}
	}
}

// TestIndex: docs/README.md links to each page of docs.
func TestIndex(t *testing.T) {
	index := page(t, "../../docs/README.md")
	names, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if base := filepath.Base(name); base != "README.md" && !strings.Contains(index, "("+base) {
			t.Errorf("docs/README.md doesn't link to %s", base)
		}
	}
}

// page is a page's text without blocks of code.
func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return fenced.ReplaceAllString(string(text), "")
}

// anchors are a page's headings as a link names them.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		found[strings.ReplaceAll(inAnchor.ReplaceAllString(strings.ToLower(strings.TrimSpace(m[1])), ""), " ", "-")] = true
	}
	return found
}
