package account

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// otherUser is a user that every system has, with a group in addition to its own.
func otherUser(t *testing.T) *User {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can act as another user")
	}
	u, err := Lookup("nobody")
	if err != nil {
		t.Fatal(err)
	}
	if u.UID == 0 || u.GID == 0 || !slices.Contains(u.Groups, u.GID) || !filepath.IsAbs(u.Shell) {
		t.Fatalf("%+v", u)
	}
	u.Groups = append(u.Groups, 4242)
	return u
}

// open is a folder that all may enter.
func open(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "account")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func uidOf(t *testing.T, path string) int {
	t.Helper()
	info, err := os.Lstat(path)
	check(t, err)
	return int(info.Sys().(*syscall.Stat_t).Uid)
}

func TestLookup(t *testing.T) {
	otherUser(t)
	if _, err := Lookup("nobody-of-that-name"); !errors.Is(err, ErrNoUser) || !strings.Contains(err.Error(), `"nobody-of-that-name"`) {
		t.Errorf("unknown: %v", err)
	}
	if _, err := Lookup(""); err == nil {
		t.Error("found a user with an empty name")
	}
	passwd := filepath.Join(t.TempDir(), "passwd")
	check(t, os.WriteFile(passwd, []byte("a:x:7:7::/home/a:/bin/zsh\nbroken\nb:x:8:8::/home/b:\n"), 0o600))
	for uid, want := range map[string]string{"7": "/bin/zsh", "8": "/bin/sh", "9": "/bin/sh"} {
		if got := shellOf(passwd, uid); got != want {
			t.Errorf("the shell of %s is %s", uid, got)
		}
	}
}

// TestMain lets the test binary be a server of another user's.
func TestMain(m *testing.M) {
	if name := os.Getenv("ACCOUNT_LOOKUP"); name != "" {
		_, err := Lookup(name)
		fmt.Println(err)
		return
	}
	os.Exit(m.Run())
}

// TestLookupWithoutRoot: only root can act as another user.
func TestLookupWithoutRoot(t *testing.T) {
	u, exe := otherUser(t), filepath.Join(open(t), "test")
	data, err := os.ReadFile(os.Args[0])
	check(t, err)
	check(t, os.WriteFile(exe, data, 0o755))
	for _, name := range []string{"root", "nobody"} {
		cmd := exec.Command(exe)
		cmd.Dir, cmd.Env = "/", []string{"ACCOUNT_LOOKUP=" + name, "GORACE=atexit_sleep_ms=0"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: u.Credential()}
		out, err := cmd.Output()
		want := fmt.Sprintf("a session can run as the user %q only where the server runs as root; it runs as uid %d\n", name, u.UID)
		if err != nil || string(out) != want {
			t.Errorf("%s: %s, %v", name, out, err)
		}
	}
}

// TestDo: what is done has the user's rights on files, of uid and of every group,
// and none of root's; what is done beside it and after it has the server's.
func TestDo(t *testing.T) {
	u, dir := otherUser(t), open(t)
	secret, shared, theirs := filepath.Join(dir, "secret"), filepath.Join(dir, "shared"), filepath.Join(dir, "theirs")
	check(t, errors.Join(os.WriteFile(secret, []byte("x"), 0o600), os.WriteFile(shared, []byte("x"), 0o640), os.Chown(shared, 0, 4242)))
	check(t, errors.Join(os.Mkdir(theirs, 0o700), os.Chown(theirs, u.UID, u.GID)))
	made, link := filepath.Join(theirs, "made"), filepath.Join(theirs, "link")
	check(t, os.Symlink(secret, link))
	var work sync.WaitGroup
	for range 20 {
		work.Go(func() {
			err := u.Do(t.Context(), func() error {
				if _, err := os.ReadFile(secret); !errors.Is(err, fs.ErrPermission) {
					t.Errorf("a file of root's: %v", err)
				}
				if err := os.WriteFile(link, []byte("y"), 0o600); !errors.Is(err, fs.ErrPermission) {
					t.Errorf("through a link: %v", err)
				}
				if err := os.Chown(made, 0, 0); err == nil {
					t.Error("given away")
				}
				_, err := os.ReadFile(shared)
				return errors.Join(err, os.WriteFile(made, nil, 0o600))
			})
			if err != nil {
				t.Error(err)
			}
			if _, err := os.ReadFile(secret); err != nil {
				t.Errorf("after it: %v", err)
			}
		})
	}
	work.Wait()
	if uid := uidOf(t, made); uid != u.UID {
		t.Errorf("what was made belongs to %d", uid)
	}
	own := filepath.Join(theirs, "own")
	if err := os.WriteFile(own, nil, 0o600); err != nil || uidOf(t, own) != 0 {
		t.Errorf("what the server makes: %v", err)
	}
	out, err := exec.Command("id", "-u").Output()
	if err != nil || string(out) != "0\n" {
		t.Errorf("what the server starts: %s, %v", out, err)
	}
	if err := u.Do(t.Context(), func() error { return fs.ErrClosed }); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("its error: %v", err)
	}
	if err := (*User)(nil).Do(t.Context(), func() error { _, err := os.ReadFile(secret); return err }); err != nil {
		t.Errorf("the server's own user: %v", err)
	}
}

func TestReach(t *testing.T) {
	u, dir := otherUser(t), open(t)
	closed := filepath.Join(dir, "closed")
	below := filepath.Join(closed, "below")
	check(t, os.MkdirAll(below, 0o755))
	check(t, u.Reach(below))
	check(t, os.Chmod(closed, 0o711))
	check(t, u.Reach(below))
	check(t, os.Chmod(closed, 0o700))
	if err := u.Reach(below); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q cannot enter the folder %s:", u.Name, closed)) {
		t.Errorf("%v", err)
	}
}

func TestShutInherited(t *testing.T) {
	fd, err := unix.Open("/dev/null", unix.O_RDONLY, 0)
	check(t, err)
	defer unix.Close(fd)
	ShutInherited()
	if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
		t.Errorf("flags %d, %v", flags, err)
	}
}
