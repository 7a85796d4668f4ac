package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

func isScalar(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int64:
		return true
	}
	return v.Type() == reflect.TypeFor[Window]()
}

func (d *decoder) scalar(field string, n ast.Node, v reflect.Value, isPath bool) {
	text, ok := scalarText(n)
	if !ok && v.Kind() == reflect.String {
		text, ok = withColon(n)
	}
	if !ok {
		d.problem(n, field, "expected a single value, not "+kindOf(n), "")
		return
	}
	if _, isBool := n.(*ast.BoolNode); v.Kind() == reflect.Bool && !isBool {
		d.problem(n, field, quote(text)+" isn't true or false", "write true or false, without quotes")
		return
	}
	if err := setScalar(v, text); err != nil {
		d.problem(n, field, err.Error(), "")
		return
	}
	if isPath && !d.verbatim {
		v.SetString(expand(text, d.base, d.home))
	}
}

// withColon is a word such as report:escalate. The library reads it as a group of one field when
// it is in a list within {}.
func withColon(n ast.Node) (string, bool) {
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) == 1 {
		n = m.Values[0]
	}
	pair, ok := n.(*ast.MappingValueNode)
	if !ok {
		return "", false
	}
	key, ok := scalarText(pair.Key)
	value, also := scalarText(pair.Value)
	at, behind := placeOf(pair.Key), placeOf(pair.Value)
	if !ok || !also || at.line != behind.line || behind.column != at.column+len(key)+1 {
		return "", false
	}
	return key + ":" + value, true
}

// scalarText is a scalar as written, so that 1.10 and 0755 stay unchanged.
func scalarText(n ast.Node) (string, bool) {
	switch s := n.(type) {
	case *ast.StringNode:
		return s.Value, true
	case *ast.LiteralNode:
		return s.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return s.GetToken().Value, true
	}
	return "", false
}

// setScalar reads text into v: a string, bool, whole number, Bytes, duration or Window. Numbers
// are above 0; leaving a field out means "none".
func setScalar(v reflect.Value, text string) error {
	switch v.Interface().(type) {
	case Bytes:
		n, err := ParseBytes(text)
		return setNumber(v, int64(n), err)
	case time.Duration:
		n, err := ParseDuration(text)
		return setNumber(v, int64(n), err)
	case Processors:
		n, err := ParseProcessors(text)
		return setNumber(v, int64(n), err)
	case Clipboard:
		c, err := ParseClipboard(text)
		if err == nil {
			v.Set(reflect.ValueOf(c))
		}
		return err
	case Window:
		w, err := ParseWindow(text)
		if err == nil {
			v.Set(reflect.ValueOf(w))
		}
		return err
	}
	switch v.Kind() {
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%sisn't true or false", quote(text))
		}
		v.SetBool(b)
	case reflect.Int:
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			err = fmt.Errorf("%s isn't a whole number", quote(text))
		}
		return setNumber(v, n, err)
	default:
		if strings.ContainsRune(text, 0) {
			return fmt.Errorf("the text has a NUL character")
		}
		v.SetString(text)
	}
	return nil
}

func setNumber(v reflect.Value, n int64, err error) error {
	if err == nil && n <= 0 {
		err = fmt.Errorf("it must be more than 0")
	}
	if err == nil {
		v.SetInt(n)
	}
	return err
}
