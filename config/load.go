package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"berth/keys"
)

// Source says where the configuration comes from. Later sources win: defaults, berth.yaml, BERTH_*
// of the environment, flags.
type Source struct {
	Path    string    // of berth.yaml; empty: $BERTH_CONFIG, else the first existing file of SearchPath
	Environ []string  // in the form of os.Environ
	Flags   []Setting // only the flags that were given
}

// Load reads and checks the configuration. The error is a Problems with every mistake and its
// place.
func Load(s Source) (*Config, error) {
	getenv := lookup(s.Environ)
	path, required := s.Path, s.Path != ""
	if path == "" {
		path = getenv("BERTH_CONFIG")
		required = path != ""
	}
	if path == "" {
		path = firstThere(SearchPath(s.Environ))
	}
	c := Default()
	var d *decoder
	var problems Problems
	if path != "" {
		var err error
		if d, err = readFile(path, homeDir(getenv), &c); err == nil && !required && path == serviceFile && ofAnother(c.StateDir) {
			c, d = Default(), nil
		} else if err == nil {
			c.File = path
			problems = d.problems
		} else if required || !errors.Is(err, fs.ErrNotExist) {
			return nil, Problems{fileProblem(path, err)}
		}
	}
	from := map[string]string{}
	problems = append(problems, c.applyEnviron(s.Environ, from)...)
	problems = append(problems, c.applySettings(s.Flags, from)...)
	if problems.orNil() == nil {
		problems = append(problems, locate(c.Validate(), d, from)...)
	}
	if err := problems.orNil(); err != nil {
		return nil, err
	}
	c.Notices = problems
	c.complete(getenv, os.Getuid())
	return &c, nil
}

// Check reads one berth.yaml as Load does, without environment and flags, and returns every
// mistake in the order of its lines.
func Check(path string) []Problem {
	c := Default()
	d, err := readFile(path, homeDir(os.Getenv), &c)
	if err != nil {
		return []Problem{fileProblem(path, err)}
	}
	// Unset what failed to be read, so that Validate doesn't report it a second time.
	problems := append(d.problems, locate(append(c.Validate(), c.envFiles()...), d, nil)...)
	slices.SortStableFunc(problems, func(a, b Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return problems
}

// envFiles checks the files that sessions read at each start. A missing file is only a notice,
// because it may exist by then.
func (c *Config) envFiles() []Problem {
	var out []Problem
	look := func(field string, s Session) {
		if s.EnvFile == "" {
			return
		}
		_, err := LoadEnvFile(s.EnvFile)
		var found Problems
		errors.As(err, &found)
		for _, p := range found {
			out = append(out, Problem{Field: field + ".env_file", Text: p.String(), Notice: p.Line == 0})
		}
	}
	look("defaults", c.Defaults)
	for _, name := range slices.Sorted(maps.Keys(c.Profiles)) {
		look("profiles."+quoteKey(name), c.Profiles[name])
	}
	for i, s := range c.Sessions {
		look(fmt.Sprintf("sessions[%d]", i), s)
	}
	return out
}

// serviceFile is the configuration of the machine's service. Another user's own server doesn't follow it.
const serviceFile = "/etc/berth/berth.yaml"

// ofAnother says that a state folder is that of another user's server. Root may mean any.
func ofAnother(stateDir string) bool {
	info, err := os.Stat(stateDir)
	if err != nil || os.Geteuid() == 0 {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) != os.Geteuid()
}

// SearchPath lists the places of berth.yaml.
func SearchPath(environ []string) []string {
	getenv := lookup(environ)
	var dirs []string
	if d := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(d) {
		dirs = append(dirs, filepath.Join(d, "berth"))
	} else if home := homeDir(getenv); home != "" {
		dirs = append(dirs, filepath.Join(home, ".config", "berth"))
	}
	dirs = append(dirs, filepath.Dir(serviceFile))
	for i, d := range dirs {
		dirs[i] = filepath.Join(d, "berth.yaml")
	}
	return dirs
}

func firstThere(paths []string) string {
	for _, p := range paths {
		if _, err := os.Stat(p); err == nil {
			return p
		}
	}
	return ""
}

// maxFile is the longest berth.yaml that is read.
const maxFile = 4 << 20

func readFile(path, home string, c *Config) (*decoder, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(abs)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it isn't a regular file")
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("it is longer than %d bytes", maxFile)
	}
	if err := keys.CheckRun(abs); err != nil { // the server runs programs that the file names
		return nil, err
	}
	data, err := os.ReadFile(abs)
	if err != nil {
		return nil, err
	}
	return decode(path, data, filepath.Dir(abs), home, c), nil
}

func fileProblem(path string, err error) Problem {
	p := Problem{File: path, Text: err.Error()}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		p.Text = pathErr.Err.Error()
	}
	var mode *keys.ModeError
	if errors.As(err, &mode) {
		p.Text, p.Remedy = "file refused: "+mode.Path+" "+mode.Text, mode.Remedy
	}
	if errors.Is(err, fs.ErrNotExist) {
		p.Text, p.Remedy = "the file doesn't exist", "create it, or name another with --config"
	}
	return p
}

// locate adds a place to problems that know only their field: the flag or variable that set it
// (from), or the line in the file.
func locate(problems []Problem, d *decoder, from map[string]string) []Problem {
	for i := range problems {
		p := &problems[i]
		if source, ok := from[p.Field]; ok {
			p.File, p.Field = source, ""
			continue
		}
		if d == nil {
			continue
		}
		// The field itself isn't set: use its nearest enclosing group.
		for field := p.Field; p.File == ""; field = parent(field) {
			if at, ok := d.places[field]; ok || field == "" {
				p.File, p.Line, p.Column = d.file, max(at.line, 1), max(at.column, 1)
			}
		}
	}
	return problems
}

func parent(field string) string {
	if i := strings.LastIndexAny(field, ".["); i >= 0 {
		return field[:i]
	}
	return ""
}

// lookup reads variables from a list in the form of os.Environ.
func lookup(environ []string) func(string) string {
	return func(name string) string {
		for i := len(environ) - 1; i >= 0; i-- {
			if k, v, ok := strings.Cut(environ[i], "="); ok && k == name {
				return v
			}
		}
		return ""
	}
}
