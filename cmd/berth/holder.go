package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"berth/api"
	"berth/sessions/hold"
)

// holderBinary finds berth-hold: the configured file, else the one next to this program.
func holderBinary(given string) (string, error) {
	if given == "" {
		exe, err := os.Executable()
		if err != nil {
			return "", fmt.Errorf("find berth's own binary: %w", err)
		}
		given = filepath.Join(filepath.Dir(exe), hold.HookBinary)
	}
	if _, err := os.Stat(given); err != nil {
		return "", api.Errorf(api.CodeUsage, "%s was not found at %s: install it next to berth, or name it with --hold or BERTH_HOLD", hold.HookBinary, given)
	}
	return given, nil
}

// becomeHolder replaces this process with berth-hold and the arguments. It returns an exit status
// when that fails.
func becomeHolder(args []string) int {
	exe, err := holderBinary(os.Getenv("BERTH_HOLD"))
	if err == nil {
		err = syscall.Exec(exe, append([]string{hold.HookBinary}, args[1:]...), os.Environ())
		err = fmt.Errorf("run %s: %w", exe, err)
	}
	fmt.Fprintln(os.Stderr, "berth:", err)
	return 1
}
