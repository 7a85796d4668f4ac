package main

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"berth/config"
	"berth/sessions"
	"berth/sessions/account"
	"berth/sshd"
)

// logins are the environments that login shells of OS users export. Each user's shell runs
// separately, at most one at a time: a shell that hangs delays only that user's sessions.
type logins struct {
	ctx context.Context // of the server
	log *slog.Logger
	ask func(context.Context, config.Account) ([]string, error)
	now func() time.Time

	mu    sync.Mutex
	known map[string]*login // by the user as it is asked
}

type login struct {
	env    map[string]string // nil: unknown so far
	asked  time.Time         // when the shell last answered; zero: run it again
	asking chan struct{}     // closed when the answer has come; nil: the shell isn't running
}

const (
	// askedAgain is the least time between two runs of a shell that has answered. Each command that
	// isn't found asks for one.
	askedAgain = 10 * time.Second
	// loginPatience is how long a start waits for a shell. The shell is killed after 5 s, but
	// starting it may hang longer.
	loginPatience = 8 * time.Second
)

// of is what the user's login shell exports, as far as it is known in time; nil means the
// server's user.
func (l *logins) of(u *account.User, anew bool) map[string]string {
	who := config.CurrentAccount()
	if u != nil {
		who = config.OtherAccount(u)
	}
	key := fmt.Sprint(who.Name, ":", who.UID, ":", who.Home, ":", who.Shell)
	l.mu.Lock()
	one := l.known[key]
	if one == nil {
		one = &login{}
		l.known[key] = one
	}
	fresh := !one.asked.IsZero() && !(anew && l.now().Sub(one.asked) >= askedAgain)
	if fresh {
		defer l.mu.Unlock()
		return one.env
	}
	if one.asking == nil {
		one.asking = make(chan struct{})
		go l.learn(one, who, one.asking) // ends with the shell, or the server
	}
	asking := one.asking
	l.mu.Unlock()
	wait := time.NewTimer(loginPatience)
	defer wait.Stop()
	select {
	case <-asking:
	case <-wait.C:
		l.log.Warn("the login shell doesn't answer", "user", who.Name, "shell", who.Shell)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return one.env
}

func (l *logins) learn(one *login, who config.Account, done chan struct{}) {
	printed, err := l.ask(l.ctx, who)
	if err != nil {
		l.log.Warn("only a part of the login shell's environment is known", "user", who.Name, "shell", who.Shell, "error", err)
	}
	reached := who.As == nil || who.As.Reach(who.Home) == nil // otherwise the shell gave no environment: run it again when possible
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil || one.env == nil {
		one.env = sessions.EnvMap(printed)
	}
	one.asked, one.asking = l.now(), nil
	if !reached {
		one.asked = time.Time{}
	}
	close(done)
}

// userSockets are the sockets for processes of other OS users. Each such user has a socket that only
// that user can open: the server's own socket stays closed to all of them.
type userSockets struct {
	dir string

	mu   sync.Mutex
	edge *sshd.Server // nil before the server listens
}

// open makes the user's socket and returns its path. Before the server listens it only returns
// the path: begin is called later for all users.
func (d *userSockets) open(uid int) (string, error) {
	path := filepath.Join(d.dir, fmt.Sprintf("user-%d.sock", uid))
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.edge == nil {
		return path, nil
	}
	return path, d.edge.Admit(path, uid)
}

func (d *userSockets) begin(edge *sshd.Server) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.edge = edge
}

// openUserSockets opens the sockets for the existing sessions, so that the programs in them can still
// reach the server at the same path.
func (s *server) openUserSockets() {
	s.userSockets.begin(s.edge)
	for _, there := range s.sessions.All() {
		st := there.Status()
		if st.User == "" {
			continue
		}
		if _, err := s.userSockets.open(st.UID); err != nil {
			s.log.Error("a session's processes can't reach the server", "session", st.Name, "user", st.User, "error", err)
		}
	}
}
