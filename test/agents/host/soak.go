package host

import (
	"os"
	"strconv"
)

// Soak is how much longer than in an everyday run the tests of chance are: the
// environment's BERTH_SOAK, 1 when it is not set.
func Soak() int {
	if n, err := strconv.Atoi(os.Getenv("BERTH_SOAK")); err == nil && n > 0 {
		return n
	}
	return 1
}
