package host

import (
	"os"
	"strconv"
)

// Soak is how many times as long as usual the tests of chance run: BERTH_SOAK in the environment, 1 if it isn't set.
func Soak() int {
	if n, err := strconv.Atoi(os.Getenv("BERTH_SOAK")); err == nil && n > 0 {
		return n
	}
	return 1
}
