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

// TestDriversShareTheirKit: two drivers must not have the same function of four lines or more.
// Such a function belongs to a shared package: agent, agent/compose, agent/drawn, agent/hooks or
// agent/userfiles. Otherwise a fault might be fixed in only one of the drivers.
func TestDriversShareTheirKit(t *testing.T) {
	const least = 4 // lines
	files := token.NewFileSet()
	first := map[string]string{} // body → driver and function
	for _, driver := range driverPackages(t) {
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
