package claude

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"berth/agent"
	"berth/agent/userfiles"
)

// subcommands of the measured version have no conversation.
var subcommands = []string{
	"agents", "auth", "auto-mode", "doctor", "gateway", "install", "mcp", "plugin", "plugins", "project", "setup-token", "ultrareview", "update", "upgrade",
}

func isSubcommand(argv []string) bool { return len(argv) > 1 && slices.Contains(subcommands, argv[1]) }

// givenOption is an option of the command that Berth handles.
type givenOption struct {
	name     string // the full name
	value    string
	hasValue bool
	at, end  int // words of the command: the first, and the one after the last
}

// options are a command's options that Berth handles, in their order.
type options struct {
	argv []string
	list []givenOption
}

// taking says what each of these options takes: a value, an optional value, or none.
var taking = map[string]string{
	"--settings": "value", "--session-id": "value", "--resume": "may", "--continue": "", "--fork-session": "", "--from-pr": "may",
	"--print": "", "--output-format": "value", "--input-format": "value",
}

var long = map[string]string{"-r": "--resume", "-c": "--continue", "-p": "--print"}

// parseOptions reads a command as Claude does: --name VALUE or --name=VALUE, and no options after
// --.
func parseOptions(argv []string) *options {
	o := &options{argv: argv}
	for i := 1; i < len(argv) && argv[i] != "--"; i++ {
		name, value, has := strings.Cut(argv[i], "=")
		if full := long[name]; full != "" && !has {
			name = full
		}
		takes, known := taking[name]
		if !known {
			continue
		}
		one := givenOption{name: name, value: value, hasValue: has, at: i, end: i + 1}
		next := i+1 < len(argv) && (takes == "value" || takes == "may" && !strings.HasPrefix(argv[i+1], "-"))
		if !has && next {
			one.value, one.hasValue, one.end = argv[i+1], true, i+2
			i++
		}
		o.list = append(o.list, one)
	}
	return o
}

// last is the last option with that name, which is the one that counts.
func (o *options) last(name string) (givenOption, bool) {
	for _, one := range slices.Backward(o.list) {
		if one.name == name {
			return one, true
		}
	}
	return givenOption{}, false
}

// prints reports whether the command prints its answer and exits: lines if it prints JSON, headless
// if it takes no more messages.
func (o *options) prints() (lines, headless bool) {
	if !o.has("--print") {
		return false, false
	}
	output, _ := o.last("--output-format")
	input, _ := o.last("--input-format")
	return output.value == streamJSON, input.value != streamJSON
}

const streamJSON = "stream-json"

func (o *options) has(names ...string) bool {
	return slices.ContainsFunc(o.list, func(one givenOption) bool { return slices.Contains(names, one.name) })
}

// drop removes options from the command.
func (o *options) drop(names ...string) {
	for _, one := range slices.Backward(o.list) {
		if slices.Contains(names, one.name) {
			o.argv = slices.Concat(o.argv[:one.at], o.argv[one.end:])
		}
	}
	*o = *parseOptions(o.argv)
}

// rest is the command without the dropped options.
func (o *options) rest() []string { return slices.Clone(o.argv) }

// settings are those that the command gives, as JSON or as a file.
func (o *options) settings(s agent.Start) (map[string]any, error) {
	one, ok := o.last("--settings")
	if !ok {
		return map[string]any{}, nil
	}
	data, from := []byte(one.value), "--settings"
	if !strings.HasPrefix(strings.TrimSpace(one.value), "{") {
		path := one.value
		if !filepath.IsAbs(path) {
			path = filepath.Join(s.Cwd, path)
		}
		from = path
		var err error
		if data, err = userfiles.ReadSettings(s.Disk, path); err != nil {
			return nil, fmt.Errorf("%w: can't read the command's settings: %w", agent.ErrStart, err)
		}
	}
	given, err := userfiles.Object(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", agent.ErrStart, from, err)
	}
	return given, nil
}
