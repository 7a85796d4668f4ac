package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"berth/api"
	"berth/sessions/hold"
)

// holderBinary finds berth-hold: the file that is given, else the one beside this
// program.
func holderBinary(given string) (string, error) {
	if given == "" {
		exe, err := os.Executable()
		if err != nil {
			return "", fmt.Errorf("find berth's own binary: %w", err)
		}
		given = filepath.Join(filepath.Dir(exe), hold.HookBinary)
	}
	if _, err := os.Stat(given); err != nil {
		return "", api.Errorf(api.CodeUsage, "%s was not found at %s: install it beside berth, or name it by --hold or BERTH_HOLD", hold.HookBinary, given)
	}
	return given, nil
}

// becomeHolder runs berth-hold with the arguments in place of this process. It
// returns a status when that fails.
func becomeHolder(args []string) int {
	exe, err := holderBinary(os.Getenv("BERTH_HOLD"))
	if err == nil {
		err = syscall.Exec(exe, append([]string{hold.HookBinary}, args[1:]...), os.Environ())
		err = fmt.Errorf("run %s: %w", exe, err)
	}
	fmt.Fprintln(os.Stderr, "berth:", err)
	return 1
}
