package hooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"berth/agent"
	"berth/agent/userfiles"
)

// Group is a group of hooks for one event, as the agent's settings have it.
type Group struct {
	Event string
	Hooks any
}

// mark is in each command of InSession, and recognizes it.
const mark = `[ -z "$BERTH_HOOK_SOCKET" ]`

// InSession is the command of a hook in a user's own settings. Outside of a session, in a session whose
// agent has Berth's hooks already, and without the program it exits at once with status 0.
func InSession(program, arguments string) string {
	return mark + ` || [ -n "$BERTH_HOOKS" ] || [ ! -x ` + Quote(program) + ` ] || exec ` + Quote(program) + " hook " + arguments
}

// Before is a user's file as it is now. A missing one has no content.
func Before(disk fs.FS, path string) (file agent.UserFile, err error) {
	file.Path = path
	if file.Before, err = userfiles.ReadSettings(disk, path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return file, fmt.Errorf("%w: read %s: %w", agent.ErrStart, path, err)
	}
	return file, nil
}

// UserFile is a user's settings file with the groups in its object hooks. A group of an earlier call is
// replaced where it is, and everything else stays as it is and in its order. A missing file begins as empty, which
// is an object too.
func UserFile(disk fs.FS, path, empty string, groups []Group) (agent.UserFile, error) {
	file, err := Before(disk, path)
	if err != nil {
		return file, err
	}
	if file.After, err = withGroups(file.Before, empty, groups); err != nil {
		return file, fmt.Errorf("%w: %s: %w; make it valid JSON without comments, or add the hooks by hand", agent.ErrStart, path, err)
	}
	return file, nil
}

func withGroups(data []byte, empty string, groups []Group) ([]byte, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		data = []byte(empty)
	}
	top, err := readObject(data)
	if err != nil {
		return nil, err
	}
	events, err := readObject(top.get("hooks", "{}"))
	if err != nil {
		return nil, fmt.Errorf("hooks: %w", err)
	}
	for _, g := range groups {
		var list []json.RawMessage
		if err := json.Unmarshal(events.get(g.Event, "[]"), &list); err != nil {
			return nil, fmt.Errorf("hooks.%s: %w", g.Event, err)
		}
		one, err := Encode(g.Hooks)
		if err != nil {
			return nil, err
		}
		if at := slices.IndexFunc(list, ours); at >= 0 {
			list[at] = one
		} else {
			list = append(list, one)
		}
		all, err := Encode(list)
		if err != nil {
			return nil, err
		}
		events.set(g.Event, all)
	}
	top.set("hooks", events.encode())
	var out bytes.Buffer
	if err := json.Indent(&out, top.encode(), "", "  "); err != nil {
		return nil, err
	}
	return append(out.Bytes(), '\n'), nil
}

// Position is the position of Berth's group among those of the event, in a file of UserFile.
func Position(data []byte, event string) (int, error) {
	var file struct {
		Hooks map[string][]json.RawMessage `json:"hooks"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return 0, fmt.Errorf("read the hooks: %w", err)
	}
	return slices.IndexFunc(file.Hooks[event], ours), nil
}

// ours reports whether Berth has added the group. Copilot CLI has hooks in place of groups.
func ours(group json.RawMessage) bool {
	type hook struct {
		Command string `json:"command"`
	}
	var g struct {
		hook
		Hooks []hook `json:"hooks"`
	}
	err := json.Unmarshal(group, &g)
	return err == nil && (len(g.Hooks) == 0 && strings.HasPrefix(g.Command, mark) || len(g.Hooks) == 1 && strings.HasPrefix(g.Hooks[0].Command, mark))
}

// object is a JSON object with its members in order.
type object []member

type member struct {
	name  string
	value json.RawMessage
}

func readObject(data []byte) (o object, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	if token, err := d.Token(); err != nil || token != json.Delim('{') {
		return nil, errors.Join(userfiles.ErrNoObject, err)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		m := member{name: fmt.Sprint(name)}
		if err := d.Decode(&m.value); err != nil {
			return nil, err
		}
		o = append(o, m)
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("text follows the JSON object")
	}
	return o, nil
}

func (o object) get(name, otherwise string) json.RawMessage {
	for _, m := range o {
		if m.name == name {
			return m.value
		}
	}
	return json.RawMessage(otherwise)
}

func (o *object) set(name string, value json.RawMessage) {
	for i := range *o {
		if (*o)[i].name == name {
			(*o)[i].value = value
			return
		}
	}
	*o = append(*o, member{name, value})
}

func (o object) encode() []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := Encode(m.name)
		if err != nil {
			continue // a string always encodes
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}
