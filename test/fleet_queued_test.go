package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// unlisted removes a key's line.
func (b *box) unlisted(name string) {
	b.t.Helper()
	old, err := os.ReadFile(b.authorizedKeys())
	if err != nil {
		b.t.Fatal(err)
	}
	lines := slices.DeleteFunc(strings.SplitAfter(string(old), "\n"), func(l string) bool { return strings.HasSuffix(l, " "+name+"\n") })
	if err := b.writeKeys(strings.Join(lines, "")); err != nil {
		b.t.Fatal(err)
	}
	b.sees("^$", name, "ls")
}

// TestFleetQueued: a message that waits on a host has the rights that its sender has at the gateway when it is typed.
// While the gateway is away it waits.
func TestFleetQueued(t *testing.T) {
	t.Parallel()
	flags := []string{"--fleet-listen", freeAddress(t), "--fleet-name", "gw"}
	gw, box2 := newBox(t, flags...), newBox(t)
	gw.own = "gw/*"
	stand, err := os.ReadFile("testdata/composer.sh")
	agent, said := filepath.Join(box2.dir, "agent"), filepath.Join(box2.dir, "said")
	if err == nil {
		err = os.WriteFile(agent, stand, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	box2.must("admin", "new", "api", "--agent", "claude", "--cwd", box2.dir, "--env", "HOOK="+berth, "--env", "SAID="+said, "--", agent)
	box2.join(gw, "box2")
	gw.sees(`"session":"box2/api"`, "admin", "ls")
	box2.must("admin", "wait", "api", "--until", "idle", "--timeout", "20s")
	slow := filepath.Join(box2.dir, "slow") // a turn lasts as long as this file
	busy := func(text string) {
		t.Helper()
		if err := os.WriteFile(slow, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		gw.must("admin", "nudge", "box2/api", text)
		box2.must("admin", "wait", "api", "--until", "working", "--timeout", "20s")
	}
	rest := func() {
		t.Helper()
		if err := os.Remove(slow); err != nil {
			t.Fatal(err)
		}
	}

	busy("one")
	gw.must("operator", "nudge", "box2/api", "--queue", "two")
	gw.must("admin", "nudge", "box2/api", "--queue", "three")
	gw.unlisted("operator")
	rest()
	gets := func(want string) {
		t.Helper()
		box2.sees(`^\[\]\s$`, "admin", "queue", "api")
		box2.must("admin", "wait", "api", "--until", "idle", "--timeout", "20s")
		if got, err := os.ReadFile(said); string(got) != want {
			t.Errorf("the agent got %q, %v", got, err)
		}
	}
	gets("one\nthree\n")

	busy("four")
	gw.must("admin", "nudge", "box2/api", "--queue", "five")
	gw.kill()
	rest()
	box2.sees("hasn't confirmed the sender's rights yet", "admin", "queue", "api")
	gw.serve(flags...)
	gets("one\nthree\nfour\nfive\n")
}
