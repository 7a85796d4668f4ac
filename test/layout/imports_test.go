// Package layout holds the tree to its map: which package may import which.
package layout

import (
	"os/exec"
	"strings"
	"testing"
)

// driver is the rank of the drivers; what they share has a lower one.
const driver = 3

// rank orders the packages of docs/architecture.md: a package imports only
// packages of a lower rank. Packages of one rank do not know each other.
var rank = map[string]int{
	"berth/api":              0,
	"berth/account":          0,
	"berth/agent":            1,
	"berth/terminal":         1, // drawn beside detect on the map; detect reads its snapshots, it knows nobody
	"berth/terminal/paint":   2,
	"berth/keys":             2,
	"berth/detect":           2,
	"berth/agent/drawn":      2,
	"berth/agent/compose":    2,
	"berth/agent/hooks":      0,
	"berth/agent/userfiles":  0,
	"berth/agent/pattern":    0,
	"berth/agent/claude":     driver,
	"berth/audit":            2,
	"berth/audit/follow":     3,
	"berth/agent/codex":      driver,
	"berth/detect/tail":      1, // drawn beside detect on the map; they know nobody
	"berth/detect/watch":     1,
	"berth/agent/gemini":     driver,
	"berth/agent/generic":    driver,
	"berth/rules":            2,
	"berth/detect/replay":    3,
	"berth/config":           3,
	"berth/commands/words":   2,
	"berth/sessions/hold":    2,
	"berth/sessions/events":  2,
	"berth/sessions/lease":   2,
	"berth/sessions/deliver": 2,
	"berth/sessions/groom":   2,
	"berth/sessions":         3,
	"berth/attach":           4,
	"berth/commands":         4,
	"berth/tui":              5,
	"berth/sshd":             5,
	"berth/sshd/files":       5,
	"berth/sshd/local":       5,
	"berth/sshd/dispatch":    6,
	"berth/cmd/berth":        7,
	"berth/cmd/berth-hold":   3, // the holder alone

	// What an orchestrator builds on.
	"berth/orchestrate/begin":       1,
	"berth/orchestrate/command":     1,
	"berth/orchestrate/gate":        1,
	"berth/orchestrate/notify":      1,
	"berth/orchestrate/notify/post": 4,
	"berth/orchestrate/transcript":  2,
}

// TestImportsPointOneWay lists what each package imports, tests left out.
func TestImportsPointOneWay(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "berth/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		from := words[0]
		seen[from] = true
		if strings.HasPrefix(from, "berth/test") {
			continue // tests look at everything
		}
		height, known := rank[from]
		if !known {
			t.Errorf("%s has no place in the order: give it a rank here and a line in docs/architecture.md", from)
			continue
		}
		for _, to := range words[1:] {
			if !strings.HasPrefix(to, "berth/") {
				continue
			}
			if strings.HasPrefix(to, "berth/agent/") && rank[to] == driver && from != "berth/cmd/berth" {
				t.Errorf("%s imports %s: drivers are known to cmd alone", from, to)
			}
			if below, ok := rank[to]; !ok || below >= height {
				t.Errorf("%s (rank %d) imports %s (rank %d)", from, height, to, below)
			}
		}
	}
	for pkg := range rank {
		if !seen[pkg] {
			t.Errorf("%s is in the order and not in the tree", pkg)
		}
	}
}

// TestHolderStaysSmall keeps out of the holder's package what would cost every
// session memory.
func TestHolderStaysSmall(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "berth/cmd/berth-hold").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for dep := range strings.Lines(string(out)) {
		switch dep = strings.TrimSpace(dep); {
		case strings.HasPrefix(dep, "berth/") && dep != "berth/api" && dep != "berth/sessions/hold" && dep != "berth/cmd/berth-hold":
			t.Errorf("the holder knows %s", dep)
		case dep == "net/http", strings.HasPrefix(dep, "golang.org/x/crypto"), strings.HasPrefix(dep, "github.com/spf13"):
			t.Errorf("the holder carries %s", dep)
		}
	}
}
