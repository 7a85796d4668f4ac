package registry

import (
	"fmt"
	"strconv"
	"strings"
)

// FormatCursor writes a cursor of a fleet's events as users see it, such as f4711.
func FormatCursor(n uint64) string { return "f" + strconv.FormatUint(n, 10) }

// ParseCursor reads what FormatCursor wrote.
func ParseCursor(s string) (uint64, error) {
	digits, ok := strings.CutPrefix(s, "f")
	n, err := strconv.ParseUint(digits, 10, 64)
	if !ok || err != nil {
		return 0, fmt.Errorf("cursor %q is not of the form f123", s)
	}
	return n, nil
}
