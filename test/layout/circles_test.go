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

// The limits, below sessions and detect, of what a reader must keep in mind at once.
const (
	mostInCircle = 8  // files of a package that use each other in a circle
	mostFields   = 25 // of a struct whose methods change it
)

// wide are structs that may have more fields, and why.
var wide = map[string]string{
	"berth/detect.request": "a checkpoint has its fields, and those of what it embeds, in one JSON object",
}

// TestFilesUseEachOtherOneWay: in each package below sessions and detect, few files use each other
// in a circle, and no struct that its methods change has too many fields. A file uses another one by
// the package's objects and methods that the other declares.
func TestFilesUseEachOtherOneWay(t *testing.T) {
	for _, pkg := range load(t, "berth/sessions/...", "berth/detect/...") {
		circle := pkg.largestCircle()
		if len(circle) > mostInCircle {
			t.Errorf("%s: %d files use each other in a circle, and %d may: %s. Move a declaration to a file that others use",
				pkg.path, len(circle), mostInCircle, strings.Join(circle, " "))
		}
		for _, name := range pkg.types.Scope().Names() {
			named, ok := pkg.types.Scope().Lookup(name).Type().(*types.Named)
			if !ok {
				continue
			}
			fields, ok := named.Underlying().(*types.Struct)
			if !ok || !pkg.changed[name] {
				continue
			}
			if n := pkg.allFields(fields); n > mostFields && wide[pkg.path+"."+name] == "" {
				t.Errorf("%s.%s has %d fields, and %d may be: find its parts", pkg.path, name, n, mostFields)
			}
		}
	}
}

// allFields counts the fields of a struct. To embed another struct of the package only moves fields to
// another place, so they count too.
func (p *loaded) allFields(s *types.Struct) (n int) {
	for field := range s.Fields() {
		named, _ := field.Type().(*types.Named)
		if field.Embedded() && named != nil && named.Obj().Pkg() == p.types {
			if inner, ok := named.Underlying().(*types.Struct); ok {
				n += p.allFields(inner)
				continue
			}
		}
		n++
	}
	return n
}

// notesChange notes the type whose field a method sets.
func (p *loaded) notesChange(method *ast.FuncDecl, info *types.Info) {
	if method.Recv == nil || len(method.Recv.List[0].Names) == 0 || method.Body == nil {
		return
	}
	receiver := info.Defs[method.Recv.List[0].Names[0]]
	pointer, ok := receiver.Type().(*types.Pointer)
	if !ok {
		return
	}
	sets := func(target ast.Expr) {
		for {
			switch part := target.(type) {
			case *ast.SelectorExpr:
				target = part.X
			case *ast.IndexExpr:
				target = part.X
			case *ast.Ident:
				if info.Uses[part] == receiver {
					p.changed[pointer.Elem().(*types.Named).Obj().Name()] = true
				}
				return
			default:
				return
			}
		}
	}
	ast.Inspect(method.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, target := range n.Lhs {
				sets(target)
			}
		case *ast.IncDecStmt:
			sets(n.X)
		}
		return true
	})
}

// loaded is a package with the files that use each file's declarations.
type loaded struct {
	path    string
	types   *types.Package
	files   []string
	uses    map[string]map[string]bool // file → files
	changed map[string]bool            // types with a method that sets a field
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
		info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}
		checked, err := (&types.Config{Importer: compiled}).Check(p.ImportPath, set, files, info)
		if err != nil {
			t.Fatal(err)
		}
		pkg := &loaded{path: p.ImportPath, types: checked, files: p.GoFiles, uses: map[string]map[string]bool{}, changed: map[string]bool{}}
		for _, file := range files {
			for _, decl := range file.Decls {
				if method, ok := decl.(*ast.FuncDecl); ok {
					pkg.notesChange(method, info)
				}
			}
		}
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

// largestCircle is the largest set of files that all use each other, directly or through other files.
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
