package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// The library's own decoder stops at the first mistake. So this package walks the tree itself and
// reports every unknown field and every value of the wrong kind, with its place.

// The walk is bounded, because aliases can make a small file huge or endless.
const (
	maxNodes = 100_000
	maxDepth = 64
)

// decoder reads one file into a Config.
type decoder struct {
	file, base, home string
	anchors          map[string]ast.Node
	places           map[string]place // places of the fields that are set, by name
	problems         Problems
	nodes, depth     int
	verbatim         bool              // paths stay as they are written
	without          map[string]string // fields that this file doesn't have, with what to do instead
}

type place struct{ line, column int }

// decode reads data, the content of file, into c. It overwrites the fields that data sets.
func decode(file string, data []byte, base, home string, c *Config) *decoder {
	d := &decoder{file: file, base: base, home: home, anchors: map[string]ast.Node{}, places: map[string]place{}}
	d.decode(data, reflect.ValueOf(c).Elem())
	return d
}

// decode reads data into v, a struct.
func (d *decoder) decode(data []byte, v reflect.Value) {
	tree, err := parse(data)
	if err != nil {
		d.syntax(err)
		return
	}
	docs := slices.DeleteFunc(tree.Docs, func(doc *ast.DocumentNode) bool { return doc.Body == nil })
	if len(docs) > 1 {
		d.problem(docs[1].Body, "", "a second document starts here", "use one document, without ---")
	}
	if len(docs) > 0 {
		ast.Walk(d, docs[0].Body)
		d.value("", docs[0].Body, v, false)
	}
}

// parse makes the tree. The library has panicked on malformed input, so parse turns a panic into
// an error.
func parse(data []byte) (tree *ast.File, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the file cannot be read as YAML: %v", r)
		}
	}()
	return parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
}

// Visit collects the anchors; it makes decoder an ast.Visitor.
func (d *decoder) Visit(n ast.Node) ast.Visitor {
	if a, ok := n.(*ast.AnchorNode); ok && a.Name != nil {
		d.anchors[a.Name.GetToken().Value] = a.Value
	}
	return d
}

func (d *decoder) syntax(err error) {
	p := Problem{File: d.file, Text: err.Error()}
	var located yaml.Error
	if e, ok := err.(yaml.Error); ok {
		located = e
	}
	if located != nil {
		p.Text = located.GetMessage()
		if t := located.GetToken(); t != nil && t.Position != nil {
			p.Line, p.Column = t.Position.Line, t.Position.Column
		}
	}
	d.problems = append(d.problems, p)
}

func (d *decoder) problem(n ast.Node, field, text, remedy string) {
	p := placeOf(n)
	d.problems = append(d.problems, Problem{
		File: d.file, Line: p.line, Column: p.column, Field: field, Text: text, Remedy: remedy})
}

func placeOf(n ast.Node) place {
	var t *token.Token
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 {
		n = m.Values[0].Key
	}
	if m, ok := n.(*ast.MappingValueNode); ok {
		n = m.Key
	}
	if n != nil {
		t = n.GetToken()
	}
	if t == nil || t.Position == nil {
		return place{1, 1}
	}
	return place{t.Position.Line, t.Position.Column}
}

// resolve follows aliases and removes anchors and tags. It returns nil after it has added a
// problem.
func (d *decoder) resolve(field string, n ast.Node) ast.Node {
	if d.nodes++; d.nodes > maxNodes {
		if d.nodes == maxNodes+1 {
			d.problem(n, field, "the file is too large once its aliases are followed", "write fewer aliases")
		}
		return nil
	}
	for range 20 {
		switch v := n.(type) {
		case *ast.AnchorNode:
			n = v.Value
		case *ast.TagNode:
			n = v.Value
		case *ast.AliasNode:
			name := v.Value.GetToken().Value
			target, ok := d.anchors[name]
			if !ok {
				d.problem(v, field, "there is no anchor "+quote(name), "")
				return nil
			}
			n = target
		default:
			return n
		}
	}
	d.problem(n, field, "its aliases form a cycle", "")
	return nil
}

// value reads the node into v. isPath says that its strings are paths.
func (d *decoder) value(field string, n ast.Node, v reflect.Value, isPath bool) {
	if n = d.resolve(field, n); n == nil {
		return
	}
	d.depth++
	defer func() { d.depth-- }()
	if d.depth > maxDepth {
		d.problem(n, "", "the file is nested too deeply, or an alias is within its own anchor", "write it out flatter")
		return
	}
	if _, null := n.(*ast.NullNode); null {
		if isPath && v.Kind() == reflect.String && n.GetToken().Value == "~" {
			v.SetString(d.home) // ~ is null in YAML, and the home folder in paths
			if d.verbatim {
				v.SetString("~")
			}
			d.places[field] = placeOf(n)
			return
		}
		if v.Kind() != reflect.Struct || v.Type() == reflect.TypeFor[Window]() {
			d.problem(n, field, "has no value", "give it one, or remove it")
		}
		return
	}
	d.places[field] = placeOf(n)
	switch {
	case isScalar(v):
		d.scalar(field, n, v, isPath)
	case v.Kind() == reflect.Pointer:
		fresh := reflect.New(v.Type().Elem())
		d.value(field, n, fresh.Elem(), isPath)
		v.Set(fresh)
	case v.Kind() == reflect.Struct:
		if mode, ok := scalarText(n); ok && v.Type() == reflect.TypeFor[Gate]() {
			v.Set(reflect.ValueOf(Gate{Mode: mode}))
			return
		}
		d.fields(field, n, v)
	case v.Type() == reflect.TypeFor[[]Notify]() && isMapping(n):
		d.named(field, n, v)
	case v.Kind() == reflect.Slice:
		d.list(field, n, v, isPath)
	case v.Kind() == reflect.Map:
		if word, ok := scalarText(n); ok && v.Type() == reflect.TypeFor[Tools]() {
			v.Set(reflect.ValueOf(Tools{word: word})) // checked with all others
			return
		}
		d.table(field, n, v)
	case v.Kind() == reflect.Interface:
		d.free(field, n, v)
	}
}

// named reads a group of rules, whose keys are their names.
func (d *decoder) named(field string, n ast.Node, v reflect.Value) {
	var list []Notify
	for _, p := range d.pairs(field, n) {
		rule := Notify{Name: keyOf(p), Keyed: true}
		at := join(field, quoteKey(rule.Name))
		d.value(at, p.Value, reflect.ValueOf(&rule).Elem(), false)
		if rule.Name != keyOf(p) {
			d.problem(p.Key, at+".name", "the rule is already called "+quoteFree(keyOf(p)), "remove it")
		}
		list = append(list, rule)
	}
	v.Set(reflect.ValueOf(list))
}

func isMapping(n ast.Node) bool {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return true
	}
	return false
}

func kindOf(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a group of fields"
	case *ast.SequenceNode:
		return "a list"
	case *ast.NullNode:
		return "nothing"
	}
	return "a single value"
}

func (d *decoder) list(field string, n ast.Node, v reflect.Value, isPath bool) {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		remedy := "write [...] or one element a line after -"
		if text, scalar := scalarText(n); scalar && v.Type().Elem().Kind() == reflect.String {
			remedy = "write [" + strings.Join(strings.Fields(quoteFree(text)), ", ") + "]"
		}
		d.problem(n, field, "expected a list, not "+kindOf(n), remedy)
		return
	}
	out := reflect.MakeSlice(v.Type(), len(seq.Values), len(seq.Values))
	for i, e := range seq.Values {
		d.value(fmt.Sprintf("%s[%d]", field, i), e, out.Index(i), isPath)
	}
	v.Set(out)
}

// quoteFree is text unchanged if it is printable.
func quoteFree(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) || len(text) > 60 {
		return "..."
	}
	return text
}

// pairs are the entries of a mapping, each key once.
func (d *decoder) pairs(field string, n ast.Node) []*ast.MappingValueNode {
	var all []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingNode:
		all = m.Values
	case *ast.MappingValueNode:
		all = []*ast.MappingValueNode{m}
	default:
		d.problem(n, field, "expected a group of fields, not "+kindOf(n), "")
		return nil
	}
	seen := map[string]place{}
	return slices.DeleteFunc(slices.Clone(all), func(p *ast.MappingValueNode) bool {
		key := keyOf(p)
		if _, merge := p.Key.(*ast.MergeKeyNode); merge {
			d.problem(p.Key, field, "merge keys (<<) aren't supported", "use a profile, or write the fields out")
			return true
		}
		if first, twice := seen[key]; twice {
			d.problem(p.Key, join(field, key), fmt.Sprintf("is set twice, first in line %d", first.line), "keep one")
			return true
		}
		seen[key] = placeOf(p.Key)
		return false
	})
}

func keyOf(p *ast.MappingValueNode) string {
	if s, ok := p.Key.(ast.Node); ok {
		if text, ok := scalarText(s); ok {
			return text
		}
	}
	return p.Key.GetToken().Value
}

func join(field, name string) string {
	if field == "" {
		return name
	}
	return field + "." + name
}

func (d *decoder) fields(field string, n ast.Node, v reflect.Value) {
	given := map[string]string{} // how each field was called
	for _, p := range d.pairs(field, n) {
		name := aliasOf(v.Type(), keyOf(p))
		if before, twice := given[name]; twice {
			d.problem(p.Key, join(field, keyOf(p)), "is another name of "+before+", which is set too", "keep one")
			continue
		}
		given[name] = keyOf(p)
		if remedy, not := d.without[name]; not && field == "" {
			d.problem(p.Key, name, "the field can't be set here", remedy)
			continue
		}
		i := slices.Index(fieldNames(v.Type()), name)
		if i < 0 || name == "-" {
			remedy := "remove it"
			if near := suggest(name, fieldNames(v.Type())); near != "" && near != "-" {
				remedy = "did you mean " + near + "?"
			}
			d.problem(p.Key, join(field, quoteKey(name)), "unknown field", remedy)
			continue
		}
		f := v.Type().Field(i)
		d.value(join(field, name), p.Value, v.Field(i), f.Tag.Get("path") != "")
	}
}

// aliasOf is a field's name for its older one, and otherwise the name itself.
func aliasOf(t reflect.Type, name string) string {
	if t == reflect.TypeFor[Session]() && name == "start" {
		return "start_context"
	}
	return name
}

// quoteKey shows a key of the file in a message.
func quoteKey(key string) string {
	if q := quote(key); q != `"`+key+`"` {
		return q
	}
	return key
}

// fieldNames are the names of a struct's fields in the file, in the order of the fields; - for a
// field that the file doesn't have.
func fieldNames(t reflect.Type) []string {
	names := make([]string, t.NumField())
	for i := range names {
		names[i] = t.Field(i).Tag.Get("yaml")
	}
	return names
}

func (d *decoder) table(field string, n ast.Node, v reflect.Value) {
	out := reflect.MakeMap(v.Type())
	for _, p := range d.pairs(field, n) {
		e := reflect.New(v.Type().Elem()).Elem()
		name := keyOf(p)
		d.value(join(field, quoteKey(name)), p.Value, e, false)
		out.SetMapIndex(reflect.ValueOf(name), e)
	}
	v.Set(out)
}

// free reads a value of any form: settings that are passed on to the agent.
func (d *decoder) free(field string, n ast.Node, v reflect.Value) {
	switch s := n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		m := reflect.ValueOf(&map[string]any{}).Elem()
		d.table(field, n, m)
		v.Set(m)
	case *ast.SequenceNode:
		l := reflect.ValueOf(&[]any{}).Elem()
		d.list(field, n, l, false)
		v.Set(l)
	case ast.ScalarNode:
		if value := s.GetValue(); value != nil {
			v.Set(reflect.ValueOf(value))
		}
	}
}
