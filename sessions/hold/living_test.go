package hold

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestFindSurvivor: holder.json shows whether a session may still run. The survivor has the uid
// in holder.json, or any uid if it names none. A session with a dead holder has no survivor.
func TestFindSurvivor(t *testing.T) {
	self, err := lookProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	unknown := os.Geteuid()
	if unknown == 0 {
		unknown = UnknownUID
	}
	for name, c := range map[string]struct {
		file string
		want Survivor
		ok   bool
	}{
		"none":   {},
		"dead":   {file: `{"pid": 1, "start": "never", "uid": 1000}`},
		"before": {`{"pid": PID, "start": "START"}`, Survivor{self.pid, self.start, unknown}, true},
		"torn":   {`{"pid": PI`, Survivor{UID: unknown}, true},
	} {
		dir := t.TempDir()
		if c.file != "" {
			if err := os.WriteFile(filepath.Join(dir, holderFile), []byte(strings.NewReplacer("PID", strconv.Itoa(self.pid), "START", self.start).Replace(c.file)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got, ok := FindSurvivor(dir); got != c.want || ok != c.ok {
			t.Errorf("%s: %+v %v, want %+v", name, got, ok, c.want)
		}
	}
	spec := testSpec(t, "sleep", "60")
	l := start(t, spec)
	if got, ok := FindSurvivor(spec.Dir); !ok || got.PID != l.Welcome().HolderPID || got.UID != os.Geteuid() {
		t.Errorf("a living holder: %+v %v", got, ok)
	}
}
