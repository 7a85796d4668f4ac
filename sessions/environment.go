package sessions

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"berth/api"
	"berth/sessions/account"
	"berth/sessions/hold"
)

// Environment is what the server knows of the user that sessions run as.
type Environment struct {
	// Login is what a user's login shell exports, PATH and friends; of nil the
	// server's user. anew asks the shell again, unless that was done just now.
	// One user's shell holds up no other user's.
	Login    func(u *account.User, anew bool) map[string]string
	Server   func(name string) (string, bool)
	ReadFile func(path string) ([]string, error)       // an env_file as NAME=VALUE, checked to be private
	Redact   func(map[string]string) map[string]string // hides the values of secret names
	Socket   string                                    // where this server's local socket is
	Home     string
	User     string
	Shell    string

	// Account finds the OS user of a session that names one, and AccountSocket
	// makes a socket that only that user's processes can open.
	Account       func(name string) (*account.User, error)
	AccountSocket func(uid int) (string, error)

	login map[string]string // what Login says of a session's user
}

// fallbackPath is a session's PATH if neither the client nor the system sets one.
const fallbackPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// program is a command ready to be executed.
type program struct {
	path string // resolved executable
	argv []string
	env  []string
	own  map[string]string // what of env the session itself gives
	cwd  string
	user *account.User // that it runs as; nil: the server's

	// The session's journal goes on after them.
	record uint64
	offset int64
}

// resolve turns a spec into a program, or says what is missing and where it
// was looked for. A command that is not found may have been installed since the
// login shell was asked for PATH.
func (e Environment) resolve(s Spec) (program, error) {
	prog, err := e.resolveWith(s, false)
	if err != nil && api.AsError(err).Code == api.CodeNotFound && s.LoginEnv && !strings.Contains(s.Command[0], "/") {
		return e.resolveWith(s, true)
	}
	return prog, err
}

func (e Environment) resolveWith(s Spec, anew bool) (program, error) {
	user, err := e.account(s)
	if err != nil {
		return program{}, err
	}
	if e, err = e.of(user, s, anew); err != nil {
		return program{}, err
	}
	env, own, err := e.values(s)
	if err != nil {
		return program{}, err
	}
	cwd := s.Cwd
	if cwd == "" {
		cwd = e.Home
	}
	prog := program{argv: s.Command, env: flatten(env), own: own, cwd: cwd, user: user}
	prog.path, err = account.As(context.Background(), user, func() (string, error) {
		if info, err := os.Stat(cwd + "/."); err != nil || !info.IsDir() {
			return "", noFolder(cwd, user)
		}
		return lookPath(s.Command[0], cwd, env["PATH"])
	})
	return prog, err
}

func noFolder(cwd string, user *account.User) error {
	if user != nil {
		return api.Errorf(api.CodeBadRequest, "the working directory %s is not a folder that the user %s may enter: give another with --cwd", api.Quote(cwd), api.Quote(user.Name))
	}
	return api.Errorf(api.CodeBadRequest, "the working directory %s is not a folder on the server: make it or give another with --cwd", api.Quote(cwd))
}

// values lays the environment in layers, the surest last: the account, the
// login shell, names taken from the server, the file, the spec, Berth's own.
// own is what the session itself gives: by name, in its file, in its spec.
func (e Environment) values(s Spec) (env, own map[string]string, err error) {
	env, own = map[string]string{
		"HOME": e.Home, "USER": e.User, "LOGNAME": e.User, "SHELL": e.Shell, "PATH": fallbackPath,
		"TERM": "xterm-256color", "COLORTERM": "truecolor",
	}, map[string]string{}
	maps.Copy(env, e.login)
	for _, name := range s.EnvPass {
		if v, ok := e.Server(name); ok {
			own[name] = v
		}
	}
	if s.EnvFile != "" {
		file, err := e.ReadFile(s.EnvFile)
		if err != nil {
			return nil, nil, api.Errorf(api.CodeBadRequest, "env_file: %w", err)
		}
		for _, pair := range file {
			if k, v, ok := strings.Cut(pair, "="); ok {
				own[k] = v
			}
		}
	}
	maps.Copy(own, s.Env)
	maps.Copy(env, own)
	env["BERTH"], env["BERTH_SESSION"] = "1", s.ID
	env["BERTH_PARENT"], env["BERTH_DEPTH"] = s.Parent, strconv.Itoa(s.Depth)
	if e.Socket != "" {
		env["BERTH_SOCKET"] = e.Socket
	}
	return env, own, nil
}

func flatten(env map[string]string) []string {
	flat := make([]string, 0, len(env))
	for k, v := range env {
		flat = append(flat, k+"="+v)
	}
	sort.Strings(flat)
	return flat
}

// lookPath finds an executable as a shell in cwd with that PATH would.
func lookPath(name, cwd, path string) (string, error) {
	if strings.Contains(name, "/") {
		full := name
		if !filepath.IsAbs(full) {
			full = filepath.Join(cwd, full)
		}
		if !executable(full) {
			return "", api.Errorf(api.CodeNotFound, "the command %s is not an executable file on the server", api.Quote(full))
		}
		return full, nil
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue // a relative PATH entry would depend on where the session runs
		}
		if full := filepath.Join(dir, name); executable(full) {
			return full, nil
		}
	}
	return "", api.Errorf(api.CodeNotFound,
		"the command %s was not found; searched PATH=%s. Install it, give its full path, or set PATH with --env or env_file", api.Quote(name), path)
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// EnvMap reads NAME=VALUE entries.
func EnvMap(entries []string) map[string]string {
	env := map[string]string{}
	for _, e := range entries {
		if k, v, ok := strings.Cut(e, "="); ok {
			env[k] = v
		}
	}
	return env
}

// account is the user that a session's program runs as; nil: the server's own.
// One that is another by now is not taken for the one that was meant: what the
// agent has made belongs to that.
func (e Environment) account(s Spec) (*account.User, error) {
	if s.User == "" {
		return nil, nil
	}
	user, err := e.Account(s.User)
	switch {
	case errors.Is(err, account.ErrNoUser) && s.UID != 0:
		return nil, api.Errorf(api.CodeBadRequest, "the OS user %s that the session runs as, uid %d, is no longer there", api.Quote(s.User), s.UID)
	case err != nil:
		return nil, api.Errorf(api.CodeBadRequest, "%w", err)
	case s.UID != 0 && user.UID != s.UID:
		return nil, api.Errorf(api.CodeBadRequest, "the OS user %s has uid %d now, and had %d when the session was made: make another session", api.Quote(s.User), user.UID, s.UID)
	}
	return user, nil
}

// of is the environment of a user's sessions; of nil the server's.
func (e Environment) of(user *account.User, s Spec, anew bool) (Environment, error) {
	if s.LoginEnv && e.Login != nil {
		e.login = e.Login(user, anew)
	}
	if user == nil {
		return e, nil
	}
	e.Home, e.User, e.Shell = user.Home, user.Name, user.Shell
	var err error
	e.Socket, err = e.AccountSocket(user.UID)
	return e, err
}

// credential is what a holder starts the user's program with.
func credential(user *account.User) *hold.User {
	if user == nil {
		return nil
	}
	return &hold.User{UID: user.UID, GID: user.GID, Groups: user.Groups}
}

// reaches makes sure that another user can run the program of the hooks: it is
// the server's own where nothing in the state folder may be run.
func (p program) reaches(hook string) error {
	if p.user == nil {
		return nil
	}
	if err := p.user.Reach(filepath.Dir(hook)); err != nil {
		return api.Errorf(api.CodeBadRequest, "%w: the agent's hooks run %s", err, hook)
	}
	return nil
}
