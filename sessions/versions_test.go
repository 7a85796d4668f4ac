package sessions

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestVersionsOfASlowProgram: while a program doesn't answer --version, a known version is returned at once, and a caller who
// asks another program returns when its context ends.
func TestVersionsOfASlowProgram(t *testing.T) {
	p := open(t)
	spec := Defaults()
	spec.ID, spec.Name = "one", "one"
	programs := map[string]program{}
	for _, name := range []string{"quick", "slow"} {
		spec.Command = []string{filepath.Join(t.TempDir(), name)}
		if err := os.WriteFile(spec.Command[0], []byte("#!/bin/sh\necho 1.2.3\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		prog, err := p.reg.options.Environment.resolveWith(spec, false)
		if err != nil {
			t.Fatal(err)
		}
		programs[name] = prog
	}
	if said := p.reg.version(t.Context(), spec, programs["quick"], true); said != "1.2.3" {
		t.Fatalf("it said %q", said)
	}
	leave, err := p.reg.versions.turns.enter(t.Context(), ownUID, 1) // a program runs, and doesn't end
	if err != nil {
		t.Fatal(err)
	}
	if said := p.reg.version(t.Context(), spec, programs["quick"], false); said != "1.2.3" {
		t.Errorf("the known version is %q", said)
	}
	if said := p.reg.version(t.Context(), spec, programs["quick"], true); said != "1.2.3" {
		t.Errorf("asked again, the known version is %q", said)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if said := p.reg.version(ctx, spec, programs["slow"], true); said != "" {
		t.Errorf("it gave up, and the version is %q", said)
	}
	leave()
	if said := p.reg.version(t.Context(), spec, programs["slow"], true); said != "1.2.3" {
		t.Errorf("in its turn it said %q", said)
	}
}
