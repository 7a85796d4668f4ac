package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// driverPackages returns the packages below agent/ that agent/drivers imports.
func driverPackages(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, file := range parse(t, "../../agent/drivers/*.go") {
		for _, spec := range file.Imports {
			if name, ok := strings.CutPrefix(spec.Path.Value, `"berth/agent/`); ok {
				all = append(all, strings.TrimSuffix(name, `"`))
			}
		}
	}
	if len(all) == 0 {
		t.Fatal("agent/drivers imports no driver")
	}
	return all
}

// TestOptionalInterfaces: docs/agents/adding.md lists exactly the optional interfaces of package
// agent, each with exactly the drivers that implement it, and these drivers declare it.
func TestOptionalInterfaces(t *testing.T) {
	page, err := os.ReadFile("../../docs/agents/adding.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{} // interface → its drivers
	for _, row := range regexp.MustCompile("(?m)^\\| `([A-Z]\\w+)` \\|.*\\|.*\\| ([a-z, ]+) \\|$").FindAllStringSubmatch(string(page), -1) {
		listed[row[1]] = row[2]
	}
	methods := optionalInterfaces(t)
	drivers := driverPackages(t)
	have, declared := map[string][]string{}, map[string]bool{}
	for _, driver := range drivers {
		for _, file := range parse(t, "../../agent/"+driver+"/*.go") {
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl:
					if n.Recv != nil {
						have[driver] = append(have[driver], n.Name.Name)
					}
				case *ast.TypeSpec:
					have[driver] = append(have[driver], embedded(t, n)...)
				case *ast.ValueSpec:
					if of, ok := n.Type.(*ast.SelectorExpr); ok && n.Names[0].Name == "_" {
						declared[driver+" "+of.Sel.Name] = true
					}
				}
				return true
			})
		}
	}
	for name, all := range methods {
		var by []string
		for _, driver := range drivers {
			if slices.ContainsFunc(all, func(method string) bool { return !slices.Contains(have[driver], method) }) {
				continue
			}
			if by = append(by, driver); !declared[driver+" "+name] {
				t.Errorf("agent/%s implements %s and doesn't declare it: add var _ agent.%s = Driver{}", driver, name, name)
			}
		}
		if want := strings.Join(by, ", "); listed[name] != want {
			t.Errorf("docs/agents/adding.md lists %q for %s, want %q", listed[name], name, want)
		}
		delete(listed, name)
	}
	for name := range listed {
		t.Errorf("docs/agents/adding.md lists %s, which agent/optional.go doesn't have", name)
	}
}

// embedded are the methods of the types of agent's folders that a driver embeds.
func embedded(t *testing.T, spec *ast.TypeSpec) (methods []string) {
	t.Helper()
	of, ok := spec.Type.(*ast.StructType)
	if !ok || spec.Name.Name != "Driver" {
		return nil
	}
	for _, field := range of.Fields.List {
		of, ok := field.Type.(*ast.SelectorExpr)
		if !ok || len(field.Names) > 0 || of.X.(*ast.Ident).Name == "agent" {
			continue
		}
		for _, file := range parse(t, "../../agent/"+of.X.(*ast.Ident).Name+"/*.go") {
			for _, d := range file.Decls {
				d, ok := d.(*ast.FuncDecl)
				if !ok || d.Recv == nil {
					continue
				}
				if on, ok := d.Recv.List[0].Type.(*ast.Ident); ok && on.Name == of.Sel.Name {
					methods = append(methods, d.Name.Name)
				}
			}
		}
	}
	return methods
}

// optionalInterfaces are the methods of each. They must all be in optional.go.
func optionalInterfaces(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for path, file := range parse(t, "../../agent/*.go") {
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			of, ok := spec.Type.(*ast.InterfaceType)
			if !ok || spec.Name.Name == "Driver" {
				return true
			}
			if filepath.Base(path) != "optional.go" {
				t.Errorf("%s has the interface %s: move it to agent/optional.go", path, spec.Name.Name)
			}
			for _, m := range of.Methods.List {
				all[spec.Name.Name] = append(all[spec.Name.Name], m.Names[0].Name)
			}
			return true
		})
	}
	return all
}

// parse parses the files that match, without tests.
func parse(t *testing.T, pattern string) map[string]*ast.File {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("list %s: %d, %v", pattern, len(paths), err)
	}
	all := map[string]*ast.File{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		if all[path], err = parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution); err != nil {
			t.Fatal(err)
		}
	}
	return all
}
