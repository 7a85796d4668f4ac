package config

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// Setting is one field set by a flag: {"limits.max_startups", "100"} for --limits-max-startups
// 100. A list is given by several settings with the same name; together they replace the list of
// berth.yaml.
type Setting struct {
	Field string // as in berth.yaml, with dots
	Value string
}

// Settable lists the fields that flags and BERTH_* can set: all but sessions and profiles.
func Settable() []string {
	var out []string
	for _, s := range settable(reflect.ValueOf(&Config{}).Elem(), "") {
		out = append(out, s.field)
	}
	return out
}

// FlagName is the flag of a settable field: --state-dir for state_dir.
func FlagName(field string) string {
	return "--" + strings.NewReplacer(".", "-", "_", "-").Replace(field)
}

// EnvName is the variable of a settable field: BERTH_STATE_DIR for state_dir.
func EnvName(field string) string {
	return "BERTH_" + strings.ToUpper(strings.ReplaceAll(field, ".", "_"))
}

// slot is a settable field of one Config.
type slot struct {
	field  string
	v      reflect.Value
	isPath bool
}

func settable(v reflect.Value, prefix string) []slot {
	var out []slot
	for i, name := range fieldNames(v.Type()) {
		f := v.Field(i)
		switch {
		case name == "-":
		case isScalar(f), f.Type() == reflect.TypeFor[[]string]():
			out = append(out, slot{prefix + name, f, v.Type().Field(i).Tag.Get("path") != ""})
		case f.Kind() == reflect.Struct && f.Type() != reflect.TypeFor[Session]():
			out = append(out, settable(f, prefix+name+".")...)
		}
	}
	return out
}

// notSettings are Berth's variables that set no field: those in every session's environment, and
// the one that Load reads itself.
var notSettings = []string{"BERTH", "BERTH_CONFIG", "BERTH_SESSION", "BERTH_PARENT", "BERTH_DEPTH", "BERTH_SOCKET", "BERTH_UNGROUPS", "BERTH_HOOK_SOCKET"}

// applyEnviron applies BERTH_*. It records in from which variable set each field. An empty
// variable counts as not set.
func (c *Config) applyEnviron(environ []string, from map[string]string) Problems {
	var problems Problems
	slots := map[string]slot{}
	var names []string
	for _, s := range settable(reflect.ValueOf(c).Elem(), "") {
		slots[EnvName(s.field)] = s
		names = append(names, EnvName(s.field))
	}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "BERTH_") || value == "" || slices.Contains(notSettings, name) {
			continue
		}
		s, ok := slots[name]
		if !ok {
			p := Problem{File: name, Notice: true, Text: "the variable sets no field"}
			if near := suggest(name, names); near != "" {
				p.Remedy = "did you mean " + near + "?"
			}
			problems = append(problems, p)
			continue
		}
		values := []string{value}
		if s.v.Kind() == reflect.Slice {
			values = filepath.SplitList(value)
		}
		if err := s.set(values); err != nil {
			problems = append(problems, Problem{File: name, Text: err.Error()})
		}
		from[s.field] = name
	}
	return problems
}

// applySettings applies flags. It records in from which flag set each field.
func (c *Config) applySettings(settings []Setting, from map[string]string) Problems {
	var problems Problems
	slots := settable(reflect.ValueOf(c).Elem(), "")
	values := map[string][]string{}
	for _, s := range settings {
		values[s.Field] = append(values[s.Field], s.Value)
		if !slices.ContainsFunc(slots, func(o slot) bool { return o.field == s.Field }) {
			problems = append(problems, Problem{File: FlagName(s.Field), Text: "unknown field"})
		}
	}
	for _, s := range slots {
		if given := values[s.field]; given != nil {
			if err := s.set(given); err != nil {
				problems = append(problems, Problem{File: FlagName(s.field), Text: err.Error()})
			}
			from[s.field] = FlagName(s.field)
		}
	}
	return problems
}

// set replaces the field's value: with all values for a list, otherwise with the last one. Paths
// start at the working directory.
func (s slot) set(values []string) error {
	if s.isPath {
		wd, err := os.Getwd()
		if err != nil {
			return fmt.Errorf("the working directory: %w", err)
		}
		values = slices.Clone(values)
		for i := range values {
			values[i] = expand(values[i], wd, homeDir(os.Getenv))
		}
	}
	if s.v.Kind() == reflect.Slice {
		s.v.Set(reflect.ValueOf(values))
		return nil
	}
	return setScalar(s.v, values[len(values)-1])
}
