package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSequential refuses goroutines in the packages that `make test` runs without the race detector.
func TestSequential(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?m)^SEQUENTIAL := (.+)$`).FindSubmatch(makefile)
	if list == nil {
		t.Fatal("the Makefile has no list SEQUENTIAL")
	}
	for folder := range strings.SplitSeq(string(list[1]), "|") {
		files, err := filepath.Glob(filepath.Join("../..", folder, "*.go"))
		if err != nil || len(files) == 0 {
			t.Errorf("%s: %d files, %v", folder, len(files), err)
		}
		for _, name := range files {
			for _, at := range concurrent(t, name) {
				t.Errorf("%s runs something at once: take %s out of SEQUENTIAL in the Makefile", at, folder)
			}
		}
	}
}

// concurrent returns the places where a file starts a goroutine or lets a test run beside others.
func concurrent(t *testing.T, name string) []token.Position {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var found []token.Position
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = append(found, files.Position(n.Pos()))
		case *ast.SelectorExpr:
			if n.Sel.Name == "Parallel" {
				found = append(found, files.Position(n.Pos()))
			}
		}
		return true
	})
	return found
}
