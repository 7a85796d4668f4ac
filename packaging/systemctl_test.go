package packaging

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	unitFile = "/usr/lib/systemd/system/berth.service"
	patience = 20 * time.Second
)

// TestMain is also the program systemctl that the package's scripts find: it does with the unit what
// systemd would, on a machine where none runs.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) != "systemctl" {
		os.Exit(m.Run())
	}
	if err := systemctl(os.Getenv("BERTH_TEST_SYSTEMD"), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "systemctl:", err)
		os.Exit(1)
	}
}

// systemctl keeps in dir the calls, the server's process id, and its log.
func systemctl(dir string, args []string) error {
	calls, err := os.OpenFile(filepath.Join(dir, "calls"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer calls.Close()
	fmt.Fprintln(calls, strings.Join(args, " "))
	pidFile := filepath.Join(dir, "pid")
	switch strings.TrimSuffix(strings.Join(args, " "), ".service") {
	case "daemon-reload":
		return nil
	case "enable --now berth":
		return start(dir, pidFile)
	case "disable --now berth":
		return stop(pidFile)
	case "try-restart berth":
		if _, err := os.Stat(pidFile); err != nil {
			return nil
		}
		if err := stop(pidFile); err != nil {
			return err
		}
		return start(dir, pidFile)
	}
	return fmt.Errorf("unexpected call %q", args)
}

// unit reads the settings of the installed unit. One that is given several times isn't among those used.
func unit() (map[string]string, error) {
	f, err := os.Open(unitFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	settings := map[string]string{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), "="); ok && !strings.HasPrefix(name, "#") {
			settings[name] = value
		}
	}
	return settings, nil
}

// start starts the unit's program as its user, with its folders, and waits until it listens: Type=exec
// would not, but the next line of the test logs in.
func start(dir, pidFile string) error {
	u, err := unit()
	if err != nil {
		return err
	}
	who, err := user.Lookup(u["User"])
	if err != nil {
		return err
	}
	uid, _ := strconv.Atoi(who.Uid)
	gid, _ := strconv.Atoi(who.Gid)
	state, runtime := "/var/lib/"+u["StateDirectory"], "/run/"+u["RuntimeDirectory"]
	for path, mode := range map[string]string{state: u["StateDirectoryMode"], runtime: u["RuntimeDirectoryMode"]} {
		bits, err := strconv.ParseUint(mode, 8, 32)
		if err != nil {
			return fmt.Errorf("mode of %s: %w", path, err)
		}
		if err := os.MkdirAll(path, 0o755); err != nil {
			return err
		}
		if err := os.Chown(path, uid, gid); err != nil {
			return err
		}
		if err := os.Chmod(path, os.FileMode(bits)); err != nil {
			return err
		}
	}
	log, err := os.OpenFile(filepath.Join(dir, "log"), os.O_TRUNC|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	words := append([]string{"--reuid", who.Username, "--regid", who.Username, "--init-groups", "--no-new-privs", "--bounding-set=-all", "--"}, strings.Fields(u["ExecStart"])...)
	cmd := exec.Command("setpriv", words...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", "LANG=C.UTF-8", "HOME=" + who.HomeDir, "USER=" + who.Username,
		"LOGNAME=" + who.Username, "SHELL=/bin/bash", "STATE_DIRECTORY=" + state, "RUNTIME_DIRECTORY=" + runtime}
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := os.WriteFile(pidFile, []byte(strconv.Itoa(cmd.Process.Pid)), 0o600); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		text, err := os.ReadFile(log.Name())
		if err != nil || strings.Contains(string(text), "listening on ") {
			return err
		}
		select {
		case err := <-ended:
			return fmt.Errorf("the server ended: %v\n%s", err, text)
		default:
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the server doesn't listen:\n%s", text)
		}
	}
}

// stop ends the server's own process alone, as KillMode=process does.
func stop(pidFile string) error {
	u, err := unit()
	if err != nil {
		return err
	}
	if u["KillMode"] != "process" {
		return fmt.Errorf("KillMode is %q: systemd would end the sessions", u["KillMode"])
	}
	text, err := os.ReadFile(pidFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil // it isn't running
	}
	if err != nil {
		return err
	}
	pid, err := strconv.Atoi(string(text))
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		return err
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if !runs(pid) {
			return os.Remove(pidFile)
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("process %d doesn't end", pid)
		}
	}
}

// runs says whether a process runs; one that ended and wasn't waited for doesn't.
func runs(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}
