package main

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"berth/account"
	"berth/config"
	"berth/sessions"
	"berth/sshd"
)

// logins are what the login shells of OS users export. Each user's is asked by
// itself, once at a time: one that hangs holds up that user's sessions alone.
type logins struct {
	ctx context.Context // of the server
	log *slog.Logger
	ask func(context.Context, config.Account) ([]string, error)
	now func() time.Time

	mu    sync.Mutex
	known map[string]*login // by the user as it is asked
}

type login struct {
	env    map[string]string // nil: not known yet
	asked  time.Time         // when it last answered; zero: it is to be asked again
	asking chan struct{}     // closed when the answer is there; nil: it is not asked
}

const (
	// askedAgain is the least time between two questions to a shell that has
	// answered: commands that are nowhere make one each.
	askedAgain = 10 * time.Second
	// loginPatience is how long a start waits for a shell, which is ended itself
	// after 5 s. To start it may hang longer.
	loginPatience = 8 * time.Second
)

// of is what the user's login shell exports, as far as it is known in time; of
// nil the server's user.
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
		l.log.Warn("the login shell does not answer", "user", who.Name, "shell", who.Shell)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return one.env
}

func (l *logins) learn(one *login, who config.Account, done chan struct{}) {
	printed, err := l.ask(l.ctx, who)
	if err != nil {
		l.log.Warn("the login shell's environment is known in part", "user", who.Name, "shell", who.Shell, "error", err)
	}
	reached := who.As == nil || who.As.Reach(who.Home) == nil // else nothing of theirs was read: it is asked again when it can be
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
