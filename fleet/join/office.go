package join

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	gossh "golang.org/x/crypto/ssh"

	"berth/fleet/conn"
	"berth/fleet/invite"
	"berth/fleet/realm"
)

// Host is a member, as the gateway knows it.
type Host struct {
	Name     string    `json:"name"`
	Key      string    `json:"key"`       // the public nkey
	HostKeys []string  `json:"host_keys"` // as in a key file
	Joined   time.Time `json:"joined"`
	Draining bool      `json:"draining"` // no new session is started there
}

// Roster is the gateway's folder of members, a file for each. Its methods may be called from any
// goroutine, of one process.
type Roster struct {
	dir string
	mu  sync.Mutex
}

// OpenRoster makes the folder if needed.
func OpenRoster(dir string) (*Roster, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open the folder of hosts: %w", err)
	}
	return &Roster{dir: dir}, nil
}

func (r *Roster) path(name string) string { return filepath.Join(r.dir, name+".json") }

// Host is the member of that name; the error is fs.ErrNotExist without one.
func (r *Roster) Host(name string) (h Host, err error) {
	if err := conn.CheckName(name); err != nil {
		return h, err
	}
	err = readJSON(r.path(name), &h)
	return h, err
}

// Hosts are all members, by name.
func (r *Roster) Hosts() ([]Host, error) {
	entries, err := os.ReadDir(r.dir) // sorted
	if err != nil {
		return nil, fmt.Errorf("read the folder of hosts: %w", err)
	}
	out := []Host{}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok {
			continue
		}
		h, err := r.Host(name)
		if err != nil {
			return nil, fmt.Errorf("read the host %s: %w", name, err)
		}
		out = append(out, h)
	}
	return out, nil
}

// add keeps a host, once its token is used. The same key may come again, with other host keys; what was drained stays so.
func (r *Roster) add(h Host) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Retired(h.Name) {
		return ErrRetired
	}
	old, err := r.Host(h.Name)
	switch {
	case err == nil && old.Key != h.Key:
		return ErrName
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	h.Draining = old.Draining
	return writeJSON(r.path(h.Name), h)
}

// Drain keeps new sessions from a host, or lets them there again.
func (r *Roster) Drain(name string, on bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	h, err := r.Host(name)
	if err != nil {
		return err
	}
	h.Draining = on
	return writeJSON(r.path(name), h)
}

// Remove forgets a host; the caller also removes its key from the realm.
func (r *Roster) Remove(name string) (Host, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h, err := r.Host(name)
	if err != nil {
		return h, err
	}
	return h, os.Remove(r.path(name))
}

// Retire forgets a host, and never gives its name again.
func (r *Roster) Retire(name string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.Host(name); err != nil {
		return err
	}
	if err := os.Rename(r.path(name), r.path(name)+retired); err != nil {
		return err
	}
	return syncDir(r.dir)
}

// retired ends the name of the file of a host that was retired.
const retired = ".retired"

// Retired says whether a host of that name was retired.
func (r *Roster) Retired(name string) bool {
	_, err := os.Lstat(r.path(name) + retired)
	return !errors.Is(err, fs.ErrNotExist)
}

// Office answers hosts that want to join.
type Office struct {
	Users     realm.Users
	Removed   func(key string) bool // of hosts that never get rights again
	Shared    bool                  // hosts that join are users of the fleet's own account: it is on a cluster
	Book      *invite.Book
	Roster    *Roster
	Authority gossh.PublicKey   // of passes
	Joined    func(host string) // is called when a host is admitted
	Now       func() time.Time
	Log       *slog.Logger
}

// Serve answers on a gateway's connection until the subscription ends.
func (o *Office) Serve(nc *nats.Conn) (*nats.Subscription, error) {
	pace := pace{log: o.Log}
	sub, err := nc.Subscribe(realm.JoinSubject, func(m *nats.Msg) {
		if !pace.question(o.Now()) {
			return
		}
		q, err := read(m.Data)
		// The reply is the word of who asks. In an account of its own it leads back there. In the fleet's account it
		// could be a subject that a host reads.
		if o.Shared && !strings.HasPrefix(m.Reply, realm.InboxOf(q.ID)+".") {
			pace.refused(fmt.Errorf("the answer was to go to %.80q", m.Reply))
			return
		}
		var a answer
		if err == nil {
			a, err = o.answer(q)
		}
		if err != nil {
			pace.refused(err)
			a = answer{Error: err.Error()}
		}
		data, err := json.Marshal(a)
		if err == nil {
			err = m.Respond(data)
		}
		if err != nil {
			o.Log.Warn("a host got no answer to joining", "error", err)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("answer hosts that join: %w", err)
	}
	return sub, nil
}

// Bounds of what clients without a token take of the gateway: any client that reaches it may ask.
const (
	questionsASecond = 500 // the others get no answer
	refusalsASecond  = 5   // that are logged one by one
)

// pace counts the questions of a second. The subscription's goroutine owns it.
type pace struct {
	log                   *slog.Logger
	from                  time.Time
	asked, refusals, left int // left: without an answer or without a line in the log
}

// question says whether one more may be answered now.
func (p *pace) question(now time.Time) bool {
	if age := now.Sub(p.from); age < 0 || age >= time.Second {
		if p.left > 0 {
			p.log.Warn("clients asked too often to join the fleet", "left_out", p.left)
		}
		p.from, p.asked, p.refusals, p.left = now, 0, 0, 0
	}
	if p.asked >= questionsASecond {
		p.left++
		return false
	}
	p.asked++
	return true
}

// refused logs a refusal, if the log doesn't have many of this second.
func (p *pace) refused(why error) {
	if p.refusals++; p.refusals > refusalsASecond {
		p.left++
		return
	}
	p.log.Warn("a host wasn't admitted to the fleet", "error", why)
}

func read(data []byte) (q question, err error) {
	if len(data) > questionMost || json.Unmarshal(data, &q) != nil {
		return question{}, errors.New("the question can't be read")
	}
	return q, nil
}

func (o *Office) answer(q question) (answer, error) {
	if len(q.HostKeys) == 0 || len(q.HostKeys) > hostKeysMost {
		return answer{}, ErrHostKey
	}
	for _, k := range q.HostKeys {
		if _, _, _, _, err := gossh.ParseAuthorizedKey([]byte(k)); err != nil {
			return answer{}, ErrHostKey
		}
	}
	if _, err := o.Users.Host("x", q.Key); err != nil { // before the token is used
		return answer{}, err
	}
	if o.Removed(q.Key) {
		return answer{}, ErrRemoved
	}
	name, err := o.redeem(q)
	if err != nil {
		return answer{}, err
	}
	if err := o.Roster.add(Host{Name: name, Key: q.Key, HostKeys: q.HostKeys, Joined: o.Now().UTC()}); err != nil {
		return answer{}, err
	}
	text, err := o.Users.Host(name, q.Key)
	if err != nil {
		return answer{}, err
	}
	o.Joined(name)
	o.Log.Info("a host has joined the fleet", "host", name, "key", q.Key)
	return answer{Name: name, JWT: text, Authority: string(gossh.MarshalAuthorizedKey(o.Authority))}, nil
}

// redeem uses the token of a question. On a cluster nothing else than a proof counts.
func (o *Office) redeem(q question) (name string, err error) {
	var t invite.Token
	if err := decode(t.ID[:], q.ID); err != nil {
		return "", err
	}
	if o.Shared {
		text, err := q.signed()
		if err != nil {
			return "", err
		}
		return o.Book.RedeemProof(t.ID, text, q.Proof, q.Key)
	}
	if err := decode(t.Secret[:], q.Secret); err != nil {
		return "", err
	}
	return o.Book.Redeem(t.ID, t.Secret, q.Key)
}

func decode(into []byte, text string) error {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(into) {
		return invite.ErrToken
	}
	copy(into, b)
	return nil
}

func readJSON(path string, into any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

// writeJSON replaces a file in one step, and syncs it: keys and members survive a power loss.
func writeJSON(path string, value any) (err error) {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	aside, err := os.CreateTemp(filepath.Dir(path), ".new-") // mode 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = aside.Write(append(data, '\n'))
	if err = errors.Join(err, aside.Sync(), aside.Close()); err == nil {
		err = os.Rename(aside.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(aside.Name()))
	}
	return syncDir(filepath.Dir(path))
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
