package codex

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/agent"
	"berth/agent/forks"
	"berth/agent/hooks"
	"berth/agent/pattern"
	"berth/agent/userfiles"
)

// Files of a session's own home.
const (
	configName = "config.toml"
	hooksName  = "hooks.json"
	rulesName  = "rules" // a folder
)

// kept are the names in a user's home that aren't linked: files that the session has for itself,
// and files of running processes.
var kept = []string{configName, hooksName, rulesName, "packages", "tmp", "log"}

// read returns a file's content; empty without the file.
func read(disk fs.FS, file string) ([]byte, error) {
	data, err := fs.ReadFile(disk, userfiles.Name(file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return data, nil
}

// logPattern is the path of a conversation's log below a home.
const logPattern = "/sessions/*/*/*/rollout-*-%s.jsonl"

// spoken reports whether the home has a log of the conversation. Codex creates it with the first
// message.
func spoken(disk fs.FS, home, conversation string) bool {
	_, ok := logOf(disk, home, conversation)
	return ok
}

// logOf is the path of the conversation's log below the home.
func logOf(disk fs.FS, home, conversation string) (string, bool) {
	name, ok := forks.LogOf(disk, home+logPattern, conversation)
	return strings.TrimPrefix(name, userfiles.Name(home)+"/"), ok
}

// HasConversation reports whether the conversation has a log.
func (Driver) HasConversation(disk fs.FS, logFiles, conversation string) bool {
	home, ok := strings.CutSuffix(logFiles, logPattern)
	return ok && spoken(disk, home, conversation)
}

// forkOf starts a conversation as a fork of another. This home needs the other one's log: it is
// there if the user's sessions are linked, otherwise it is copied from the session that has it. Without the log it has no
// words.
func forkOf(l *agent.Launch, s agent.Start, home, own string) []string {
	if _, shared := l.Links[filepath.Join(own, "sessions")]; !shared || !spoken(s.Disk, home, s.Fork) {
		from := filepath.Join(s.ForkFolder, homeName)
		if !spoken(s.Disk, from, s.Fork) {
			from = home
		}
		log, ok := logOf(s.Disk, from, s.Fork)
		if !ok {
			return nil
		}
		delete(l.Links, filepath.Join(own, "sessions")) // a copied log must not get into the user's folder
		to := filepath.Join(own, log)
		l.Folders = append(l.Folders, filepath.Dir(to))
		l.Copies = map[string]string{to: filepath.Join(from, log)}
	}
	return []string{"fork", s.Fork}
}

// ownHome adds the session's home to the launch. more reports whether calls may ask for more than
// their hooks report.
func ownHome(l *agent.Launch, s agent.Start, user, own string) (more bool, err error) {
	l.Folders = []string{own}
	l.Set = map[string]string{"CODEX_HOME": own}
	l.Files, l.Links = map[string][]byte{}, map[string]string{}
	if err := link(l, s, user, own); err != nil {
		return false, err
	}
	users := user
	if s.Isolate == agent.IsolateFull {
		users = "" // only the credentials come from it
	}
	if err := rules(l, s, users, own); err != nil {
		return false, err
	}
	before, err := configBefore(s, users, own)
	if err != nil {
		return false, err
	}
	more = widens(s, before)
	hooks, trust, err := hooksFile(s, users, own, more)
	if err != nil {
		return false, err
	}
	l.Files[filepath.Join(own, hooksName)] = hooks
	l.Files[filepath.Join(own, configName)] = config(s, before, trust)
	return more, nil
}

// link links the session's home to the user's files.
func link(l *agent.Launch, s agent.Start, user, own string) error {
	entries, err := fs.ReadDir(s.Disk, userfiles.Name(user))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("list the home of codex: %w", err)
	}
	for _, e := range entries {
		name := e.Name()
		special := e.Type()&(fs.ModeSocket|fs.ModeNamedPipe|fs.ModeDevice) != 0
		database := strings.HasSuffix(name, "-wal") || strings.HasSuffix(name, "-shm") // SQLite creates these next to the linked file
		if special || database || slices.Contains(kept, name) || s.Isolate == agent.IsolateFull && name != "auth.json" {
			continue
		}
		l.Links[filepath.Join(own, name)] = filepath.Join(user, name)
	}
	// Codex writes auth.json through the link, also when it doesn't exist yet. A sign-in in one
	// session then counts for all, as without Berth.
	l.Links[filepath.Join(own, "auth.json")] = filepath.Join(user, "auth.json")
	return nil
}

// rules has the user's rules of allowed commands, and a rule of Berth's: berth hook only reports an
// event, and Codex's sandbox would keep it from the server.
func rules(l *agent.Launch, s agent.Start, user, own string) error {
	dir := filepath.Join(own, rulesName)
	l.Folders = append(l.Folders, dir)
	if user != "" {
		entries, err := fs.ReadDir(s.Disk, userfiles.Name(filepath.Join(user, rulesName)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("list the rules of codex: %w", err)
		}
		for _, e := range entries {
			l.Links[filepath.Join(dir, e.Name())] = filepath.Join(user, rulesName, e.Name())
		}
		if err == nil { // Codex appends commands that the user allowed for good
			l.Links[filepath.Join(dir, "default.rules")] = filepath.Join(user, rulesName, "default.rules")
		}
	}
	if s.Hook == "" {
		return nil
	}
	text := ""
	for _, name := range []string{"berth", s.Berth, s.Hook} {
		if rule := "prefix_rule(pattern = [" + tomlString(name) + ", \"report\"], decision = \"allow\")\n"; name != "" && !strings.Contains(text, rule) {
			text += rule
		}
	}
	l.Files[filepath.Join(dir, "berth.rules")] = []byte(text)
	return nil
}

// events are all hook events of Codex.
var events = []string{
	"SessionStart", "SessionEnd", "UserPromptSubmit", "PreModelRequest", "PostModelRequest", "PreToolUse", "PermissionRequest", "PostToolUse",
	"PreCompact", "PostCompact", "SubagentStart", "SubagentStop", "Stop", "Interrupt",
}

const (
	// askHold is how long the hook of a permission waits for a person's answer: the 600 s that
	// Codex gives a hook, minus the time to exit without an answer. While it waits Codex shows no
	// dialog.
	askHold = 590 * time.Second
	// askGrace is how long the hook waits for a missing server. No client can answer then, so the
	// dialog must come.
	askGrace = time.Second
)

// hookCommand is the command for an event. It sets no timeout: Codex's default is part of the hash
// that it trusts.
//
// A permission's hook waits for the answer if it reports all that the call asks for.
func hookCommand(s agent.Start, event string, more bool) string {
	command := hooks.Quote(s.Hook) + " hook "
	while := func(file string) string {
		return command + "--ask " + seconds(hooks.Hold) + " " + seconds(hooks.Grace) + " --if " + hooks.Quote(file) + " " + event
	}
	switch {
	case event == "PermissionRequest" && !more:
		return command + "--ask " + seconds(askHold) + " " + seconds(askGrace) + " " + event
	case event == "Stop" && s.EndAsks != "":
		return while(s.EndAsks)
	case event == "SessionStart" && s.StartAsks != "":
		return while(s.StartAsks)
	}
	return command + "--tell " + event
}

func seconds(d time.Duration) string { return strconv.Itoa(int(d.Seconds())) + "s" }

// trusted is a hook that Codex runs without asking.
type trusted struct {
	key  string // file:event:group:hook
	hash string
}

// table is the heading of the hook's trust in config.toml.
func (t trusted) table() string { return "[hooks.state." + quoted(t.key) + `"]` }

// hooksFile is the session's hooks.json. The user's groups come first, because Codex identifies a
// group by its position. Berth's groups come after them.
func hooksFile(s agent.Start, user, own string, more bool) ([]byte, []trusted, error) {
	file := struct {
		Hooks map[string][]json.RawMessage `json:"hooks"`
	}{}
	if user != "" {
		data, err := read(s.Disk, filepath.Join(user, hooksName))
		if err != nil {
			return nil, nil, err
		}
		if len(bytes.TrimSpace(data)) > 0 {
			if err := json.Unmarshal(data, &file); err != nil {
				return nil, nil, fmt.Errorf("%w: %s isn't a valid hooks file: %w", agent.ErrStart, filepath.Join(user, hooksName), err)
			}
		}
	}
	if file.Hooks == nil {
		file.Hooks = map[string][]json.RawMessage{}
	}
	var trust []trusted
	err := callersHooks(s.Settings, func(event string, group json.RawMessage, trusts func(string) ([]trusted, error)) error {
		list, err := trusts(hookKey(own, event, len(file.Hooks[event])))
		trust, file.Hooks[event] = append(trust, list...), append(file.Hooks[event], group)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if s.Hook != "" {
		for _, e := range events {
			command := hookCommand(s, e, more)
			group, err := hooks.Encode(map[string]any{"hooks": []any{map[string]any{"type": "command", "command": command}}})
			if err != nil {
				return nil, nil, err
			}
			hash, err := Trust(e, command)
			if err != nil {
				return nil, nil, err
			}
			trust = append(trust, trusted{hookKey(own, e, len(file.Hooks[e])) + ":0", hash})
			file.Hooks[e] = append(file.Hooks[e], group)
		}
	}
	out, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return nil, nil, fmt.Errorf("encode the hooks: %w", err)
	}
	return append(out, '\n'), trust, nil
}

// hookKey is Codex's key of a group of hooks: its position.
func hookKey(own, event string, group int) string {
	return filepath.Join(own, hooksName) + ":" + snake(event) + ":" + strconv.Itoa(group)
}

// hookTimeout is Codex's timeout, in seconds, for a hook that sets none.
func hookTimeout(event string) int {
	if event == "SessionEnd" || event == "Interrupt" {
		return 1
	}
	return 600
}

// Trust is the hash that Codex trusts a hook by. The hook runs a command, without a matcher and
// with Codex's default timeout.
func Trust(event, command string) (string, error) {
	return trustHash(event, command, hookTimeout(event), nil)
}

func trustHash(event, command string, timeout int, matcher *string) (string, error) {
	fields := map[string]any{
		"event_name": snake(event),
		"hooks":      []any{map[string]any{"async": false, "command": command, "timeout": timeout, "type": "command"}},
	}
	if matcher != nil {
		fields["matcher"] = *matcher
	}
	normal, err := hooks.Encode(fields)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(normal)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

var upper = pattern.New(`[A-Z]`)

// snake is the event's name in Codex's settings: pre_tool_use.
func snake(event string) string {
	return strings.TrimPrefix(upper.ReplaceAllStringFunc(event, func(c string) string { return "_" + strings.ToLower(c) }), "_")
}

// configBefore is what Codex has written into the session's config.toml, else the user's, with
// the trust in hooks moved to where they are now.
func configBefore(s agent.Start, user, own string) (string, error) {
	data, err := read(s.Disk, filepath.Join(own, configName))
	if err != nil || data != nil || user == "" {
		return string(data), err
	}
	if data, err = read(s.Disk, filepath.Join(user, configName)); err != nil {
		return "", err
	}
	text := string(data)
	for _, name := range []string{hooksName, configName} {
		from, to := filepath.Join(user, name)+":", filepath.Join(own, name)+":"
		text = strings.ReplaceAll(text, "[hooks.state."+quoted(from), "[hooks.state."+quoted(to))
	}
	return text, nil
}

// config is the session's config.toml: the text before, and the trust in the hooks that the session
// has now. Tables go to the end, single settings to the start.
func config(s agent.Start, before string, trust []trusted) []byte {
	text := before
	for _, t := range trust {
		text = trusting(text, t)
	}
	var b strings.Builder
	if s.Groom == agent.GroomAuto && !updates.MatchString(text) {
		b.WriteString("check_for_update_on_startup = false\n")
	}
	b.WriteString(text)
	if text != "" && !strings.HasSuffix(text, "\n") {
		b.WriteByte('\n')
	}
	if table := "[projects." + quoted(s.Cwd) + `"]`; s.Trust && s.Cwd != "" && !strings.Contains(text, table) {
		fmt.Fprintf(&b, "\n%s\ntrust_level = \"trusted\"\n", table)
	}
	for _, t := range trust {
		if table := t.table(); !strings.Contains(text, table) {
			fmt.Fprintf(&b, "\n%s\ntrusted_hash = \"%s\"\n", table, t.hash)
		}
	}
	return []byte(b.String())
}

var trustedHash = pattern.New(`(?m)^trusted_hash *= *"[^"]*"`)

// trusting is the config.toml with the new hash of a changed hook.
func trusting(text string, t trusted) string {
	above, rest, ok := strings.Cut(text, t.table())
	if !ok {
		return text
	}
	own, others, more := strings.Cut(rest, "\n[")
	own = trustedHash.ReplaceAllString(own, `trusted_hash = "`+t.hash+`"`)
	if more {
		own += "\n["
	}
	return above + t.table() + own + others
}

var updates = pattern.New(`(?m)^\s*check_for_update_on_startup\s*=`)

// quoted is the start of a TOML string, without the closing quote.
func quoted(text string) string { return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) }
