package account

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// TestNSS finds a user that only the name service has. Its getent is one that answers as a directory would.
func TestNSS(t *testing.T) {
	const getent = `#!/bin/sh
case "$1 $3" in
"passwd alice" | "passwd 70001") echo "alice:*:70001:70000:Alice:/home/alice:/bin/zsh" ;;
"initgroups alice") echo "alice                 27 70000 70002" ;;
"passwd mallory") echo "root:x:0:0:root:/root:/bin/sh" ;;
"passwd broken") echo "broken:x:many:0::/:" ;;
"passwd slow") exit 3 ;;
*) exit 2 ;;
esac
`
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "getent"), []byte(getent), 0o755); err != nil {
		t.Fatal(err)
	}
	system := systemFolders
	t.Cleanup(func() { systemFolders = system })
	systemFolders = []string{filepath.Join(dir, "none"), dir}
	got, err := lookupNSS("alice")
	want := &User{Name: "alice", Home: "/home/alice", Shell: "/bin/zsh", UID: 70001, GID: 70000, Groups: []int{70000, 27, 70002}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("alice is %+v, %v", got, err)
	}
	for _, name := range []string{"nosuch", "70001"} { // a uid isn't a name
		if u, err := lookupNSS(name); !errors.Is(err, ErrNoUser) {
			t.Errorf("%s is %+v, %v", name, u, err)
		}
	}
	for _, name := range []string{"mallory", "broken", "slow"} { // answers about another user, or none
		if u, err := lookupNSS(name); err == nil || errors.Is(err, ErrNoUser) {
			t.Errorf("%s is %+v, %v", name, u, err)
		}
	}
	// One on the server's PATH alone isn't run: an agent may have put it there.
	systemFolders = []string{filepath.Join(dir, "none")}
	t.Setenv("PATH", dir)
	if _, err := lookupNSS("alice"); !errors.Is(err, ErrNoUser) {
		t.Errorf("without getent: %v", err)
	}
}
