package member

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	gossh "golang.org/x/crypto/ssh"

	"berth/fleet/registry"
	"berth/keys"
)

// Times of renewals.
const (
	renewAfter = 500 * time.Millisecond // an answer that is older is asked for again
	renewLasts = 5 * time.Second        // and counts for as long, while the gateway doesn't answer
	renewTime  = 2 * time.Second        // of one question
)

// renewals are the gateway's answers about the passes of callers who have left something here. A caller's rights can
// end at the gateway, where alone they are known. No call waits for the gateway.
type renewals struct {
	mu    sync.Mutex
	known map[string]*renewal // by the older pass
}

// renewal has the gateway's newest answer about one pass.
type renewal struct {
	asking     bool
	asked, got time.Time
	pass       *gossh.Certificate
	err        error
}

// of is a newer pass, or why there is none: keys.ErrNotYet while the gateway hasn't answered.
func (r *renewals) of(nc *nats.Conn, host string, older *gossh.Certificate, now time.Time) (*gossh.Certificate, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	wire := older.Marshal()
	k := r.known[string(wire)]
	if k == nil {
		for key, other := range r.known {
			if !other.asking && now.Sub(other.asked) > renewLasts {
				delete(r.known, key)
			}
		}
		if r.known == nil {
			r.known = map[string]*renewal{}
		}
		k = &renewal{}
		r.known[string(wire)] = k
	}
	if !k.asking && nc != nil && now.Sub(k.asked) > renewAfter {
		k.asking, k.asked = true, now
		go r.ask(nc, host, wire, k) // for at most renewTime, and no longer than nc is open
	}
	if k.got.IsZero() || now.Sub(k.got) > renewLasts {
		return nil, keys.ErrNotYet
	}
	return k.pass, k.err
}

// ask asks the gateway about a pass.
func (r *renewals) ask(nc *nats.Conn, host string, wire []byte, k *renewal) {
	ctx, cancel := context.WithTimeout(context.Background(), renewTime)
	defer cancel()
	pass, err := renew(ctx, nc, host, wire)
	r.mu.Lock()
	defer r.mu.Unlock()
	if k.asking = false; !errors.Is(err, keys.ErrNotYet) {
		k.pass, k.err, k.got = pass, err, time.Now()
	}
}

func renew(ctx context.Context, nc *nats.Conn, host string, wire []byte) (*gossh.Certificate, error) {
	m, err := nc.RequestWithContext(ctx, "berth.from."+host+"."+registry.RenewSubject, wire)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", keys.ErrNotYet, err)
	}
	var a registry.Renewed
	if err := json.Unmarshal(m.Data, &a); err != nil || a.Again {
		return nil, keys.ErrNotYet
	}
	if a.Error != "" {
		return nil, fmt.Errorf("%w: the gateway says: %.300q", keys.ErrPass, a.Error)
	}
	key, err := gossh.ParsePublicKey(a.Pass)
	pass, ok := key.(*gossh.Certificate)
	if err != nil || !ok {
		return nil, fmt.Errorf("%w: the gateway's answer has none", keys.ErrPass)
	}
	return pass, nil
}
