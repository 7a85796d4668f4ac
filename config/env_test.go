package config

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/sessions/account"
)

func TestSecretNames(t *testing.T) {
	for name, want := range map[string]bool{
		"ANTHROPIC_API_KEY": true, "github_token": true, "MySecretThing": true, "PGPASSWORD": true, "KEYBOARD": true,
		"PATH": false, "EDITOR": false, "": false,
	} {
		if IsSecretName(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
	if got := RedactMap(map[string]string{"A": "1", "KEY": "x"}); !reflect.DeepEqual(got, map[string]string{"A": "1", "KEY": "***"}) {
		t.Errorf("%v", got)
	}
}

func TestEnvFile(t *testing.T) {
	good := "\ufeff# comment\n\n  A=1\nB = not a name\n"
	_, problems := parseEnvFile("f", good)
	if len(problems) != 1 || problems[0].Line != 4 {
		t.Errorf("%v", problems)
	}
	env, problems := parseEnvFile("f", strings.Join([]string{
		"PLAIN=a b # not a comment", `export EXP="x"`, `DQ="a\n\t\"\\\$ \q" # comment`, `SQ='a\n "b" $X'`, "EMPTY=", "EQ=a=b", "CR=1\r", `IN=a"b`,
	}, "\n"))
	want := []string{"PLAIN=a b # not a comment", "EXP=x", "DQ=a\n\t\"\\$ \\q", `SQ=a\n "b" $X`, "EMPTY=", "EQ=a=b", "CR=1", `IN=a"b`}
	if len(problems) > 0 || !reflect.DeepEqual(env, want) {
		t.Errorf("\n got %q %v\nwant %q", env, problems, want)
	}
	bad := "OK=1\nhunter2\n1A=hunter2\nA=\"hunter2\nB='hunter2' hunter2\nOK=hunter2\nBERTH_X=hunter2\nN=hunter2\x00\n"
	_, problems = parseEnvFile("f", bad)
	var lines []int
	for _, p := range problems {
		lines = append(lines, p.Line)
		if strings.Contains(p.String(), "hunter2") {
			t.Errorf("a value is in a message: %v", p)
		}
	}
	if !reflect.DeepEqual(lines, []int{2, 3, 4, 5, 6, 7, 8}) {
		t.Errorf("%v", problems)
	}
}

func TestEnvFileMustBePrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "env")
	if err := os.WriteFile(path, []byte("A=1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if env, err := LoadEnvFile(path); err != nil || !reflect.DeepEqual(env, []string{"A=1"}) {
		t.Errorf("%v %v", env, err)
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o666} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadEnvFile(path); err == nil || !strings.Contains(err.Error(), "chmod 600 "+path) {
			t.Errorf("mode %v: %v", mode, err)
		}
	}
	if os.Geteuid() == 0 {
		if err := errors.Join(os.Chmod(path, 0o600), os.Chown(path, 12345, -1)); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadEnvFile(path); err == nil || !strings.Contains(err.Error(), "must belong") {
			t.Errorf("foreign owner: %v", err)
		}
		// The folder's owner could replace the file with a link to any private file.
		if err := errors.Join(os.Chown(path, 0, -1), os.Chown(filepath.Dir(path), 12345, -1)); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadEnvFile(path); err == nil || !strings.Contains(err.Error(), "belongs to uid 12345") {
			t.Errorf("a folder of another user: %v", err)
		}
	}
	if _, err := LoadEnvFile(path + ".no"); err == nil || !strings.Contains(err.Error(), "doesn't exist") {
		t.Errorf("missing: %v", err)
	}
	if _, err := LoadEnvFile(filepath.Dir(path)); err == nil {
		t.Error("a folder was read")
	}
}

func FuzzEnvFile(f *testing.F) {
	f.Add("A=1\nexport B='x'\nC=\"\\n\"\n#\n=\n\"")
	f.Fuzz(func(t *testing.T, data string) {
		env, _ := parseEnvFile("f", data)
		for _, e := range env {
			if name, _, ok := strings.Cut(e, "="); !ok || !isEnvName(name) || strings.ContainsRune(e, 0) {
				t.Fatalf("%q", e)
			}
		}
	})
}

// shellAccount is an account whose shell is a script.
func shellAccount(t *testing.T, script string) Account {
	t.Helper()
	home := t.TempDir()
	shell := filepath.Join(home, "shell")
	if err := os.WriteFile(shell, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return Account{Name: "u", Home: home, Shell: shell, UID: os.Getuid()}
}

// TestLoginEnvOfAnotherUser: that user's shell runs as that user, at home where the
// user may be there.
func TestLoginEnvOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can ask another user's shell")
	}
	u, err := account.Lookup("nobody")
	if err != nil {
		t.Fatal(err)
	}
	u.Shell = "/bin/sh"
	if u.Home, err = os.MkdirTemp("/tmp", "berth-home"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(u.Home) })
	profile := "export ASKED=\"$(id -u) $(id -G) $(pwd)\"\n"
	if err := os.WriteFile(filepath.Join(u.Home, ".profile"), []byte(profile), 0o644); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[os.FileMode]string{0o755: fmt.Sprintf("ASKED=%d %d %s", u.UID, u.GID, u.Home), 0o700: ""} {
		if err := os.Chmod(u.Home, mode); err != nil {
			t.Fatal(err)
		}
		env, err := LoginEnv(context.Background(), os.Args[0], OtherAccount(u))
		if err != nil {
			t.Errorf("%v: %v", mode, err)
		}
		i := slices.IndexFunc(env, func(e string) bool { return strings.HasPrefix(e, "ASKED=") })
		if want == "" && i >= 0 || want != "" && (i < 0 || env[i] != want) {
			t.Errorf("%v: %q", mode, env)
		}
	}
}

func TestLoginEnvOfARealShell(t *testing.T) {
	t.Setenv("SERVER_ONLY", "leaked")
	home := t.TempDir()
	profile := "echo noise; printf 'A=noise\\0'; export PATH=/opt/mine:$PATH LOUD='two\nlines' BERTH_SESSION=x; echo oops >&2\n"
	if err := os.WriteFile(filepath.Join(home, ".profile"), []byte(profile), 0o600); err != nil {
		t.Fatal(err)
	}
	env, err := LoginEnv(context.Background(), os.Args[0], Account{Name: "u", Home: home, Shell: "/bin/sh", UID: os.Getuid()})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(env, "LOUD=two\nlines") || !slices.Contains(env, "HOME="+home) {
		t.Errorf("%q", env)
	}
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		if name == "PATH" && !strings.HasPrefix(value, "/opt/mine:") {
			t.Error(e)
		}
		if slices.Contains([]string{"A", "SERVER_ONLY", "BERTH_SESSION", "PWD", "SHLVL", "_", "TERM"}, name) {
			t.Errorf("%s got in", e)
		}
	}
	if !slices.IsSorted(env) {
		t.Errorf("not sorted: %q", env)
	}
}

func TestLoginEnvOfShellsThatFail(t *testing.T) {
	for name, script := range map[string]string{
		"says no":       "echo This account is not available; exit 1\n",
		"says nothing":  "exit 0\n",
		"is not there":  "",
		"floods":        "head -c 20000000 /dev/zero; exit 0\n",
		"half a answer": "eval \"${5%%;*}\"; printf 'GOOD=1\\0HALF=2'; exit 3\n",
	} {
		a := shellAccount(t, script)
		if script == "" {
			a.Shell, a.Home = "/no/such/shell", "/no/such/home"
		}
		env, err := LoginEnv(context.Background(), os.Args[0], a)
		if err == nil || !strings.Contains(err.Error(), a.Shell) {
			t.Errorf("%s: %v", name, err)
		}
		if !slices.Contains(env, "PATH="+systemPath) || !slices.Contains(env, "HOME="+a.Home) {
			t.Errorf("%s: %q", name, env)
		}
	}
}

func TestLoginEnvDoesNotWait(t *testing.T) {
	// A shell that hangs is ended with all it started; its child holds stdout.
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	begin := time.Now()
	env, err := LoginEnv(ctx, os.Args[0], shellAccount(t, "sleep 60 & sleep 60\n"))
	if err == nil || len(env) == 0 || time.Since(begin) > 4*time.Second {
		t.Errorf("after %v: %v", time.Since(begin), err)
	}
	// A shell that answers and leaves a process that holds stdout is fine.
	a := shellAccount(t, "sleep 3 &\nexport X=1\neval \"$4\"\n")
	env, err = LoginEnv(context.Background(), os.Args[0], a)
	if err != nil || !slices.Contains(env, "X=1") {
		t.Errorf("with a child left behind: %q %v", env, err)
	}
}

func TestAccount(t *testing.T) {
	passwd := filepath.Join(t.TempDir(), "passwd")
	if err := os.WriteFile(passwd, []byte("root:x:0:0:root:/root:/bin/bash\nbroken\nu:x:7:7::/home/u:/bin/zsh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		environ string
		uid     int
		want    Account
	}{
		{"", 7, Account{Name: "u", Home: "/home/u", Shell: "/bin/zsh", UID: 7}},
		{"USER=v HOME=/h SHELL=/bin/fish", 7, Account{Name: "v", Home: "/h", Shell: "/bin/fish", UID: 7}},
		{"HOME=rel SHELL=sh", 7, Account{Name: "u", Home: "/home/u", Shell: "/bin/zsh", UID: 7}},
		{"", 987654, Account{Name: "987654", Shell: "/bin/sh", UID: 987654}}, // the name service has no such user either
	} {
		if got := currentAccount(lookup(strings.Fields(c.environ)), c.uid, passwd); got != c.want {
			t.Errorf("%s: %+v", c.environ, got)
		}
	}
}
