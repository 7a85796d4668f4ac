package main

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"

	"berth/account"
	"berth/config"
	"berth/sessions"
	"berth/sshd"
)

// logins are what the login shells of other OS users tell, each asked once.
type logins struct {
	ctx context.Context // of the server
	log *slog.Logger

	mu    sync.Mutex
	known map[string]map[string]string // by the user as it was asked
}

func (l *logins) of(u *account.User) map[string]string {
	l.mu.Lock() // also while one is asked: another session of that user waits for the answer
	defer l.mu.Unlock()
	key := fmt.Sprint(u.Name, ":", u.UID, ":", u.Home, ":", u.Shell)
	if env, ok := l.known[key]; ok {
		return env
	}
	printed, err := config.LoginEnv(l.ctx, config.OtherAccount(u))
	if err != nil {
		l.log.Warn("the login shell's environment is known in part", "user", u.Name, "shell", u.Shell, "error", err)
	}
	if u.Reach(u.Home) != nil {
		return sessions.EnvMap(printed) // nothing of theirs was read: asked again when it can be
	}
	if l.known == nil {
		l.known = map[string]map[string]string{}
	}
	l.known[key] = sessions.EnvMap(printed)
	return l.known[key]
}

// doors are the sockets by which processes of other OS users reach the server.
// Each such user has one that nobody else can open: the server's own stays
// closed to all of them.
type doors struct {
	dir string

	mu   sync.Mutex
	edge *sshd.Server // nil before it listens
}

// open makes the user's, and tells where it is. Before the server listens it
// only tells: begin is called for all that there are.
func (d *doors) open(uid int) (string, error) {
	path := filepath.Join(d.dir, fmt.Sprintf("user-%d.sock", uid))
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.edge == nil {
		return path, nil
	}
	return path, d.edge.Admit(path, uid)
}

func (d *doors) begin(edge *sshd.Server) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.edge = edge
}

// openDoors opens those of the sessions that there are: what runs in them goes
// on calling where it did before.
func (s *server) openDoors() {
	s.doors.begin(s.edge)
	for _, there := range s.sessions.All() {
		st := there.Status()
		if st.User == "" {
			continue
		}
		if _, err := s.doors.open(st.UID); err != nil {
			s.log.Error("a session's processes cannot reach the server", "session", st.Name, "user", st.User, "error", err)
		}
	}
}
