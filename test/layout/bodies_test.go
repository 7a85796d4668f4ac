package layout

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestDriversShareTheirKit: a function of four lines or more that two drivers have word
// for word belongs to what they share: agent, agent/compose, agent/drawn, agent/hooks,
// agent/userfiles. A defect of it would be mended in one driver alone.
func TestDriversShareTheirKit(t *testing.T) {
	const least = 4 // lines
	files := token.NewFileSet()
	first := map[string]string{} // body → driver and function
	for _, driver := range []string{"claude", "codex", "gemini", "generic"} {
		paths, err := filepath.Glob("../../agent/" + driver + "/*.go")
		if err != nil || len(paths) == 0 {
			t.Fatalf("list the files of %s: %d, %v", driver, len(paths), err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			parsed, err := parser.ParseFile(files, path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range parsed.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || fn.Body == nil || files.Position(fn.End()).Line-files.Position(fn.Pos()).Line+1 < least {
					continue
				}
				var body bytes.Buffer
				if err := printer.Fprint(&body, files, fn.Body); err != nil {
					t.Fatal(err)
				}
				here := driver + "'s " + fn.Name.Name
				there, stands := first[body.String()]
				switch {
				case !stands:
					first[body.String()] = here
				case !strings.HasPrefix(there, driver+"'s "):
					t.Errorf("%s is %s, word for word", here, there)
				}
			}
		}
	}
}
