package attach

import (
	"fmt"
	"strconv"
	"strings"

	"berth/terminal/keyboard"
)

// moveMouse gives a mouse event of a window over a session's screen in the
// screen's coordinates, nil when it happened outside of the screen.
func moveMouse(seq []byte, left, top, cols, rows int) []byte {
	if seq[2] == 'M' { // X10: coordinates are bytes from 33
		x, y := int(seq[4])-32+left, int(seq[5])-32+top
		if x < 1 || y < 1 || x > cols || y > rows || x > 223 || y > 223 {
			return nil
		}
		return []byte{0x1b, '[', 'M', seq[3], byte(x + 32), byte(y + 32)}
	}
	start := 2
	if seq[2] == '<' {
		start = 3
	}
	fields := strings.Split(string(seq[start:len(seq)-1]), ";")
	if len(fields) != 3 {
		return nil
	}
	x, err1 := strconv.Atoi(fields[1])
	y, err2 := strconv.Atoi(fields[2])
	if err1 != nil || err2 != nil {
		return nil
	}
	x, y = x+left, y+top
	if x < 1 || y < 1 || x > cols || y > rows {
		return nil
	}
	return fmt.Appendf(nil, "%s%s;%d;%d%c", seq[:start], fields[0], x, y, seq[len(seq)-1])
}

// presses says whether a mouse event is a button pressed or the wheel turned,
// rather than a move or a button let go.
func presses(seq []byte) bool {
	e, ok := keyboard.DecodeMouse(seq)
	return ok && e.What == keyboard.Press
}
