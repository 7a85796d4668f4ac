package e2e

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"berth/sessions/hold"
)

// cgroupRoot is the root of the hierarchy, or of what the tests see of it: others are made there. Only the
// root gives controllers to those below it while it has processes.
func cgroupRoot() string {
	own, err := hold.OwnCgroup()
	if err != nil {
		return ""
	}
	at := own
	for {
		above := filepath.Dir(at)
		if _, err := os.Stat(filepath.Join(above, "cgroup.procs")); errors.Is(err, fs.ErrNotExist) {
			return at
		}
		at = above
	}
}

// mayMakeCgroups reports whether scripts can make cgroups, with that controller.
func mayMakeCgroups(controller string) bool {
	root := cgroupRoot()
	if os.Geteuid() != 0 || root == "" {
		return false
	}
	text, err := os.ReadFile(filepath.Join(root, "cgroup.controllers"))
	return err == nil && (controller == "" || slices.Contains(strings.Fields(string(text)), controller))
}

// asUnit does in the cgroup $0 what systemd does with Berth's unit. After the end of the last server it
// runs "berth-hold ungroup" in the cgroup .control, and then it starts a server in the unit's own cgroup. The kernel
// refuses that if the cgroup has controllers.
const asUnit = `mkdir -p "$0/.control" && echo $$ > "$0/.control/cgroup.procs" && "$1-hold" ungroup && echo $$ > "$0/cgroup.procs" && exec "$@"`

// makeCgroup makes the cgroup that the script's servers start in.
func makeCgroup(ts *testscript.TestScript, neg bool, args []string) {
	s := stageOf(ts)
	if neg || len(args) != 1 || s.cgroup != "" {
		ts.Fatalf("usage: cgroup VAR, once")
	}
	root := cgroupRoot()
	for _, name := range []string{"cpu", "memory", "pids"} {
		if mayMakeCgroups(name) {
			ts.Check(os.WriteFile(filepath.Join(root, "cgroup.subtree_control"), []byte("+"+name), 0))
		}
	}
	var salt [4]byte
	_, _ = rand.Read(salt[:]) // never fails
	s.cgroup = filepath.Join(root, "test-"+hex.EncodeToString(salt[:]))
	ts.Check(os.Mkdir(s.cgroup, 0o755))
	ts.Setenv(args[0], s.cgroup)
}

// removeCgroup removes it, and reports what sessions have left there.
func (s *stage) removeCgroup() {
	if s.cgroup == "" {
		return
	}
	left, _ := filepath.Glob(filepath.Join(s.cgroup, hold.CgroupPrefix+"*"))
	if len(left) > 0 {
		s.t.Errorf("cgroups are left: %s", left)
	}
	if err := hold.EndCgroup(s.cgroup); err != nil {
		s.t.Error(err)
	}
}
