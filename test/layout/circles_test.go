package layout

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The bounds of what somebody has to keep in mind at once, below sessions and detect.
const (
	mostInCircle = 8  // files of a package that use each other in a circle
	mostFields   = 25 // of a struct whose methods change it
)

// TestFilesUseEachOtherOneWay: in each package below sessions and detect, few files use each other
// in a circle, and no struct with pointer methods has too many fields. A file uses another one by
// the package's objects and methods that the other declares.
func TestFilesUseEachOtherOneWay(t *testing.T) {
	for _, pkg := range load(t, "berth/sessions/...", "berth/detect/...") {
		circle := pkg.largestCircle()
		if len(circle) > mostInCircle {
			t.Errorf("%s: %d files use each other in a circle, and %d may: %s. Move a declaration to a file that others rest on",
				pkg.path, len(circle), mostInCircle, strings.Join(circle, " "))
		}
		for _, name := range pkg.types.Scope().Names() {
			named, ok := pkg.types.Scope().Lookup(name).Type().(*types.Named)
			if !ok {
				continue
			}
			fields, ok := named.Underlying().(*types.Struct)
			byPointer := false
			for method := range named.Methods() {
				_, is := method.Signature().Recv().Type().(*types.Pointer)
				byPointer = byPointer || is
			}
			if ok && byPointer && fields.NumFields() > mostFields {
				t.Errorf("%s.%s has %d fields, and %d may be: find its parts", pkg.path, name, fields.NumFields(), mostFields)
			}
		}
	}
}

// loaded is a package with the files that use each file's declarations.
type loaded struct {
	path  string
	types *types.Package
	files []string
	uses  map[string]map[string]bool // file → files
}

// load type-checks packages against the compiled form of what they import.
func load(t *testing.T, patterns ...string) (all []*loaded) {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,DepOnly"}, patterns...)...).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	type listed struct {
		ImportPath, Dir, Export string
		GoFiles                 []string
		DepOnly                 bool
	}
	exports := map[string]string{}
	var packages []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly {
			packages = append(packages, p)
		}
	}
	set := token.NewFileSet()
	compiled := importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, p := range packages {
		var files []*ast.File
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
		checked, err := (&types.Config{Importer: compiled}).Check(p.ImportPath, set, files, info)
		if err != nil {
			t.Fatal(err)
		}
		pkg := &loaded{path: p.ImportPath, types: checked, files: p.GoFiles, uses: map[string]map[string]bool{}}
		for id, o := range info.Uses {
			_, isFunc := o.(*types.Func)
			if o.Pkg() != checked || !isFunc && o.Parent() != checked.Scope() {
				continue // of another package, a field, or of a function's own
			}
			from, to := filepath.Base(set.Position(id.Pos()).Filename), filepath.Base(set.Position(o.Pos()).Filename)
			if pkg.uses[from] == nil {
				pkg.uses[from] = map[string]bool{}
			}
			pkg.uses[from][to] = true
		}
		all = append(all, pkg)
	}
	return all
}

// largestCircle is the largest set of files of which each one uses every other, directly or by way of
// more files.
func (p *loaded) largestCircle() (largest []string) {
	reaches := map[string]map[string]bool{}
	for _, file := range p.files {
		seen := map[string]bool{}
		for next := []string{file}; len(next) > 0; next = next[1:] {
			for to := range p.uses[next[0]] {
				if !seen[to] {
					seen[to] = true
					next = append(next, to)
				}
			}
		}
		reaches[file] = seen
	}
	for _, file := range p.files {
		circle := slices.DeleteFunc(slices.Clone(p.files), func(other string) bool {
			return !reaches[file][other] || !reaches[other][file]
		})
		if len(circle) > len(largest) {
			largest = circle
		}
	}
	return largest
}
