package terminal

import (
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

const (
	zeroWidthJoiner = 0x200d
	emojiSelector   = 0xfe0f
	keycapMark      = 0x20e3
	byteOrderMark   = 0xfeff
)

// RuneWidth is how many columns r takes when it begins a cluster: 0, 1 or 2.
// Common ranges are answered without the table.
func RuneWidth(r rune) int {
	switch {
	case r < 0x20 || r >= 0x7f && r < 0xa0:
		return 0
	case r < 0x300:
		if r == 0xad {
			return 0
		}
		return 1
	case r >= 0x2500 && r <= 0x25a0, r >= 0x2800 && r <= 0x28ff: // boxes, blocks, Braille
		return 1
	case r >= 0x4e00 && r <= 0x9fff, r >= 0xac00 && r <= 0xd7a3, r >= 0x3041 && r <= 0x3096:
		return 2
	case r >= 0x1160 && r <= 0x11ff, r >= 0xd7b0 && r <= 0xd7fb: // Hangul vowels and finals
		return 0
	case isRegional(r):
		return 1 // two make a flag of two columns
	}
	return displaywidth.Rune(r)
}

func isRegional(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }
func isSkinTone(r rune) bool { return r >= 0x1f3fb && r <= 0x1f3ff }
func isPictograph(r rune) bool {
	return r >= 0x1f000 && r <= 0x1faff && !isRegional(r) || r >= 0x2190 && r <= 0x2bff || r == 0xa9 || r == 0xae ||
		r == 0x203c || r == 0x2049 || r == 0x2122 || r == 0x2139 || r == 0x3030 || r == 0x303d || r == 0x3297 || r == 0x3299
}

// joiner follows the runes of a text and says which of them belong to the
// cluster before. Its zero value has seen nothing.
type joiner struct {
	base    rune // first rune of the cluster
	last    rune
	regions int // regional indicators so far
}

// next takes r and says whether it joins the cluster before it, and the width
// of its cluster up to and with it when it does (-1: as it was).
func (j *joiner) next(r rune) (joined bool, width int) {
	switch {
	case j.base == 0:
	case r == emojiSelector:
		j.last = r
		if isPictograph(j.base) {
			return true, 2
		}
		return true, -1
	case isSkinTone(r) && isPictograph(j.base),
		j.last == zeroWidthJoiner && isPictograph(r) && isPictograph(j.base):
		j.last = r
		return true, 2
	case isRegional(r) && j.regions == 1 && isRegional(j.last):
		j.last, j.regions = r, 2
		return true, 2
	case RuneWidth(r) == 0:
		j.last = r
		return true, -1
	}
	*j = joiner{base: r, last: r}
	if isRegional(r) {
		j.regions = 1
	}
	return false, 0
}

// takes says whether r would join the cluster before it.
func (j joiner) takes(r rune) bool {
	joined, _ := j.next(r)
	return joined
}

// NextCluster cuts the first cluster off s: what a terminal shows in one place.
// width is its columns, 0 for control characters and marks without a base.
func NextCluster(s string) (cluster, rest string, width int) {
	if s == "" {
		return "", "", 0
	}
	if len(s) == 1 || s[0] < 0x80 && s[1] < 0x80 {
		return s[:1], s[1:], RuneWidth(rune(s[0]))
	}
	var j joiner
	r, n := utf8.DecodeRuneInString(s)
	width = RuneWidth(r)
	if width > 0 {
		j.next(r)
	}
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		if r < 0x20 || r >= 0x7f && r < 0xa0 {
			break
		}
		joined, w := j.next(r)
		if !joined {
			break
		}
		if w > 0 {
			width = w
		}
		n += size
	}
	return s[:n], s[n:], width
}

// StringWidth is how many columns s takes on a terminal.
func StringWidth(s string) int {
	width := 0
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			// The last ASCII rune may be the base of a mark.
			if i > 0 && s[i-1] >= 0x20 && s[i-1] < 0x7f {
				i--
				width--
			}
			for s = s[i:]; s != ""; {
				_, rest, w := NextCluster(s)
				width += w
				s = rest
			}
			return width
		}
		if s[i] >= 0x20 && s[i] < 0x7f {
			width++
		}
	}
	return width
}
