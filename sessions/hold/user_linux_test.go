package hold

import (
	"os"
	"syscall"
	"testing"
)

// TestProgramOfAnotherUser: only the program is that user's, with the terminal and
// the socket of the hooks, and it can do nothing to its holder.
func TestProgramOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can run a program as another user")
	}
	const script = `echo "is $(id -u) $(id -G)"; echo "terminal $(stat -c '%u' "$(tty)")"
kill -9 $PPID 2>/dev/null || echo spared
cat /proc/$PPID/environ >/dev/null 2>&1 || echo untraced
read -r line`
	spec := testSpec(t, "/bin/sh", "-c", script)
	spec.Cwd, spec.HookSocket = "/", spec.Socket+"h"
	spec.As = &User{UID: 65534, GID: 65534, Groups: []int{65534, 4242}}
	l := start(t, spec)
	f := follow(l, 0)
	for _, want := range []string{"is 65534 65534 4242\r\n", "terminal 65534\r\n", "spared\r\n", "untraced\r\n"} {
		f.untilText(t, want)
	}
	for path, want := range map[string]uint32{spec.HookSocket: 65534, spec.Socket: 0} {
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		if st := info.Sys().(*syscall.Stat_t); st.Uid != want || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is of %d, %v", path, st.Uid, info.Mode())
		}
	}
}

// TestFolderClosedToTheUser: the program begins where its user may be.
func TestFolderClosedToTheUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can run a program as another user")
	}
	spec := testSpec(t, "/bin/sh", "-c", "true")
	spec.Cwd, spec.As = spec.Dir, &User{UID: 65534, GID: 65534}
	if err := os.Chmod(spec.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := Start(t.Context(), exe(t), spec, nil)
	refused, ok := err.(*StartError)
	if !ok || refused.Errno != syscall.EACCES {
		t.Errorf("%v", err)
	}
}
