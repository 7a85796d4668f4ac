package tui

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"berth/commands/words"
	"berth/sessions"
	"berth/terminal"
)

// starting is the form for a new session.
type starting struct {
	agents   []sessions.Installed // nil until the server has answered
	profiles []string
	own      bool // any command in any folder may be started
	message  bool // a first message may be given

	chosen   string // key of the choice of what to start, such as "agent claude"
	tree     bool   // an agent or a command works in a worktree, if the folder is in a repository
	addTree  bool   // a profile's session works in a worktree, whatever the profile says
	recent   []string
	at       int
	fields   map[string]*editor
	untyped  bool // the folder is a suggestion: a typed key replaces it
	folders  sessions.Folders
	unknown  bool // folders couldn't be read
	known    *Ask // the question that folders answers; nil before the first answer
	versions bool // asked for
}

// startedBefore is what the last session was started with, for the next form of this dashboard.
type startedBefore struct {
	chosen, folder string
	noTree         bool
	form           *starting // it failed, and wasn't closed since
}

// ownCommand is the choice to start any command.
const ownCommand = "command"

// mayStart reports whether the person may start a session: with any command, or from a profile if
// there is one.
func (m *Model) mayStart() bool {
	return m.world.May["new"] && (m.world.OwnCommand || len(m.world.Profiles) > 0)
}

// openStart opens the form for a new session.
func (m *Model) openStart() Effect {
	if m.before.form != nil {
		m.start = m.before.form
		return nil
	}
	f := &starting{
		profiles: m.world.Profiles, own: m.world.OwnCommand, message: m.world.May["nudge"],
		chosen: m.before.chosen, tree: !m.before.noTree, fields: map[string]*editor{},
	}
	for _, name := range []string{"folder", "branch", "command", "name", "message", "tags"} {
		f.fields[name] = newEditor("", name != "message")
	}
	m.start = f
	if !f.own {
		f.agents = []sessions.Installed{}
		f.choose(f.chosen)
		return nil
	}
	f.recent = recentFolders(m.before.folder, m.world.Sessions)
	return Ask{what: askAgents}
}

// recentFolders are the folders that sessions were started in, the newest first. The folder of a
// worktree is the one that it was made from.
func recentFolders(last string, list []*sessions.Status) []string {
	var all []string
	if last != "" {
		all = append(all, last)
	}
	list = slices.DeleteFunc(slices.Clone(list), away) // whose folders are on other machines
	slices.SortStableFunc(list, func(a, b *sessions.Status) int { return b.Created.Compare(a.Created.Time) })
	for _, s := range list {
		dir := s.Cwd
		if t := s.Worktree; t != nil {
			dir = path.Join(t.Source, t.Within)
		}
		if dir != "" && !slices.Contains(all, dir) && terminal.Printable(dir) == dir {
			all = append(all, dir)
		}
	}
	return all[:min(len(all), 9)]
}

// choices are the keys of what can be started.
func (f *starting) choices() []string {
	var keys []string
	for _, a := range f.agents {
		keys = append(keys, "agent "+a.Agent)
	}
	for _, p := range f.profiles {
		keys = append(keys, "profile "+p)
	}
	if f.own {
		keys = append(keys, ownCommand)
	}
	return keys
}

// label is a choice as it is drawn.
func (f *starting) label(key string) string {
	kind, name, _ := strings.Cut(key, " ")
	if kind == "agent" {
		i := slices.IndexFunc(f.agents, func(a sessions.Installed) bool { return a.Agent == name })
		return strings.TrimSpace(name + " " + f.agents[i].Version)
	}
	if key == ownCommand {
		return "command or shell"
	}
	return key
}

// choose chooses what to start; the first choice if there is no such one.
func (f *starting) choose(key string) {
	all := f.choices()
	if !slices.Contains(all, key) {
		key = all[0]
	}
	f.chosen = key
	if e := f.fields["folder"]; f.own && (f.untyped || e.text == "") {
		*e, f.untyped = *newEditor("", true), true
		if f.profile() == "" && len(f.recent) > 0 { // a profile has a folder of its own
			*e = *newEditor(f.recent[0], true)
		}
	}
}

// profile is the chosen profile; empty if none is.
func (f *starting) profile() string {
	p, ok := strings.CutPrefix(f.chosen, "profile ")
	if !ok {
		return ""
	}
	return p
}

// shown are the fields that apply to what is chosen.
func (f *starting) shown() []string {
	list := []string{"what"}
	if f.chosen == ownCommand {
		list = append(list, "command")
	}
	if f.own {
		list = append(list, "folder")
	}
	list = append(list, "tree")
	if f.own && f.inTree() {
		list = append(list, "branch")
	}
	list = append(list, "name")
	if f.message {
		list = append(list, "message")
	}
	return append(list, "tags")
}

// field is the name of the field that the keys are for.
func (f *starting) field() string {
	list := f.shown()
	return list[min(f.at, len(list)-1)]
}

// inTree reports whether the form asks for a worktree.
func (f *starting) inTree() bool {
	if f.profile() != "" {
		return f.addTree
	}
	return f.tree && f.folders.Repo
}

// question is what must be known about the folder.
func (f *starting) question() Ask {
	return Ask{what: askFolders, profile: f.profile(), text: f.fields["folder"].text}
}

// waits reports whether a key needs an answer of the server.
func (f *starting) waits(k Key) bool {
	switch {
	case k.Name == "esc" || k.Name == "ctrl+c":
		return false
	case f.agents == nil:
		return true
	case k.Name == "enter" || k.Name == "tab" || k.Name == "down":
		return f.own && (f.known == nil || *f.known != f.question())
	}
	return false
}

func (f *starting) answer(t Offered) Effect {
	switch t.what {
	case askAgents:
		if f.agents == nil {
			f.agents = append([]sessions.Installed{}, t.agents...)
			f.choose(f.chosen)
			return f.question()
		}
	case askVersions:
		for _, a := range t.agents {
			for i := range f.agents {
				if f.agents[i].Agent == a.Agent {
					f.agents[i].Version = a.Version
				}
			}
		}
	case askFolders:
		if f.agents == nil || t.Ask != f.question() {
			return nil // of an older text
		}
		f.folders, f.unknown, f.known = t.folders, t.err != nil, &t.Ask
		if !f.versions {
			f.versions = true
			return Ask{what: askVersions}
		}
	}
	return nil
}

// pressStart handles a key in the form.
func (m *Model) pressStart(k Key) Effect {
	f := m.start
	before := f.question()
	effect := m.pressStartField(k)
	if m.start == f && f.own && f.agents != nil && effect == nil && f.question() != before {
		f.folders.Found = nil
		return f.question()
	}
	return effect
}

func (m *Model) pressStartField(k Key) Effect {
	f := m.start
	last := len(f.shown()) - 1
	f.at = min(f.at, last)
	switch k.Name {
	case "esc":
		m.start, m.before.form = nil, nil
	case "up", "shift+tab":
		f.at = max(f.at-1, 0)
	case "down":
		f.at = min(f.at+1, last)
	case "tab":
		if !f.completeFolder() {
			f.at = (f.at + 1) % (last + 1)
		}
	case "enter":
		return m.begin()
	default:
		switch name := f.field(); name {
		case "what":
			f.pressChoice(k)
		case "tree":
			f.pressTree(k)
		case "folder":
			f.pressFolder(k)
		default:
			f.fields[name].press(k)
		}
	}
	return nil
}

func (f *starting) pressTree(k Key) {
	is := &f.tree
	if f.profile() != "" {
		is = &f.addTree
	}
	switch k.Name {
	case "left", "right", " ":
		*is = !*is
	case "y", "n":
		*is = k.Name == "y"
	}
}

func (f *starting) pressChoice(k Key) {
	all := f.choices()
	i := slices.Index(all, f.chosen)
	switch n, err := strconv.Atoi(k.Name); {
	case err == nil && n >= 1 && n <= len(all):
		i = n - 1
	case k.Name == "left":
		i = (i + len(all) - 1) % len(all)
	case k.Name == "right" || k.Name == " ":
		i = (i + 1) % len(all)
	default:
		return
	}
	f.choose(all[i])
}

// pressFolder handles a key in the folder's field. While nothing was typed, left and right choose a
// recent folder, and a typed text replaces the suggestion.
func (f *starting) pressFolder(k Key) {
	e := f.fields["folder"]
	if f.untyped {
		i := slices.Index(f.recent, e.text)
		switch {
		case (k.Name == "left" || k.Name == "right") && len(f.recent) > 0:
			if k.Name == "left" {
				i = max(i, 0) + len(f.recent) - 1
			} else {
				i++
			}
			*e = *newEditor(f.recent[i%len(f.recent)], true)
			return
		case k.Text != "":
			*e = *newEditor("", true)
		}
	}
	e.press(k)
	f.untyped = false
}

// completeFolder makes the typed folder longer, by what all of the folders that fit have in common. It
// returns false if there is nothing to add.
func (f *starting) completeFolder() bool {
	e := f.fields["folder"]
	if f.field() != "folder" || f.untyped || len(f.folders.Found) == 0 {
		return false
	}
	var paths []string
	for _, one := range f.folders.Found {
		paths = append(paths, one.Path)
	}
	common := commonStart(paths)
	if len(common) <= len(e.text) {
		return false
	}
	*e = *newEditor(common, true)
	return true
}

// begin starts the session. The form comes back if that fails.
func (m *Model) begin() Effect {
	f := m.start
	text := func(name string) string {
		if !slices.Contains(f.shown(), name) {
			return ""
		}
		return strings.TrimSpace(f.fields[name].text)
	}
	line := []string{"new"}
	name := text("name")
	if name != "" {
		line = append(line, name)
	}
	kind, what, _ := strings.Cut(f.chosen, " ")
	if kind != ownCommand {
		line = append(line, "--"+kind, what)
	}
	if cwd := text("folder"); cwd != "" {
		line = append(line, "--cwd="+cwd)
	}
	switch branch := text("branch"); {
	case branch != "":
		line = append(line, "--worktree="+branch)
	case f.inTree():
		line = append(line, "--worktree")
	}
	for _, tag := range strings.Fields(text("tags")) {
		line = append(line, "--tag="+strings.TrimPrefix(tag, "#"))
	}
	a := Act{Kind: "new", Name: cmp.Or(name, "the session"), Stdin: text("message"), form: f}
	if a.Stdin != "" {
		line = append(line, "--prompt", "-")
	}
	if command := text("command"); command != "" {
		argv, err := words.Words(command)
		if err != nil {
			m.Flash("the command: "+err.Error(), failed)
			return nil
		}
		line = append(append(line, "--"), argv...)
	}
	a.Words = line
	effect := m.act(a, "starting "+a.Name)
	if effect != nil {
		m.start = nil
		m.before = startedBefore{chosen: f.chosen, folder: text("folder"), noTree: !f.tree}
	}
	return effect
}
