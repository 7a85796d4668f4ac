package agent

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestClasses: each constant of the type is in the list, so that rules accept a new class.
func TestClasses(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "activity.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if of, ok := spec.Type.(*ast.Ident); !ok || of.Name != "Class" {
			return true
		}
		value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if found++; err != nil || !slices.Contains(Classes, Class(value)) {
			t.Errorf("%s is not in Classes (%v)", spec.Names[0].Name, err)
		}
		return true
	})
	if found != len(Classes) {
		t.Errorf("%d classes, and a list of %d", found, len(Classes))
	}
}

// TestClassesInDocs: a person who writes rules finds each class.
func TestClassesInDocs(t *testing.T) {
	page, err := os.ReadFile("../docs/agents/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range Classes {
		if !strings.Contains(string(page), "`"+string(c)+"`") {
			t.Errorf("docs/agents/rules.md does not list the class %s", c)
		}
	}
}
