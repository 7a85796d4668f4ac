package hold

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"berth/api"
)

// Program is what berth-hold version prints: which protocol versions its holders
// speak.
type Program struct {
	Version     string `json:"version"`
	MinProtocol int    `json:"min_protocol"`
	MaxProtocol int    `json:"max_protocol"`
}

// ThisProgram describes the holders of this build.
func ThisProgram() Program {
	return Program{Version: api.ThisBuild().Version, MinProtocol: minVersion, MaxProtocol: maxVersion}
}

// versionWithin bounds how long berth-hold may take to say its version. It takes
// some milliseconds.
const versionWithin = 10 * time.Second

// CheckProgram says why holders started from exe could not be served by this build:
// it does not run, it is another program, or it speaks no protocol version that
// this build does. It runs exe, and is called once, before any session is started.
func CheckProgram(ctx context.Context, exe string) error {
	ctx, cancel := context.WithTimeout(ctx, versionWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, exe, "version")
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("run %s version: %w %s", exe, err, strings.TrimSpace(said.String()))
	}
	var p Program
	if err := json.Unmarshal(out.Bytes(), &p); err != nil || p.MaxProtocol == 0 {
		return fmt.Errorf("%s isn't berth-hold: its version is %.80q", exe, out.String())
	}
	if p.MaxProtocol < minVersion || p.MinProtocol > maxVersion {
		return fmt.Errorf("%s (%s) speaks protocol versions %d to %d, this server %d to %d: install berth and berth-hold of one release",
			exe, p.Version, p.MinProtocol, p.MaxProtocol, minVersion, maxVersion)
	}
	return nil
}
