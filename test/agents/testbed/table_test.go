package testbed

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTable: docs/agents/scenarios.md has the table of the scenarios.
func TestTable(t *testing.T) {
	files, err := filepath.Glob("../*/scenarios_test.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("find the agents: %v, %v", files, err)
	}
	var agents []string
	for _, file := range files {
		agents = append(agents, filepath.Base(filepath.Dir(file)))
	}
	page, err := os.ReadFile("../../../docs/agents/scenarios.md")
	if err != nil {
		t.Fatal(err)
	}
	if table := Table(agents...); !strings.Contains(string(page), table) {
		t.Errorf("docs/agents/scenarios.md does not have this table:\n%s", table)
	}
}
