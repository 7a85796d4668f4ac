package config

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"berth/sessions/account"
)

// Account is the OS user of a session's program.
type Account struct {
	Name, Home, Shell string
	UID               int
	As                *account.User // if it differs from the server's user
}

// OtherAccount is another OS user's account.
func OtherAccount(u *account.User) Account {
	return Account{Name: u.Name, Home: u.Home, Shell: u.Shell, UID: u.UID, As: u}
}

// CurrentAccount is the server's own account: from $USER, $HOME and $SHELL, and from /etc/passwd
// where they are unset. The shell is /bin/sh if neither names one.
func CurrentAccount() Account { return currentAccount(os.Getenv, os.Getuid(), "/etc/passwd") }

// currentAccount needs no os/user, whose C library costs every start.
func currentAccount(getenv func(string) string, uid int, passwd string) Account {
	a := Account{Name: getenv("USER"), Home: getenv("HOME"), Shell: getenv("SHELL"), UID: uid}
	entry := passwdEntry(passwd, uid)
	if needed := a.Name == "" || !filepath.IsAbs(a.Home) || !filepath.IsAbs(a.Shell); needed && entry.Name == "" {
		if e, err := account.FromNSS(context.Background(), strconv.Itoa(uid)); err == nil { // else it is nowhere
			entry = Account{Name: e.Name, Home: e.Home, Shell: e.Shell, UID: uid}
		}
	}
	if a.Name == "" {
		a.Name = getenv("LOGNAME")
	}
	if a.Name == "" {
		a.Name = entry.Name
	}
	if a.Name == "" {
		a.Name = strconv.Itoa(uid)
	}
	if !filepath.IsAbs(a.Home) {
		a.Home = entry.Home
	}
	if !filepath.IsAbs(a.Shell) {
		a.Shell = entry.Shell
	}
	if !filepath.IsAbs(a.Shell) {
		a.Shell = "/bin/sh"
	}
	return a
}

func passwdEntry(path string, uid int) Account {
	f, err := os.Open(path)
	if err != nil {
		return Account{}
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		p := strings.Split(lines.Text(), ":")
		if len(p) == 7 && p[2] == strconv.Itoa(uid) {
			return Account{Name: p[0], Home: p[5], Shell: p[6], UID: uid}
		}
	}
	return Account{}
}

func homeDir(getenv func(string) string) string {
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return home
	}
	return ""
}
