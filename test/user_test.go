package e2e

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// mayMakeUsers reports whether scripts can make OS users.
func mayMakeUsers() bool {
	for _, program := range []string{"useradd", "userdel", "runuser"} {
		if _, err := exec.LookPath(program); err != nil {
			return false
		}
	}
	return os.Geteuid() == 0
}

// makeUser makes an OS user with a home in the script's folder. The script must let the user enter that
// folder.
func makeUser(ts *testscript.TestScript, neg bool, args []string) {
	s := stageOf(ts)
	if neg || len(args) != 1 {
		ts.Fatalf("usage: osuser VAR")
	}
	var salt [4]byte
	_, _ = rand.Read(salt[:]) // never fails
	name := "berth-t" + hex.EncodeToString(salt[:])
	home := filepath.Join(s.dir, name)
	ts.Check(os.Mkdir(home, 0o700))
	if out, err := exec.Command("useradd", "--no-create-home", "--home-dir", home, "--shell", "/bin/sh", name).CombinedOutput(); err != nil {
		ts.Fatalf("useradd: %v\n%s", err, out)
	}
	s.users = append(s.users, name)
	made, err := user.Lookup(name)
	ts.Check(err)
	uid, err1 := strconv.Atoi(made.Uid)
	gid, err2 := strconv.Atoi(made.Gid)
	ts.Check(errors.Join(err1, err2, os.Chown(home, uid, gid)))
	ts.Setenv(args[0], name)
	ts.Setenv(args[0]+"_UID", made.Uid)
	ts.Setenv(args[0]+"_HOME", home)
}

func removeUser(ts *testscript.TestScript, neg bool, args []string) {
	s := stageOf(ts)
	if neg || len(args) != 1 || !slices.Contains(s.users, args[0]) {
		ts.Fatalf("usage: rmuser NAME, of one that osuser has made")
	}
	ts.Check(dropUser(args[0]))
	s.users = slices.DeleteFunc(s.users, func(name string) bool { return name == args[0] })
}

// removeUsers removes the OS users of the script. None of their processes runs any more.
func (s *stage) removeUsers() {
	for _, name := range s.users {
		if err := dropUser(name); err != nil {
			s.t.Error(err)
		}
	}
}

// dropUser removes a user without processes. userdel refuses one whose last process is about to be gone, which
// nothing announces.
func dropUser(name string) error {
	for deadline := time.Now().Add(patienceSeconds * time.Second); ; time.Sleep(20 * time.Millisecond) {
		left, err := exec.Command("ps", "-u", name, "-o", "pid=,args=").Output()
		if err != nil || len(left) == 0 { // ps fails if there is none
			break
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("processes of the user %s still run:\n%s", name, left)
		}
	}
	if out, err := exec.Command("userdel", name).CombinedOutput(); err != nil {
		return fmt.Errorf("userdel %s: %w\n%s", name, err, out)
	}
	return nil
}
