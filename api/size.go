package api

import "strconv"

// Size writes a number of bytes as berth.yaml does: in the largest unit that it is a multiple of.
func Size(n int64) string {
	unit, name := int64(1), "B"
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if n == 0 || n%(unit<<10) != 0 {
			break
		}
		unit, name = unit<<10, next
	}
	return strconv.FormatInt(n/unit, 10) + name
}
