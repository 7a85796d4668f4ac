package hold

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A session inside a session has a lower mark, and no mark is the limit of
// who starts it.
func TestMarkUnder(t *testing.T) {
	seen := map[uint64]bool{}
	for _, top := range []uint64{math.MaxUint64, markTop, markTop - 1, 1<<markHash + 5, 1 << markHash, 1000, 1} {
		limit := top
		for range 4 {
			a, b := markUnder(limit, "a"), markUnder(limit, "b")
			if a >= limit || b >= limit || a >= markTop || limit >= 1<<markHash && a == b {
				t.Errorf("under %d: %d and %d", limit, a, b)
			}
			if limit = b; limit == 0 {
				break
			}
			seen[b] = true
		}
	}
	if a, b := markUnder(math.MaxUint64, "a"), markUnder(markUnder(math.MaxUint64, "a"), "a"); a == b || b == 0 {
		t.Errorf("the same session inside itself: %d %d", a, b)
	}
}

// TestCheckServer: a server must not serve a session that surrounds it, found by mark or by
// holder. It must not run below what a login shell left running, nor where all of its sessions
// would have the same mark.
func TestCheckServer(t *testing.T) {
	root := t.TempDir()
	for session, pid := range map[string]int{"alpha": 4711, "beta": 4712} {
		dir := filepath.Join(root, session)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, holderFile), fmt.Appendf(nil, `{"pid": %d, "start": "s"}`, pid), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	folders := []string{filepath.Join(root, "none"), filepath.Join(root, "alpha"), filepath.Join(root, "beta")}
	top := map[uint64]bool{math.MaxUint64: true}
	for name, c := range map[string]struct {
		limit uint64
		here  surroundings
		want  string
	}{
		"outside":                  {math.MaxUint64, surroundings{limits: top, above: map[process]bool{{pid: 4712, start: "later"}: true}}, ""},
		"outside, with the lowest": {markTop, surroundings{limits: map[uint64]bool{markTop: true}}, ""},
		"with a lowered mark":      {markTop - 1, surroundings{limits: map[uint64]bool{math.MaxUint64: true, markTop - 1: true}}, "has lowered its mark"},
		"with a lower limit":       {1<<markHash - 1, surroundings{limits: top}, "is 281474976710655 (ulimit -H -x)"},
		"with none at all":         {0, surroundings{limits: top}, "so remove it"},
		"another server's session": {markUnder(math.MaxUint64, "gamma"), surroundings{limits: map[uint64]bool{math.MaxUint64: true, markUnder(math.MaxUint64, "gamma"): true}, within: map[uint64]bool{markUnder(math.MaxUint64, "gamma"): true}}, ""},
		"left by another server's": {markUnder(math.MaxUint64, "gamma"), surroundings{limits: map[uint64]bool{math.MaxUint64: true, markUnder(math.MaxUint64, "gamma"): true}}, "has lowered its mark"},
		"by its mark":              {markUnder(math.MaxUint64, "none"), surroundings{limits: map[uint64]bool{markUnder(math.MaxUint64, "none"): true}}, "inside the session none"},
		"by its holder":            {math.MaxUint64, surroundings{limits: top, above: map[process]bool{{pid: 4712, start: "s"}: true}}, "inside the session beta"},
		"below a login shell":      {markUnder(math.MaxUint64, LoginShell), surroundings{limits: map[uint64]bool{markUnder(math.MaxUint64, LoginShell): true}}, "by a login shell"},
	} {
		err := c.here.checkServer(c.limit, folders)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLoweredSurroundings: the limit of a process above the server was lowered by another process. It doesn't
// count as outside.
func TestLoweredSurroundings(t *testing.T) {
	ours, lowered := markUnder(math.MaxUint64, "ours"), markUnder(math.MaxUint64, "other")
	s := surroundings{limits: map[uint64]bool{math.MaxUint64: true, ours: true, lowered: true, 7: true}, within: map[uint64]bool{ours: true}}
	s.distrust(7)
	if s.limits[lowered] || len(s.limits) != 3 {
		t.Errorf("%v", s.limits)
	}
}
