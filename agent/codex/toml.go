package codex

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"berth/agent"
	"berth/agent/hooks"
	"berth/agent/pattern"
)

// toml encodes settings as TOML: single values first, then a table for each group.
func toml(settings map[string]any) (string, error) {
	var b strings.Builder
	if err := table(&b, nil, settings); err != nil {
		return "", err
	}
	return b.String(), nil
}

func table(b *strings.Builder, path []string, fields map[string]any) error {
	names := slices.Sorted(maps.Keys(fields))
	headed := len(path) == 0
	for _, name := range names {
		if _, group := fields[name].(map[string]any); group {
			continue
		}
		value, err := tomlValue(fields[name])
		if err != nil {
			return fmt.Errorf("%w: the setting %s %w", agent.ErrStart, strings.Join(append(path, name), "."), err)
		}
		if !headed {
			fmt.Fprintf(b, "\n[%s]\n", strings.Join(path, "."))
			headed = true
		}
		fmt.Fprintf(b, "%s = %s\n", tomlKey(name), value)
	}
	for _, name := range names {
		if group, ok := fields[name].(map[string]any); ok {
			if err := table(b, append(slices.Clone(path), tomlKey(name)), group); err != nil {
				return err
			}
		}
	}
	return nil
}

var bareKey = pattern.New(`^[A-Za-z0-9_-]+$`)

func tomlKey(name string) string {
	if bareKey.MatchString(name) {
		return name
	}
	return tomlString(name)
}

// tomlString is a basic string. JSON's escapes are also TOML's, except for DEL.
func tomlString(text string) string {
	out, _ := hooks.Encode(strings.ToValidUTF8(text, "\ufffd")) // a string always encodes
	return strings.ReplaceAll(string(out), "\x7f", `\u007f`)
}

// tomlValue is a value on one line.
func tomlValue(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return tomlString(v), nil
	case bool:
		return strconv.FormatBool(v), nil
	case int:
		return strconv.Itoa(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case uint64:
		return strconv.FormatUint(v, 10), nil
	case json.Number:
		return v.String(), nil
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return strconv.FormatInt(int64(v), 10), nil
		}
		return strconv.FormatFloat(v, 'f', -1, 64), nil
	case []any:
		var parts []string
		for _, one := range v {
			part, err := tomlValue(one)
			if err != nil {
				return "", err
			}
			parts = append(parts, part)
		}
		return "[" + strings.Join(parts, ", ") + "]", nil
	case map[string]any:
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			part, err := tomlValue(v[name])
			if err != nil {
				return "", err
			}
			parts = append(parts, tomlKey(name)+" = "+part)
		}
		return "{" + strings.Join(parts, ", ") + "}", nil
	}
	return "", fmt.Errorf("can't be written to config.toml: use text, a number, true, false, a list or a group")
}
