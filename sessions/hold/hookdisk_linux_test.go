package hold

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// TestHooksOnAFullDisk asks, reports and answers while nothing can be written:
// the connected server hears of all of it, and the log has it afterwards.
func TestHooksOnAFullDisk(t *testing.T) {
	dir := smallDisk(t, "16m")
	if err := os.Mkdir(dir+"/s", 0o700); err != nil {
		t.Fatal(err)
	}
	a := newAgentIn(t, dir+"/s")
	l := start(t, a.spec)
	t.Cleanup(l.CloseFiles)
	f := follow(l, 0)
	a.hook(`{}`, "--tell", "Before").silent()
	id := a.asked(1)
	filler := fillUp(t, dir)
	var seen []Record
	var after uint64
	heard := func(what string, n int) Record {
		t.Helper()
		f.until(t, what, func() bool {
			err := l.ReadControl(after, func(r Record) error {
				after = r.N
				if r.N > id {
					seen = append(seen, r)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return len(seen) >= n
		})
		return seen[n-1]
	}
	// The end of the last block still takes some: fill it.
	filling := 0
	for ; filling < 3; filling++ {
		a.hook(`"`+strings.Repeat("x", 32<<10)+`"`, "--tell", "Filling").silent()
	}
	heard("what fills the disk", filling)
	a.hook(`"`+strings.Repeat("y", 100<<10)+`"`, "--tell", "Large").silent()
	if r := heard("the large one", filling+1); !strings.Contains(string(r.Data), `"Large"`) || strings.Contains(string(r.Data), `"file":true`) {
		t.Errorf("%.200s", r.Data)
	}
	r := a.hook(`{}`, "--ask", "1h", "1h", "Ask")
	asked := heard("the asker", filling+2)
	if err := l.Verdict(asked.N, []byte("yes"), 0); err != nil {
		t.Fatal(err)
	}
	if out := r.wait(); string(out.Stdout) != "yes" {
		t.Errorf("%+v", out)
	}
	if last := heard("the delivery", filling+4); last.Kind != KindDelivered {
		t.Errorf("%+v", last)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	waitKinds(t, a.spec.Dir, asked.N, "hook verdict delivered")
	if _, err := ReadHook(a.spec.Dir, asked.N-1); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the large payload: %v", err)
	}
}
