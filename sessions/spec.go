package sessions

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"berth/api"
)

// Defaults of a session, from the design's table of fields.
const (
	DefaultCols        = 200
	DefaultRows        = 50
	DefaultOutputLimit = 64 << 20 // bytes of output kept
	DefaultScrollback  = 2000     // lines above the main screen
	controlLimit       = 16 << 20 // bytes of control log kept, apart from the output
)

// SizePolicy says who decides a session's size.
type SizePolicy string

// The size policies.
const (
	SizeWriter   SizePolicy = "writer"   // the writer's window
	SizeFixed    SizePolicy = "fixed"    // only the verb resize
	SizeSmallest SizePolicy = "smallest" // the smallest attached window
)

// Restart says when an ended program is started again by itself.
type Restart string

// The restart policies.
const (
	RestartNever     Restart = "never"
	RestartOnFailure Restart = "on-failure"
	RestartAlways    Restart = "always"
)

// Limits bound what a session may use; zero is the default or none.
type Limits struct {
	Output      int64         `json:"output"`     // bytes
	Scrollback  int           `json:"scrollback"` // lines
	TTL         time.Duration `json:"ttl"`
	IdleTimeout time.Duration `json:"idle_timeout"`
}

// Spec is what a session is made from. It is kept as session.json in the
// session's folder, mode 0600 since its environment may hold secrets.
type Spec struct {
	ID         string            `json:"id"`
	Name       string            `json:"name"`
	Agent      string            `json:"agent"`
	Profile    string            `json:"profile"`
	Command    []string          `json:"command"`
	Cwd        string            `json:"cwd"`
	Env        map[string]string `json:"env"`
	EnvFile    string            `json:"env_file"`
	EnvPass    []string          `json:"env_pass"`
	LoginEnv   bool              `json:"login_env"`
	Cols       int               `json:"cols"`
	Rows       int               `json:"rows"`
	SizePolicy SizePolicy        `json:"size_policy"`
	Restart    Restart           `json:"restart"`
	Limits     Limits            `json:"limits"`
	Tags       []string          `json:"tags"`
	Meta       map[string]string `json:"meta"`
	Parent     string            `json:"parent"` // id of the session whose agent made this one
	Depth      int               `json:"depth"`
	Created    api.Time          `json:"created"`
	CreatedBy  string            `json:"created_by"`
}

// Sizes a session's terminal may have. A row of 1,000 columns is wider than
// any screen; the product bounds the emulator's memory.
const (
	MinSize = 1
	MaxCols = 1000
	MaxRows = 1000
)

// CheckSize refuses a terminal size that no screen has.
func CheckSize(cols, rows int) error {
	if cols < MinSize || rows < MinSize || cols > MaxCols || rows > MaxRows {
		return api.Errorf(api.CodeBadRequest, "size %dx%d is out of range: give COLSxROWS between %dx%d and %dx%d",
			cols, rows, MinSize, MinSize, MaxCols, MaxRows)
	}
	return nil
}

var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,31}$`)

// reserved names mean something else where a session's name may stand.
var reserved = map[string]bool{"all": true, "agents": true}

// CheckName says why a name cannot be a session's, or nil.
func CheckName(name string) error {
	switch {
	case reserved[name]:
		return api.Errorf(api.CodeBadRequest, "the name %q is reserved: choose another", name)
	case !nameForm.MatchString(name):
		return api.Errorf(api.CodeBadRequest,
			"%s cannot be a session's name: use 1 to 32 of a-z, 0-9, dot, underscore and dash, beginning with a letter or digit", quoted(name))
	}
	return nil
}

var tagForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]{0,63}$`)

// CheckTag says why a word cannot be a tag, or nil.
func CheckTag(tag string) error {
	if !tagForm.MatchString(tag) {
		return api.Errorf(api.CodeBadRequest,
			"%s cannot be a tag: use 1 to 64 of letters, digits, dot, underscore, slash and dash, beginning with a letter or digit", quoted(tag))
	}
	return nil
}

var metaKeyForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// Bounds of meta: enough for links and ticket numbers, too little to be a store.
const (
	maxMetaKeys  = 64
	maxMetaValue = 4096 // bytes
)

// CheckMeta says why a key and value cannot be kept as meta, or nil.
func CheckMeta(key, value string) error {
	if !metaKeyForm.MatchString(key) {
		return api.Errorf(api.CodeBadRequest,
			"%s cannot be a meta key: use 1 to 64 of letters, digits, dot, underscore and dash, beginning with a letter or digit", quoted(key))
	}
	if len(value) > maxMetaValue {
		return api.Errorf(api.CodeLimit, "the value of meta key %s has %d bytes: at most %d are kept", key, len(value), maxMetaValue)
	}
	return nil
}

// quoted shows a caller's word with everything odd in it escaped, cut to a
// length that fits a line.
func quoted(s string) string {
	const most = 64
	if r := []rune(s); len(r) > most {
		return fmt.Sprintf("%+q...", string(r[:most]))
	}
	return fmt.Sprintf("%+q", s)
}

const specFile = "session.json"

// saveSpec writes the spec aside and renames it, so that a kill leaves the
// old one or the new one.
func saveSpec(dir string, s Spec) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s of session %s: %w", specFile, s.ID, err)
	}
	return writeAside(filepath.Join(dir, specFile), append(data, '\n'))
}

func loadSpec(dir string) (Spec, error) {
	var s Spec
	data, err := os.ReadFile(filepath.Join(dir, specFile))
	if err != nil {
		return s, fmt.Errorf("read the session's spec: %w", err)
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("parse %s: %w", filepath.Join(dir, specFile), err)
	}
	if s.ID != filepath.Base(dir) {
		return s, fmt.Errorf("%s names session %q: %w", filepath.Join(dir, specFile), s.ID, errForeignSpec)
	}
	return s, nil
}

var errForeignSpec = errors.New("the spec belongs to another session")

// writeAside replaces a file in one step: a reader sees the old or the new one.
func writeAside(path string, data []byte) error {
	aside := path + ".new"
	if err := os.WriteFile(aside, data, 0o600); err != nil {
		_ = os.Remove(aside) // a full disk leaves a torn file behind
		return fmt.Errorf("write %s: %w", aside, err)
	}
	if err := os.Rename(aside, path); err != nil {
		return fmt.Errorf("replace %s: %w", path, err)
	}
	return nil
}
