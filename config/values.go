package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"berth/terminal"
)

// Bytes is an amount of memory or disk.
type Bytes int64

// The units that Bytes is written in.
const (
	KiB Bytes = 1 << 10
	MiB Bytes = 1 << 20
	GiB Bytes = 1 << 30
	TiB Bytes = 1 << 40
	KB  Bytes = 1000
	MB  Bytes = 1000 * KB
	GB  Bytes = 1000 * MB
	TB  Bytes = 1000 * GB
)

var byteUnits = []struct {
	name string
	unit Bytes
}{
	{"TiB", TiB}, {"GiB", GiB}, {"MiB", MiB}, {"KiB", KiB},
	{"TB", TB}, {"GB", GB}, {"MB", MB}, {"KB", KB}, {"B", 1},
}

// String writes the amount in the unit that gives the smallest whole number.
func (b Bytes) String() string {
	best := byteUnits[len(byteUnits)-1]
	for _, u := range byteUnits {
		if b%u.unit == 0 && u.unit > best.unit && b != 0 {
			best = u
		}
	}
	return strconv.FormatInt(int64(b/best.unit), 10) + best.name
}

// ParseBytes reads an amount such as 64MiB (1024s), 10GB (1000s) or 4096.
func ParseBytes(s string) (Bytes, error) {
	unit, number := Bytes(1), s
	for _, u := range byteUnits {
		if n, ok := cutSuffixFold(s, u.name); ok {
			unit, number = u.unit, n
			break
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/int64(unit) {
		return 0, fmt.Errorf("%s isn't a valid size: write 64MiB, 10GB or a number of bytes", quote(s))
	}
	return Bytes(n) * unit, nil
}

func cutSuffixFold(s, suffix string) (string, bool) {
	if len(s) < len(suffix) || !strings.EqualFold(s[len(s)-len(suffix):], suffix) {
		return s, false
	}
	return s[:len(s)-len(suffix)], true
}

// Processors is a number of processors in thousandths.
type Processors int64

// leastProcessors is the least that the kernel takes: a millisecond in each period.
const leastProcessors, mostProcessors = 10, 1_000_000

// ParseProcessors reads a number such as 1.5.
func ParseProcessors(s string) (Processors, error) {
	n, err := strconv.ParseFloat(s, 64)
	if p := Processors(math.Round(n * 1000)); err == nil && p >= leastProcessors && p <= mostProcessors {
		return p, nil
	}
	return 0, fmt.Errorf("%s isn't a number of processors: write 2, 1.5 or 0.25", quote(s))
}

// ParseDuration reads a duration such as 30s, 10m, 1h30m, 7d or 2w; a day is
// 24 hours.
func ParseDuration(s string) (time.Duration, error) {
	bad := fmt.Errorf("%s isn't a valid duration: write 30s, 10m, 12h or 7d", quote(s))
	var total time.Duration
	rest := s
	for _, u := range []struct {
		letter string
		unit   time.Duration
	}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}} {
		number, after, found := strings.Cut(rest, u.letter)
		if !found {
			continue
		}
		n, err := strconv.ParseUint(number, 10, 31)
		if err != nil || time.Duration(n) > (math.MaxInt64-total)/u.unit {
			return 0, bad
		}
		total += time.Duration(n) * u.unit
		if rest = after; rest == "" {
			return total, nil
		}
	}
	d, err := time.ParseDuration(rest)
	if err != nil || d < 0 || d > math.MaxInt64-total {
		return 0, bad
	}
	return total + d, nil
}

// Clipboard says whose clipboards programs set.
type Clipboard string

// The values of Clipboard.
const (
	ClipboardOff    Clipboard = "off"
	ClipboardWriter Clipboard = "writer" // that of the client that has control
	ClipboardAll    Clipboard = "all"    // those of all attached clients
)

// ParseClipboard reads one of the values. The field was a bool before it had values: true is all, and
// false is off.
func ParseClipboard(s string) (Clipboard, error) {
	switch c := Clipboard(s); {
	case c == ClipboardOff || c == ClipboardWriter || c == ClipboardAll:
		return c, nil
	case s == "true":
		return ClipboardAll, nil
	case s == "false":
		return ClipboardOff, nil
	}
	return "", fmt.Errorf("%s isn't valid: write off, writer or all", quote(s))
}

// Window is a terminal's size in cells.
type Window struct{ Cols, Rows int }

// String writes the size as COLSxROWS.
func (w Window) String() string { return fmt.Sprintf("%dx%d", w.Cols, w.Rows) }

// ParseWindow reads a size such as 200x50.
func ParseWindow(s string) (Window, error) {
	c, r, ok := strings.Cut(s, "x")
	cols, err1 := strconv.ParseUint(c, 10, 16)
	rows, err2 := strconv.ParseUint(r, 10, 16)
	if !ok || err1 != nil || err2 != nil {
		return Window{}, fmt.Errorf("%s isn't a valid size: write COLUMNSxROWS, such as 200x50", quote(s))
	}
	w := Window{int(cols), int(rows)}
	if w.Cols < terminal.MinCols || w.Rows < terminal.MinRows || w.Cols > terminal.MaxCols || w.Rows > terminal.MaxRows {
		return Window{}, fmt.Errorf("%s is out of bounds: %dx%d to %dx%d", w, terminal.MinCols, terminal.MinRows, terminal.MaxCols, terminal.MaxRows)
	}
	return w, nil
}
