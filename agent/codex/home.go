package codex

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/agent"
)

// Files of a home that a session has for itself.
const (
	configName = "config.toml"
	hooksName  = "hooks.json"
)

// kept are what of a user's home is not linked to: what the session has for
// itself, and what belongs to running processes.
var kept = []string{configName, hooksName, "packages", "tmp", "log", "version.json"}

// inDisk is the path of an absolute file within a file system from / on.
func inDisk(file string) string { return strings.TrimPrefix(path.Clean(filepath.ToSlash(file)), "/") }

// read is a file, empty where there is none.
func read(disk fs.FS, file string) ([]byte, error) {
	data, err := fs.ReadFile(disk, inDisk(file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return data, nil
}

// spoken says whether the home has a log of the conversation: Codex makes it
// with the first message.
func spoken(disk fs.FS, home, conversation string) bool {
	if strings.ContainsAny(conversation, `/*?[\`) {
		return false
	}
	found, err := fs.Glob(disk, inDisk(home)+"/sessions/*/*/*/rollout-*-"+conversation+".jsonl")
	return err == nil && len(found) > 0
}

// ownHome adds the session's home to the launch.
func ownHome(l *agent.Launch, s agent.Start, user string) error {
	own := filepath.Join(s.Folder, homeName)
	l.Folders = []string{own}
	l.Set = map[string]string{"CODEX_HOME": own}
	l.Files, l.Links = map[string][]byte{}, map[string]string{}
	if err := link(l, s, user, own); err != nil {
		return err
	}
	users := user
	if s.Isolate == agent.IsolateFull {
		users = "" // nothing of it but the credentials
	}
	hooks, trust, err := hooksFile(s, users, own)
	if err != nil {
		return err
	}
	l.Files[filepath.Join(own, hooksName)] = hooks
	config, err := config(s, users, own, trust)
	if err != nil {
		return err
	}
	l.Files[filepath.Join(own, configName)] = config
	return nil
}

// link links the session's home to what the user's has.
func link(l *agent.Launch, s agent.Start, user, own string) error {
	entries, err := fs.ReadDir(s.Disk, inDisk(user))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("list the home of codex: %w", err)
	}
	for _, e := range entries {
		name := e.Name()
		special := e.Type()&(fs.ModeSocket|fs.ModeNamedPipe|fs.ModeDevice) != 0
		database := strings.HasSuffix(name, "-wal") || strings.HasSuffix(name, "-shm") // made beside the file that is linked to
		if special || database || slices.Contains(kept, name) || s.Isolate == agent.IsolateFull && name != "auth.json" {
			continue
		}
		l.Links[filepath.Join(own, name)] = filepath.Join(user, name)
	}
	return nil
}

// events are the hook events that are asked for: all there are.
var events = []string{
	"SessionStart", "SessionEnd", "UserPromptSubmit", "PreModelRequest", "PostModelRequest", "PreToolUse", "PermissionRequest", "PostToolUse",
	"PreCompact", "PostCompact", "SubagentStart", "SubagentStop", "Stop", "Interrupt",
}

const (
	// askHold is how long the hook of a permission waits for somebody's answer:
	// all that Codex gives a hook, 600 s, but for what it takes to say nothing in
	// time. While it waits there is no dialog.
	askHold = 590 * time.Second
	// askGrace is how long it waits without a server: without one nobody can
	// answer, and the dialog must come.
	askGrace = time.Second
)

// hookCommand is what an event runs. It has no timeout of its own: what Codex
// puts in its place is part of what it trusts.
func hookCommand(hook, event string) string {
	command := "'" + strings.ReplaceAll(hook, "'", `'\''`) + "' hook "
	if event == "PermissionRequest" {
		return command + "--ask " + seconds(askHold) + " " + seconds(askGrace) + " " + event
	}
	return command + "--tell " + event
}

func seconds(d time.Duration) string { return strconv.Itoa(int(d.Seconds())) + "s" }

// trusted is a hook that Codex is to run without asking.
type trusted struct {
	key  string // file:event:group:hook
	hash string
}

// hooksFile is the session's hooks.json: the user's groups first, so that they
// keep their places, by which Codex knows them, and ours behind them.
func hooksFile(s agent.Start, user, own string) ([]byte, []trusted, error) {
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
				return nil, nil, fmt.Errorf("%w: %s is no file of hooks: %w", agent.ErrStart, filepath.Join(user, hooksName), err)
			}
		}
	}
	if file.Hooks == nil {
		file.Hooks = map[string][]json.RawMessage{}
	}
	var trust []trusted
	if s.Hook != "" {
		for _, e := range events {
			command := hookCommand(s.Hook, e)
			group, err := encode(map[string]any{"hooks": []any{map[string]any{"type": "command", "command": command}}})
			if err != nil {
				return nil, nil, err
			}
			hash, err := Trust(e, command)
			if err != nil {
				return nil, nil, err
			}
			key := filepath.Join(own, hooksName) + ":" + snake(e) + ":" + strconv.Itoa(len(file.Hooks[e])) + ":0"
			trust = append(trust, trusted{key, hash})
			file.Hooks[e] = append(file.Hooks[e], group)
		}
	}
	out, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return nil, nil, fmt.Errorf("encode the hooks: %w", err)
	}
	return append(out, '\n'), trust, nil
}

// Trust is the hash by which Codex trusts a hook that runs a command, with no
// matcher and the timeout that Codex gives it.
func Trust(event, command string) (string, error) {
	timeout := 600
	if event == "SessionEnd" || event == "Interrupt" {
		timeout = 1
	}
	normal, err := encode(map[string]any{
		"event_name": snake(event),
		"hooks":      []any{map[string]any{"async": false, "command": command, "timeout": timeout, "type": "command"}},
	})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(normal)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// encode is JSON with its keys in order, without blanks, and with < > & as they
// are.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode a hook: %w", err)
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

var upper = regexp.MustCompile(`[A-Z]`)

// snake is the name as Codex's settings have it: pre_tool_use.
func snake(event string) string {
	return strings.TrimPrefix(upper.ReplaceAllStringFunc(event, func(c string) string { return "_" + strings.ToLower(c) }), "_")
}

// config is the session's config.toml: what Codex has written into it before,
// else the user's, with the trust in hooks moved to where they are now, and ours
// added. Tables stand at the end, single settings at the beginning.
func config(s agent.Start, user, own string, trust []trusted) ([]byte, error) {
	file := filepath.Join(own, configName)
	data, err := read(s.Disk, file)
	if err != nil {
		return nil, err
	}
	text := string(data)
	if data == nil && user != "" {
		if data, err = read(s.Disk, filepath.Join(user, configName)); err != nil {
			return nil, err
		}
		text = string(data)
		for _, name := range []string{hooksName, configName} {
			from, to := filepath.Join(user, name)+":", filepath.Join(own, name)+":"
			text = strings.ReplaceAll(text, "[hooks.state."+quoted(from), "[hooks.state."+quoted(to))
		}
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
		if table := "[hooks.state." + quoted(t.key) + `"]`; !strings.Contains(text, table) {
			fmt.Fprintf(&b, "\n%s\ntrusted_hash = \"%s\"\n", table, t.hash)
		}
	}
	return []byte(b.String()), nil
}

var updates = regexp.MustCompile(`(?m)^\s*check_for_update_on_startup\s*=`)

// quoted is a TOML string that is not closed yet.
func quoted(text string) string { return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) }
