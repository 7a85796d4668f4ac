package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"berth/api"
	"berth/keys"
)

// maxEnvFile is the longest env file taken: no environment is larger.
const maxEnvFile = 1 << 20

// LoadEnvFile reads an env_file: one NAME=VALUE on each line, in the order of the file. It must
// be a regular file of mode 0600 or less that is ours or root's. If the server runs as root, each
// folder on the path must be too. A value is taken literally, or from between single quotes
// (nothing is special) or double quotes (\n \t \r \" \\ \$ are special). Lines that start with #
// are comments, and export before a name is ignored. Nothing is expanded. The error is a
// Problems and contains no value.
func LoadEnvFile(path string) ([]string, error) {
	data, err := readPrivate(path)
	if err != nil {
		return nil, Problems{fileProblem(path, err)}
	}
	env, problems := parseEnvFile(path, string(data))
	if len(problems) > 0 {
		return nil, problems
	}
	return env, nil
}

func readPrivate(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it isn't a regular file")
	}
	if perm := info.Mode().Perm(); perm&0o077 != 0 {
		return nil, fmt.Errorf("others can read or write it (mode %04o); run: chmod 600 %s", perm, path)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if uid := os.Geteuid(); !ok || st.Uid != 0 && int(st.Uid) != uid {
		return nil, fmt.Errorf("it must belong to uid %d or root", uid)
	}
	if os.Geteuid() == 0 { // a user who can redirect the path would get the values of any such file
		if err := keys.CheckWay(path); err != nil {
			return nil, err
		}
	}
	data, err := io.ReadAll(io.LimitReader(f, maxEnvFile+1))
	if err == nil && len(data) > maxEnvFile {
		err = fmt.Errorf("it is longer than %d bytes", maxEnvFile)
	}
	return data, err
}

func parseEnvFile(path, data string) (env []string, problems Problems) {
	seen := map[string]int{}
	n := 0
	for line := range strings.Lines(strings.TrimPrefix(data, "\ufeff")) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, err := parseEnvLine(line)
		if err == nil && seen[name] > 0 {
			err = fmt.Errorf("%s is already set in line %d", name, seen[name])
		}
		if err != nil {
			problems = append(problems, Problem{File: path, Line: n, Column: 1, Text: err.Error()})
			continue
		}
		seen[name] = n
		env = append(env, name+"="+value)
	}
	return env, problems
}

func parseEnvLine(line string) (name, value string, err error) {
	if after, ok := strings.CutPrefix(line, "export "); ok {
		line = strings.TrimLeft(after, " \t")
	}
	name, value, found := strings.Cut(line, "=")
	switch {
	case !found:
		return "", "", errors.New("no = in the line: write NAME=VALUE")
	case !isEnvName(name):
		// The part before = may be a secret that was put there by mistake.
		return "", "", errors.New("the part before = isn't the name of a variable")
	case api.OwnVariable(name):
		return "", "", fmt.Errorf("Berth sets %s itself, as it does BERTH and all BERTH_*: remove the line or choose another name", name)
	case strings.ContainsRune(value, 0):
		return "", "", errors.New("the value has a NUL character")
	}
	value, err = unquoteEnv(strings.TrimLeft(value, " \t"))
	return name, value, err
}

func unquoteEnv(s string) (string, error) {
	if s == "" || s[0] != '"' && s[0] != '\'' {
		return s, nil
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == s[0]:
			if rest := strings.TrimLeft(s[i+1:], " \t"); rest != "" && rest[0] != '#' {
				return "", errors.New("unexpected text after the closing quote")
			}
			return b.String(), nil
		case c == '\\' && s[0] == '"' && i+1 < len(s) && strings.IndexByte(`ntr"\$`, s[i+1]) >= 0:
			i++
			b.WriteString(map[byte]string{'n': "\n", 't': "\t", 'r': "\r"}[s[i]])
			if strings.IndexByte(`"\$`, s[i]) >= 0 {
				b.WriteByte(s[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", errors.New("the value has no closing quote")
}
