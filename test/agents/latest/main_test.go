package main

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestReport(t *testing.T) {
	t.Parallel()
	r, err := read(strings.NewReader(`{"Action":"output","Test":"TestTurn/early","Output":"    turn_test.go:12: the state is working\n"}
{"Action":"output","Test":"TestTurn/early","Output":"    turn_test.go:13: and more\n"}
{"Action":"fail","Test":"TestTurn/early"}
{"Action":"fail","Test":"TestTurn"}
{"Action":"pass","Test":"TestRest"}
{"Action":"skip","Test":"TestOld"}
not a line of go test
{"Action":"fail"}
`))
	if err != nil {
		t.Fatal(err)
	}
	r.took = 2 * time.Second
	want := "claude 3.0 (pinned: 2.0): 1 passed, 1 failed, 1 skipped in 2s\n  TestTurn/early: the state is working\n"
	if got := r.text("claude", "3.0", "2.0"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// The checksums of each agent are those of the version that its tests run.
func TestPinned(t *testing.T) {
	if v := os.Getenv("AGENT_VERSION"); v != "" {
		t.Skipf("SKIPPED: AGENT_VERSION names %s", v)
	}
	for _, a := range agents {
		if ok, err := a.Package.Pinned(); err != nil || !ok {
			t.Errorf("%s %s is not pinned: %v", a.Name, a.Package.Version, err)
		}
	}
}
