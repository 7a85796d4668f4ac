package anyorder

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

// kind is a kind of step, and how often it comes beside the others.
type kind struct {
	weight  int
	hostile bool // another process does it
	name    string
	does    func(w *world)
}

// kinds are what may happen next.
var kinds = []kind{
	{10, false, "the agent goes on", (*world).agent},
	{4, false, "Berth's key", (*world).keys},
	{2, false, "a key at the terminal", (*world).types},
	{3, false, "a verdict of its own", (*world).verdictOfOwn},
	{2, true, "a verdict", (*world).verdict},
	{2, false, "a message", (*world).message},
	{8, true, "forged", (*world).forge},
	{4, true, "hidden, or no longer", (*world).hides},
	{2, true, "a hook ends", (*world).ends},
	{2, false, "another size", (*world).resize},
	{2, false, "seconds pass", (*world).idles},
	{2, false, "restart", (*world).restarts},
	{2, false, "a checkpoint", (*world).saves},
	{2, false, "the server is killed", (*world).killed},
	{4, true, "again", (*world).repeats},
	{1, true, "a level", (*world).level},
	{2, false, "another option", (*world).selects},
	{1, false, "allowed always", (*world).always},
	{2, false, "runs", (*world).runs},
	{2, false, "time passes", (*world).jumps},
	{1, false, "half drawn", (*world).torn},
	{6, false, "pictures", func(w *world) { w.pass(1 + w.r.IntN(8)) }},
}

// step is one of an order. Its choices are its own, so it does much the same without the steps before it.
type step struct {
	kind kind
	pick uint64
}

// calm is how seldom another process does something in the order of a seed.
func calm(seed uint64) int { return []int{1, 3, 9}[seed%3] }

// order is what happens, by a seed.
func order(seed uint64, steps int) (all []step) {
	r := rand.New(rand.NewPCG(seed, 0))
	total := 0
	for _, k := range kinds {
		total += k.weight
	}
	for range steps {
		if r.IntN(6*calm(seed)) == 0 {
			for _, k := range attack {
				if r.IntN(4) > 0 {
					all = append(all, step{k, r.Uint64()})
				}
			}
		}
		n := r.IntN(total)
		for _, k := range kinds {
			if n -= k.weight; n < 0 {
				if !k.hostile || r.IntN(calm(seed)) == 0 {
					all = append(all, step{k, r.Uint64()})
				}
				break
			}
		}
	}
	return all
}

// play plays an order until a key is wrong.
func (a *Agent) play(t *testing.T, calm int, all []step) *world {
	w := newWorld(t, a)
	w.calm, w.honest.plays = calm, calm == 0
	for _, s := range all {
		if w.server.down {
			if w.server.steps--; w.server.steps < 0 {
				w.next()
			}
		}
		w.r = rand.New(rand.NewPCG(s.pick, 1))
		if s.kind.does(w); w.failed != "" {
			break
		}
	}
	return w
}

// shrunk leaves out the steps that a wrong key doesn't need.
func (a *Agent) shrunk(t *testing.T, calm int, all []step) *world {
	w := a.play(t, calm, all)
	for size := len(all) / 2; size > 0; {
		less := false
		for at := 0; at < len(all); {
			without := append(append([]step(nil), all[:at]...), all[min(at+size, len(all)):]...)
			if shorter := a.play(t, calm, without); shorter.failed != "" {
				all, w, less = without, shorter, true
			} else {
				at += size
			}
		}
		if !less || size > 1 {
			size /= 2
		}
	}
	return w
}

// number is a number of the environment.
func number(t *testing.T, name string) (n uint64, ok bool) {
	text := os.Getenv(name)
	if text == "" {
		return 0, false
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n, true
}

// playAll plays the orders of some seeds until one fails. BERTH_ORDERS is another number of them. BERTH_SEED is the first one, and
// the only one without a number.
func playAll(t *testing.T, orders int, play func(seed uint64) *world) {
	t.Helper()
	first, begins := number(t, "BERTH_SEED")
	n, given := number(t, "BERTH_ORDERS")
	switch {
	case !given && begins:
		n = 1
	case !given:
		n = uint64(orders)
	}
	last := first + n
	keyed := 0
	for seed := first; seed < last; seed++ {
		w := play(seed)
		if keyed += w.keyed; w.failed != "" {
			t.Fatalf("seed %d: %s, after\n%s", seed, w.failed, strings.Join(w.trace, "\n"))
		}
	}
	if t.Logf("a key would have answered %d pictures in %d orders", keyed, last-first); keyed == 0 {
		t.Error("no key answers any prompt")
	}
}

// Play plays some orders of that many steps. A key must allow no call whose prompt doesn't say what its dialog leaves out.
func Play(t *testing.T, a *Agent, orders, steps int) {
	t.Helper()
	playAll(t, orders, func(seed uint64) *world {
		all := order(seed, steps)
		w := a.play(t, calm(seed), all)
		if w.failed != "" {
			w = a.shrunk(t, calm(seed), all)
		}
		return w
	})
}
