package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mostLines limits the lines of functions of the drivers that were written with the kit.
var mostLines = map[string]int{"copilot": 700, "opencode": 700, "qwen": 700}

// TestLinesOfDrivers counts the lines of each driver's functions that have code. Tables, types and comments don't
// count, and neither does what several drivers share.
func TestLinesOfDrivers(t *testing.T) {
	dirs, err := filepath.Glob("../../agent/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		if name, n := filepath.Base(dir), lines(t, dir); n > 0 {
			t.Logf("%5d %s", n, name)
			if most := mostLines[name]; most > 0 && n > most {
				t.Errorf("the functions of agent/%s have %d lines: at most %d; see docs/agents/adding.md", name, n, most)
			}
		}
	}
}

// lines is how many lines of a folder's functions have code.
func lines(t *testing.T, dir string) (n int) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "_test.go") }) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		all := strings.Split(string(text), "\n")
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			for _, line := range all[set.Position(f.Pos()).Line-1 : set.Position(f.End()).Line] {
				if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
					n++
				}
			}
		}
	}
	return n
}
