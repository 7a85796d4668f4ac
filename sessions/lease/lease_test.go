package lease

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

var (
	start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	ann   = Client{ID: "c1", Identity: "ann", Fingerprint: "SHA256:a", MayWrite: true}
	ann2  = Client{ID: "c2", Identity: "ann", Fingerprint: "SHA256:a", MayWrite: true}
	bob   = Client{ID: "c3", Identity: "bob", Fingerprint: "SHA256:b", MayWrite: true}
	cat   = Client{ID: "c4", Identity: "cat", MayWrite: true}
	eve   = Client{ID: "c5", Identity: "eve"}
)

// desk plays a table's steps on a lease and writes down what they gave.
type desk struct {
	l      *Lease
	now    time.Time
	grants map[string]Grant // by client, the last
	log    []string
}

func newDesk() *desk { return &desk{l: New(Options{}), now: start, grants: map[string]Grant{}} }

func (d *desk) after(x time.Duration) *desk { d.now = d.now.Add(x); return d }

func (d *desk) note(changes []Change, err error) *desk {
	for _, c := range changes {
		s := fmt.Sprintf("%s %s", c.Kind, c.How)
		if c.By != nil {
			s += " by " + c.By.ID
		}
		if c.From != nil {
			s += " from " + c.From.ID
		}
		if loser, ok := c.Loser(); ok {
			s += " loser " + loser.ID
		}
		d.log = append(d.log, s)
	}
	var busy *BusyError
	switch {
	case errors.As(err, &busy):
		s := "busy " + busy.Holder.ID
		if busy.Delivering {
			s += " delivering"
		}
		d.log = append(d.log, s+" until "+busy.Retry.Sub(start).String())
	case err != nil:
		d.log = append(d.log, err.Error())
	}
	return d
}

func (d *desk) detach(c Client) *desk { return d.note(d.l.Detach(d.now, c.ID), nil) }
func (d *desk) tick() *desk           { return d.note(d.l.Tick(d.now), nil) }
func (d *desk) end(c Client) *desk    { return d.note(d.l.End(d.now, d.grants[c.ID]), nil) }
func (d *desk) release(c Client) *desk {
	return d.note(d.l.Release(d.now, c.ID), nil)
}

func (d *desk) typed(c Client) *desk {
	g, changes, err := d.l.Type(d.now, c)
	return d.granted(c, g, changes, err)
}

func (d *desk) take(c Client) *desk {
	g, changes, err := d.l.Take(d.now, c)
	return d.granted(c, g, changes, err)
}

func (d *desk) begin(c Client, w Want) *desk {
	g, changes, err := d.l.Begin(d.now, c, w)
	return d.granted(c, g, changes, err)
}

func (d *desk) granted(c Client, g Grant, changes []Change, err error) *desk {
	d.note(changes, err)
	if err == nil {
		d.grants[c.ID] = g
		d.log = append(d.log, fmt.Sprintf("%s writes %d", c.ID, g.Generation))
	}
	return d
}

func (d *desk) lock(c Client, x time.Duration, w Want) *desk {
	h, changes, err := d.l.Lock(d.now, c, x, w)
	d.note(changes, err)
	if err == nil {
		d.log = append(d.log, fmt.Sprintf("lock %d", h.Generation))
	}
	return d
}

func (d *desk) unlock(c Client, generation uint64, force bool) *desk {
	return d.note(d.l.Unlock(d.now, c, generation, force))
}

func (d *desk) write(c Client) *desk {
	if err := d.l.Authorize(d.grants[c.ID]); err != nil {
		d.log = append(d.log, c.ID+" refused")
	} else {
		d.log = append(d.log, c.ID+" wrote")
	}
	return d
}

func TestTransitions(t *testing.T) {
	tests := []struct {
		name string
		play func(d *desk)
		want string // one line a step's outcome
	}{
		{"typing takes a free lease", func(d *desk) { d.typed(bob).write(bob) },
			"taken typing by c3; c3 writes 1; c3 wrote"},
		{"typing does not take a used one", func(d *desk) { d.typed(ann).after(29 * time.Second).typed(bob).write(bob) },
			"taken typing by c1; c1 writes 1; busy c1 until 30s; c3 refused"},
		{"typing takes a lapsed one, and the loser is notified", func(d *desk) {
			d.typed(ann).after(20 * time.Second).typed(ann).after(30 * time.Second).typed(bob).write(ann).write(bob)
		}, "taken typing by c1; c1 writes 1; c1 writes 1; taken typing by c3 from c1 loser c1; c3 writes 2; c1 refused; c3 wrote"},
		{"a lapsed holder that types keeps it", func(d *desk) { d.typed(ann).after(time.Hour).typed(ann).typed(bob) },
			"taken typing by c1; c1 writes 1; c1 writes 1; busy c1 until 1h0m30s"},
		{"a viewer never writes", func(d *desk) {
			d.typed(eve).take(eve).begin(eve, Want{Takeover: true}).lock(eve, time.Second, Want{})
		}, strings.Repeat("; "+ErrMayNotWrite.Error(), 4)[2:]},
		{"take over", func(d *desk) { d.typed(ann).take(bob).typed(ann).write(bob) },
			"taken typing by c1; c1 writes 1; taken takeover by c3 from c1 loser c1; c3 writes 2; busy c3 until 30s; c3 wrote"},
		{"release and detach", func(d *desk) {
			d.typed(ann).release(bob).release(ann).typed(bob).detach(ann).detach(bob).typed(cat)
		}, "taken typing by c1; c1 writes 1; released release from c1; taken typing by c3; c3 writes 2; released detach from c3; taken typing by c4; c4 writes 3"},

		{"a call takes a free lease and lets it go", func(d *desk) { d.begin(bob, Want{}).write(bob).end(bob).write(bob).end(bob) },
			"taken exec by c3; c3 writes 1; c3 wrote; released done from c3; c3 refused"},
		{"a call is refused while another writes", func(d *desk) { d.typed(ann).begin(bob, Want{}) },
			"taken typing by c1; c1 writes 1; busy c1 until 30s"},
		{"a call takes a lapsed lease and gives it back", func(d *desk) {
			d.typed(ann).after(30*time.Second).begin(bob, Want{}).write(bob).end(bob).typed(cat)
		}, "taken typing by c1; c1 writes 1; taken exec by c3 from c1 loser c1; c3 writes 2; c3 wrote; taken return by c1 from c3; taken typing by c4 from c1 loser c1; c4 writes 4"},
		{"a call that takes over gives back too, pause and all", func(d *desk) {
			d.typed(ann).after(10*time.Second).begin(bob, Want{Takeover: true}).after(time.Second).end(bob).begin(bob, Want{})
		}, "taken typing by c1; c1 writes 1; taken takeover by c3 from c1 loser c1; c3 writes 2; taken return by c1 from c3; busy c1 until 30s"},
		{"nothing is given back to who has left or let go", func(d *desk) {
			d.typed(ann).begin(bob, Want{Takeover: true}).detach(ann).end(bob)
		}, "taken typing by c1; c1 writes 1; taken takeover by c3 from c1 loser c1; c3 writes 2; released done from c3"},
		{"two calls do not interleave", func(d *desk) {
			d.begin(bob, Want{}).begin(ann, Want{}).end(bob).begin(ann, Want{}).write(bob).write(ann)
		}, "taken exec by c3; c3 writes 1; busy c3 delivering until 5s; released done from c3; taken exec by c1; c1 writes 2; c3 refused; c1 wrote"},

		{"a delivery in progress is not cut before 5 s", func(d *desk) {
			d.begin(bob, Want{}).after(4 * time.Second).take(ann).write(bob).after(time.Second).take(ann).write(bob).end(bob).write(ann)
		}, "taken exec by c3; c3 writes 1; busy c3 delivering until 5s; c3 wrote; taken typing by c1 from c3 loser c3; c1 writes 2; c3 refused; c1 wrote"},
		{"a holder's own delivery holds its own typing back", func(d *desk) {
			d.typed(ann).begin(ann, Want{}).typed(ann).write(ann).end(ann).typed(ann)
		}, "taken typing by c1; c1 writes 1; c1 writes 1; busy c1 delivering until 30s; c1 wrote; c1 writes 1"},
		{"a holder's delivery that hangs is over for its own typing", func(d *desk) {
			d.typed(ann).begin(ann, Want{})
			stuck := d.grants[ann.ID]
			d.after(5 * time.Second).typed(ann).write(ann)
			d.grants[ann.ID] = stuck
			d.write(ann)
		}, "taken typing by c1; c1 writes 1; c1 writes 1; c1 writes 1; c1 wrote; c1 refused"},
		{"who detaches in a delivery leaves after it", func(d *desk) {
			d.typed(ann).begin(ann, Want{}).detach(ann).typed(bob).write(ann).end(ann).typed(bob)
		}, "taken typing by c1; c1 writes 1; c1 writes 1; busy c1 delivering until 30s; c1 wrote; released detach from c1; taken typing by c3; c3 writes 2"},
		{"or 5 s later", func(d *desk) {
			d.typed(ann).begin(ann, Want{}).detach(ann).after(5 * time.Second).tick().write(ann)
		}, "taken typing by c1; c1 writes 1; c1 writes 1; released detach from c1; c1 refused"},

		{"a lock serves its identity's calls", func(d *desk) {
			d.lock(ann, time.Minute, Want{}).begin(ann2, Want{Lease: 1}).write(ann2).begin(ann, Want{Lease: 1}).end(ann2).begin(bob, Want{}).begin(ann2, Want{}).begin(bob, Want{Lease: 1}).unlock(ann2, 1, false).begin(ann, Want{Lease: 1})
		}, "taken lock by c1; lock 1; c2 writes 1; c2 wrote; busy c1 delivering until 5s; busy c1 until 1m0s; busy c1 until 1m0s; the lease with generation 1 has ended; released unlock from c1; the lease with generation 1 has ended"},
		{"a lock ends by itself", func(d *desk) {
			d.lock(ann, time.Minute, Want{}).after(time.Minute).begin(ann, Want{Lease: 1}).typed(bob)
		}, "taken lock by c1; lock 1; released expired from c1 loser c1; the lease with generation 1 has ended; taken typing by c3; c3 writes 2"},
		{"but not in a delivery", func(d *desk) {
			d.lock(ann, time.Second, Want{}).begin(ann2, Want{Lease: 1}).after(2 * time.Second).tick().write(ann2).end(ann2)
		}, "taken lock by c1; lock 1; c2 writes 1; c2 wrote; released expired from c1 loser c1"},
		{"unlocked in a delivery", func(d *desk) {
			d.lock(ann, time.Minute, Want{}).begin(ann2, Want{Lease: 1}).unlock(ann, 1, false).write(ann2).end(ann2)
		}, "taken lock by c1; lock 1; c2 writes 1; c2 wrote; released unlock from c1"},
		{"a lock is prolonged by its own", func(d *desk) {
			d.lock(ann, time.Second, Want{}).lock(ann2, time.Minute, Want{Lease: 1}).lock(bob, time.Minute, Want{Lease: 1}).after(59*time.Second).begin(ann, Want{Lease: 1})
		}, "taken lock by c1; lock 1; prolonged lock by c1 from c1; lock 1; the lease with generation 1 has ended; c1 writes 1"},
		{"a lock lasts 10 min at most", func(d *desk) {
			d.lock(ann, 11*time.Minute, Want{}).lock(ann, 0, Want{}).lock(ann, 10*time.Minute, Want{}).after(10*time.Minute - 1).typed(bob)
		}, "a lock can't last 11m0s: give a time from 1ms to 10m0s; a lock can't last 0s: give a time from 1ms to 10m0s; taken lock by c1; lock 1; busy c1 until 10m0s"},
		{"only its identity unlocks, or force", func(d *desk) {
			d.lock(ann, time.Minute, Want{}).unlock(bob, 1, false).unlock(ann, 2, false).unlock(bob, 1, true)
		}, "taken lock by c1; lock 1; the lease with generation 1 has ended; there was no lease with generation 2; released unlock from c1"},
		{"a lock is taken over", func(d *desk) {
			d.lock(ann, time.Minute, Want{}).take(bob).begin(ann, Want{Lease: 1})
		}, "taken lock by c1; lock 1; taken takeover by c3 from c1 loser c1; c3 writes 2; the lease with generation 1 has ended; bob (c3) has control of this session"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk()
			tt.play(d)
			if got := strings.Join(d.log, "; "); got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestNextIsWhenTimeAloneChangesSomething(t *testing.T) {
	l := New(Options{})
	if _, ok := l.Next(start); ok {
		t.Error("a free lease waits for something")
	}
	if _, _, err := l.Type(start, ann); err != nil {
		t.Fatal(err)
	}
	if at, _ := l.Next(start); at != start.Add(30*time.Second) {
		t.Errorf("attached: %v", at)
	}
	if _, _, err := l.Begin(start, ann, Want{}); err != nil {
		t.Fatal(err)
	}
	if at, _ := l.Next(start); at != start.Add(5*time.Second) {
		t.Errorf("delivering: %v", at)
	}
	if at, ok := l.Next(start.Add(time.Minute)); ok {
		t.Errorf("all is past: %v", at)
	}
}

func TestARestartKeepsLocksAndGenerations(t *testing.T) {
	l := New(Options{})
	state := l.State()
	follow := func(changes []Change) {
		for _, c := range changes {
			state = state.After(c)
		}
	}
	_, changes, err := l.Type(start, ann)
	if err != nil {
		t.Fatal(err)
	}
	follow(changes)
	follow(l.Release(start, ann.ID))
	_, changes, err = l.Lock(start, bob, time.Minute, Want{})
	if err != nil {
		t.Fatal(err)
	}
	follow(changes)
	if !reflect.DeepEqual(state, l.State()) {
		t.Errorf("by changes %+v, by checkpoint %+v", state, l.State())
	}
	b, err := json.Marshal(state)
	if err != nil {
		t.Fatal(err)
	}
	var read State
	if err := json.Unmarshal(b, &read); err != nil {
		t.Fatal(err)
	}
	back, changes := Restore(Options{}, read, start.Add(time.Second))
	if len(changes) != 0 {
		t.Errorf("changes %v", changes)
	}
	g, _, err := back.Begin(start.Add(time.Second), bob, Want{Lease: 2})
	if err != nil || back.Authorize(g) != nil {
		t.Errorf("the lock does not serve any more: %v", err)
	}
	back, changes = Restore(Options{}, read, start.Add(time.Hour))
	if len(changes) != 1 || changes[0].How != ByExpiry {
		t.Errorf("an old lock: %v", changes)
	}
	if g, _, err := back.Type(start.Add(time.Hour), ann); err != nil || g.Generation != 3 {
		t.Errorf("generation %d, want 3: %v", g.Generation, err)
	}
	again, changes := Restore(Options{}, back.State(), start.Add(time.Hour))
	if _, held := again.Holder(); held || len(changes) != 1 || changes[0].How != ByRestart {
		t.Errorf("an attached client lives on: %v", changes)
	}
	if again.Generation() != 3 {
		t.Errorf("generation %d, want 3", again.Generation())
	}
}

// FuzzOneWriter plays any sequence of transitions and holds to what must always
// be so.
func FuzzOneWriter(f *testing.F) {
	f.Add([]byte("\x00\x01\x02\x13\x24\x35\x46\x57\x68\x79"))
	f.Add([]byte("\x30\x05\x41\x31\x05\x05\x15\x51\x06\x60\x7f\x25"))
	clients := []Client{ann, ann2, bob, cat, eve}
	f.Fuzz(func(t *testing.T, steps []byte) {
		steps = steps[:min(len(steps), 200)] // longer ones are only slower
		l, now := New(Options{}), start
		var grants []Grant
		state := l.State()
		lastGeneration := uint64(0)
		began := time.Time{} // of the delivery in progress
		for i, step := range steps {
			c := clients[int(step>>4)%len(clients)]
			want := Want{Takeover: step&0x80 != 0}
			if i%3 == 0 {
				want.Lease = l.Generation()
			}
			before, held := l.Holder()
			delivering, since := l.Delivering(), began
			var changes []Change
			var g Grant
			var err error
			granted := false
			switch step & 15 {
			case 0, 1:
				g, changes, err = l.Type(now, c)
				granted = err == nil
			case 2:
				g, changes, err = l.Take(now, c)
				granted = err == nil
			case 3, 4, 5:
				g, changes, err = l.Begin(now, c, want)
				granted = err == nil
				if granted {
					began = now
				}
			case 6, 7:
				if len(grants) > 0 {
					changes = l.End(now, grants[int(step>>4)%len(grants)])
				}
			case 8:
				changes = l.Detach(now, c.ID)
			case 9:
				changes = l.Release(now, c.ID)
			case 10:
				_, changes, _ = l.Lock(now, c, time.Duration(step)*time.Second, want)
			case 11:
				changes, _ = l.Unlock(now, c, l.Generation(), false)
			case 12:
				now = now.Add(time.Duration(step) * 100 * time.Millisecond)
				changes = l.Tick(now)
			case 13:
				now = now.Add(time.Duration(step) * time.Second)
			case 14:
				l, changes = Restore(Options{}, l.State(), now)
				grants = nil // they do not outlive the server
			}
			if granted {
				if !c.MayWrite {
					t.Fatalf("step %d: a viewer writes", i)
				}
				if l.Authorize(g) != nil {
					t.Fatalf("step %d: a fresh grant is refused", i)
				}
				grants = append(grants, g)
			}
			// A delivery in progress is not cut before its time, but by its end or a restart.
			cutBy := step & 15
			if delivering && cutBy != 6 && cutBy != 7 && cutBy != 14 && now.Sub(since) < DefaultCutAfter {
				after, still := l.Holder()
				if !still || !held || after.Generation != before.Generation || !l.Delivering() {
					t.Fatalf("step %d (%x): a delivery was cut", i, step)
				}
			}
			for _, change := range changes {
				if change.Generation < lastGeneration || change.Kind == Taken && change.Generation == lastGeneration {
					t.Fatalf("step %d: generation %d after %d", i, change.Generation, lastGeneration)
				}
				lastGeneration = change.Generation
				state = state.After(change)
			}
			holder, held := l.Holder()
			given := state.Holder != nil
			if held != given || held && (holder.ID != state.Holder.ID || holder.Generation != state.Holder.Generation) || l.Generation() != state.Generation {
				t.Fatalf("step %d: changes give %+v, the lease says %+v", i, state.Holder, holder)
			}
			if held && (!holder.MayWrite || holder.Generation != l.Generation()) {
				t.Fatalf("step %d: holder %+v at generation %d", i, holder, l.Generation())
			}
			// Of all grants there ever were, those good now are of the present
			// generation, and with a delivery in progress there is one.
			good := map[Grant]bool{}
			for _, g := range grants {
				if l.Authorize(g) == nil {
					good[g] = true
					if !held || g.Generation != holder.Generation {
						t.Fatalf("step %d: a grant of generation %d is good, the holder is %+v", i, g.Generation, holder)
					}
				}
			}
			if len(good) > 1 {
				t.Fatalf("step %d: several may write: %v", i, good)
			}
		}
	})
}
