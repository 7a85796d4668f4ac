//go:build agents

package claude

import (
	"os"
	"strconv"
)

// soak is how much longer than in an everyday run the tests of chance are: the
// environment's BERTH_SOAK, 1 when it is not set.
func soak() int {
	if n, err := strconv.Atoi(os.Getenv("BERTH_SOAK")); err == nil && n > 0 {
		return n
	}
	return 1
}

// kills is how many rounds a queue is killed in.
func kills() int { return 3 * soak() }

// messages is how many are given while people come and go, and dialogs how many
// of them around the appearance of a dialog.
func messages() int { return 40 * soak() }
func dialogs() int  { return 20 * soak() }
