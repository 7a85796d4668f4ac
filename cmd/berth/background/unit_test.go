package background

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnitText gives systemd words that have a meaning to it, as plain text.
func TestUnitText(t *testing.T) {
	text := UnitText([]string{"/bin/true", "serve", `--state-dir=/home/a b/100%/"x"\$HOME`}, []string{`BERTH_HOLD=/opt/50%/$x`})
	for _, line := range []string{
		`ExecStart="/bin/true" "serve" "--state-dir=/home/a b/100%%/\"x\"\\$$HOME"`,
		`Environment="BERTH_HOLD=/opt/50%%/$x"`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line %s in\n%s", line, text)
		}
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("SKIPPED: systemd-analyze is not installed")
	}
	file := filepath.Join(t.TempDir(), Unit)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", file).CombinedOutput()
	if err != nil || strings.Contains(string(out), Unit) {
		t.Errorf("%v: %s", err, out)
	}
}

// TestStartUnit checks that another's unit stays as it is.
func TestStartUnit(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	file := filepath.Join(dir, "systemd", "user", Unit)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	const own = "[Service]\nExecStart=/bin/true\n"
	if err := os.WriteFile(file, []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	err := StartUnit(t.Context(), UnitText([]string{"/bin/true"}, nil))
	if err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("the error is %v", err)
	}
	if now, err := os.ReadFile(file); err != nil || string(now) != own {
		t.Errorf("the unit is %q, %v", now, err)
	}
}
