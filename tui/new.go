package tui

import (
	"strings"

	"berth/commands/words"
)

// starting is the form by which a session is made.
type starting struct {
	fields []*startField
	at     int
}

// startField is a line of the form: a text, or a choice.
type startField struct {
	name, label, hint string
	text              *editor
	choices           []string
	chosen            int
}

// ownCommand is the choice that is no profile.
const ownCommand = "a command of your own"

// mayStart says whether the person may make a session here: with a command of
// their own, or from a profile if there is one.
func (m *Model) mayStart() bool {
	return m.world.May["new"] && (m.world.OwnCommand || len(m.world.Profiles) > 0)
}

// openStart begins a session's form.
func (m *Model) openStart() {
	profiles := m.world.Profiles
	if m.world.OwnCommand {
		profiles = append(profiles[:len(profiles):len(profiles)], ownCommand)
	}
	f := &starting{fields: []*startField{
		{name: "profile", label: "Profile", choices: profiles, hint: "left and right choose"},
		{name: "name", label: "Name", text: newEditor("", true), hint: "may stay empty"},
	}}
	if m.world.OwnCommand {
		f.fields = append(f.fields,
			&startField{name: "command", label: "Command", text: newEditor("", true), hint: "such as claude; empty is a shell"},
			&startField{name: "cwd", label: "Folder", text: newEditor("", true), hint: "on the server; empty is the home folder"},
		)
	}
	if m.world.May["nudge"] {
		f.fields = append(f.fields, &startField{name: "prompt", label: "Message", text: newEditor("", true), hint: "the first, may stay empty"})
	}
	m.start = f
}

// shown are the fields that apply to the profile chosen.
func (f *starting) shown() []*startField {
	var list []*startField
	for _, one := range f.fields {
		if (one.name == "command" || one.name == "cwd") && f.profile() != ownCommand {
			continue
		}
		list = append(list, one)
	}
	return list
}

func (f *starting) profile() string { return f.fields[0].choices[f.fields[0].chosen] }

func (f *starting) value(name string) string {
	for _, one := range f.shown() {
		if one.name == name && one.text != nil {
			return strings.TrimSpace(one.text.text)
		}
	}
	return ""
}

// pressStart takes a key in the form.
func (m *Model) pressStart(k Key) Effect {
	f := m.start
	list := f.shown()
	one := list[min(f.at, len(list)-1)]
	switch k.Name {
	case "esc":
		m.start = nil
	case "up", "shift+tab":
		f.at = max(f.at-1, 0)
	case "down", "tab":
		f.at = min(f.at+1, len(list)-1)
	case "enter":
		if f.at < len(list)-1 {
			f.at++
			return nil
		}
		return m.begin()
	case "left", "right", " ":
		if one.choices != nil {
			step := 1
			if k.Name == "left" {
				step = len(one.choices) - 1
			}
			one.chosen = (one.chosen + step) % len(one.choices)
			return nil
		}
		one.text.press(k)
	default:
		if one.text != nil {
			one.text.press(k)
		}
	}
	return nil
}

// begin starts the session.
func (m *Model) begin() Effect {
	f := m.start
	line := []string{"new"}
	name := f.value("name")
	if name != "" {
		line = append(line, name)
	}
	if p := f.profile(); p != ownCommand {
		line = append(line, "--profile", p)
	}
	if cwd := f.value("cwd"); cwd != "" {
		line = append(line, "--cwd", cwd)
	}
	a := Act{Kind: "new", Name: name, Stdin: f.value("prompt")}
	if a.Stdin != "" {
		line = append(line, "--prompt", "-")
	}
	if command := f.value("command"); command != "" {
		argv, err := words.Words(command)
		if err != nil {
			m.Tell("the command: "+err.Error(), failed)
			return nil
		}
		line = append(append(line, "--"), argv...)
	}
	if name == "" {
		a.Name = "the session"
	}
	a.Words = line
	return m.act(a, "starting "+a.Name)
}

func (m *Model) drawStart(a area) {
	t := m.theme
	a.line(0, t.style(faint))
	a.text(2, 0, -1, t.style(strong), " New session ")
	y := min(2, max(a.h-7, 1))
	for i, one := range m.start.shown() {
		label := faint
		if i == m.start.at {
			label = accent
			a.text(0, y, 1, t.style(accent), a.glyph("▌", ">"))
		}
		a.text(2, y, 11, t.style(label), one.label)
		value := a.part(11, y, max(a.w-12, 1), 1)
		switch {
		case one.choices != nil:
			text := one.choices[one.chosen]
			x := value.text(0, 0, -1, t.style(plain), text)
			if i == m.start.at && len(one.choices) > 1 {
				value.text(x+2, 0, -1, t.style(faint), one.hint)
			}
		case one.text.text == "" && i != m.start.at:
			value.text(0, 0, -1, t.style(faint), one.hint)
		case i == m.start.at:
			if one.text.text == "" {
				value.text(1, 0, -1, t.style(faint), one.hint)
			}
			one.text.draw(value, t.style(plain))
		default:
			value.text(0, 0, -1, t.style(plain), one.text.text)
		}
		y++
	}
}
