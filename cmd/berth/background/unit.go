package background

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Unit is the name of the user's unit.
const Unit = "berth.service"

// unitMark is the first line of a unit that this program wrote: another's is left as it is.
const unitMark = "# Written by berth up; berth down stops and disables it."

// Systemd says whether systemd manages this user's services.
func Systemd() bool {
	dir := os.Getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		return false
	}
	if _, err := os.Stat(filepath.Join(dir, "systemd", "private")); err != nil {
		return false
	}
	_, err := exec.LookPath("systemctl")
	return err == nil
}

// UnitText is the unit that runs argv with these variables.
func UnitText(argv, env []string) string {
	var words []string
	for _, word := range argv {
		words = append(words, strings.ReplaceAll(unitWord(word), "$", "$$")) // a variable, in a command alone
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n[Unit]\nDescription=Berth, an SSH server that gives every agent a terminal of its own\n"+
		"StartLimitIntervalSec=60\nStartLimitBurst=5\n\n[Service]\nType=exec\nExecStart=%s\n", unitMark, strings.Join(words, " "))
	for _, v := range env {
		fmt.Fprintf(&b, "Environment=%s\n", unitWord(v))
	}
	// As in packaging/berth.service: sessions outlive the server, and one that runs out of memory
	// doesn't take the others with it.
	b.WriteString("ExecReload=/bin/kill -HUP $MAINPID\nRestart=on-failure\nRestartSec=1\nKillMode=process\nOOMPolicy=continue\n" +
		"LimitNOFILE=65536\nTasksMax=infinity\n")
	// systemd can't start the unit again while sessions have cgroups with controllers.
	fmt.Fprintf(&b, "Delegate=yes\nEnvironment=BERTH_UNGROUPS=1\nExecStopPost=-%s ungroup\n",
		strings.ReplaceAll(unitWord(filepath.Join(filepath.Dir(argv[0]), "berth-hold")), "$", "$$"))
	b.WriteString("\n[Install]\nWantedBy=default.target\n")
	return b.String()
}

// unitWord quotes a word as systemd reads it, with its specifiers as plain text.
func unitWord(word string) string {
	word = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "\n", `\n`).Replace(word)
	return `"` + word + `"`
}

func unitFile() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find the folder of your units: %w", err)
	}
	return filepath.Join(dir, "systemd", "user", Unit), nil
}

// ErrForeignUnit says that the user has a unit of this name that they wrote themselves.
var ErrForeignUnit = errors.New("you have a unit of your own with this name")

// StartUnit writes the unit and starts it, now and whenever the user's services start.
func StartUnit(ctx context.Context, text string) error {
	file, err := unitFile()
	if err != nil {
		return err
	}
	was, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("read your unit: %w", err)
	case !strings.HasPrefix(string(was), unitMark):
		return fmt.Errorf("%w: %s (start it with: systemctl --user start berth)", ErrForeignUnit, file)
	}
	if string(was) != text {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return fmt.Errorf("make the folder of your units: %w", err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return fmt.Errorf("write your unit: %w", err)
		}
		if err := systemctl(ctx, "daemon-reload"); err != nil {
			return err
		}
	}
	return systemctl(ctx, "enable", "--now", "--quiet", Unit)
}

// StopUnit stops and disables the unit, if this program wrote one.
func StopUnit(ctx context.Context) (stopped bool, err error) {
	if !Systemd() {
		return false, nil
	}
	file, err := unitFile()
	if err != nil {
		return false, nil //nolint:nilerr // a user without a folder of units has no unit
	}
	text, err := os.ReadFile(file)
	if err != nil || !strings.HasPrefix(string(text), unitMark) {
		return false, nil //nolint:nilerr // it isn't ours
	}
	return true, systemctl(ctx, "disable", "--now", "--quiet", Unit)
}

// WatchUnit sends an error when the unit has failed. Its goroutine ends with ctx.
func WatchUnit(ctx context.Context) <-chan error {
	failed := make(chan error, 1)
	go func() {
		tick := time.NewTicker(askEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if exec.CommandContext(ctx, "systemctl", "--user", "is-failed", "--quiet", Unit).Run() == nil {
				failed <- errors.New("its unit has failed; it is tried again at your next login, unless berth down disables it")
				return
			}
		}
	}()
	return failed
}

// askEvery is how often systemd is asked about a unit that starts.
const askEvery = 300 * time.Millisecond

func systemctl(ctx context.Context, args ...string) error {
	args = slices.Insert(args, 0, "--user")
	out, err := exec.CommandContext(ctx, "systemctl", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("systemctl %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// Lingers says whether the user's services outlive their last login.
func Lingers(user string) bool {
	_, err := os.Stat(filepath.Join("/var/lib/systemd/linger", user))
	return err == nil
}
