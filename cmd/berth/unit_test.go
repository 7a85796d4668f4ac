package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const (
	unitFile    = "../../packaging/berth.service"
	installPage = "../../docs/install.md"
)

// step matches a command of the page that the reader pastes.
var step = regexp.MustCompile(`(?m)^    (.*)$`)

// TestInstallSteps runs the page's commands for an archive in order. A folder replaces /,
// root replaces the user berth, and programs that record their arguments replace useradd and
// systemctl.
func TestInstallSteps(t *testing.T) {
	page, err := os.ReadFile(installPage)
	if err != nil {
		t.Fatal(err)
	}
	var steps []string
	_, archive, _ := strings.Cut(string(page), "## From an archive")
	archive, _, _ = strings.Cut(archive, "\n## ")
	for _, m := range step.FindAllStringSubmatch(archive, -1) {
		steps = append(steps, m[1])
	}
	root, here := t.TempDir(), t.TempDir()
	path := filepath.Join(root, "path")
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"useradd", "systemctl"} {
		write(filepath.Join(path, name), "#!/bin/sh\necho "+name+" \"$@\" >> "+root+"/calls\n", 0o755)
	}
	key := "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHN0ZXBzb2Z0aGV1bml0ZmlsZWluYmVydGgwMTIz me@laptop\n"
	write(filepath.Join(here, ".ssh", "id_ed25519.pub"), key, 0o644)
	for _, name := range []string{"berth", "berth-hold", "berth-fleet", "berth.service"} {
		write(filepath.Join(here, name), "", 0o755)
	}
	for _, dir := range []string{"usr/local/bin", "etc/systemd/system", "var/lib"} { // every system has these
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	script := strings.NewReplacer(" /usr/local/", " "+root+"/usr/local/", " /etc/systemd/", " "+root+"/etc/systemd/",
		" /var/lib/", " "+root+"/var/lib/", " -o berth -g berth", "").Replace(strings.Join(steps, "\n"))
	sh := exec.CommandContext(t.Context(), "sh", "-eu", "-c", script)
	sh.Dir, sh.Env = here, []string{"HOME=" + here, "PATH=" + path + ":" + os.Getenv("PATH")}
	if out, err := sh.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s\n%s", err, out, script)
	}
	for name, mode := range map[string]os.FileMode{
		"usr/local/bin/berth": 0o755, "usr/local/bin/berth-hold": 0o755, "usr/local/bin/berth-fleet": 0o755, "etc/systemd/system/berth.service": 0o644,
		"var/lib/berth": 0o700 | os.ModeDir, "var/lib/berth/authorized_keys": 0o600,
	} {
		if st, err := os.Stat(filepath.Join(root, name)); err != nil || st.Mode() != mode {
			t.Errorf("%s: %v, %v", name, st, err)
		}
	}
	for name, want := range map[string]string{
		"var/lib/berth/authorized_keys": "role=\"admin\" " + key,
		"calls":                         "useradd --create-home --shell /bin/bash berth\nsystemctl daemon-reload\nsystemctl enable --now berth\nsystemctl status berth\n",
	} {
		if got, err := os.ReadFile(filepath.Join(root, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestUnitFile checks the unit with systemd-analyze, and with a program that exists.
func TestUnitFile(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("SKIPPED: systemd-analyze is not installed")
	}
	unit, err := os.ReadFile(unitFile)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "berth.service")
	text := strings.Replace(string(unit), "ExecStart=/usr/local/bin/berth ", "ExecStart=/bin/true ", 1)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", file).CombinedOutput()
	if err != nil || strings.Contains(string(out), "berth.service") {
		t.Errorf("%v: %s", err, out)
	}
}
