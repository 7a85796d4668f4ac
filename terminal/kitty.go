package terminal

import "fmt"

const (
	// maxKitty is how many keyboard flags a program may push, as in kitty.
	maxKitty   = 16
	kittyFlags = 1 | 2 | 4 | 8 | 16
)

// kittyFlags are the flags in force on the screen shown.
func (t *Terminal) kittyFlags() int {
	if n := len(t.scr.kitty); n > 0 {
		return t.scr.kitty[n-1]
	}
	return 0
}

// setKitty is CSI > flags u (push), CSI < n u (pop), CSI = flags ; how u (set).
func (t *Terminal) setKitty(p *params, prefix byte) {
	s := t.scr
	flags := p.at(0, 0) & kittyFlags
	t.revision++
	t.endCluster()
	switch prefix {
	case '>':
		if len(s.kitty) == maxKitty {
			s.kitty = append([]int(nil), s.kitty[1:]...)
		}
		s.kitty = append(s.kitty, flags)
		t.passKitty('>', flags)
	case '<':
		// What a client's terminal had pushed before is not the program's to pop.
		n := min(p.count(), len(s.kitty))
		s.kitty = s.kitty[:len(s.kitty)-n]
		t.passKitty('<', n)
	case '=':
		t.changeKitty(flags, p.at(1, 1))
	}
}

// changeKitty sets (1), adds (2) or takes (3) flags.
func (t *Terminal) changeKitty(flags, how int) {
	s := t.scr
	if len(s.kitty) == 0 {
		s.kitty = append(s.kitty, 0)
		t.passKitty('>', 0)
	}
	top := &s.kitty[len(s.kitty)-1]
	switch how {
	case 1:
		*top = flags
	case 2:
		*top |= flags
	case 3:
		*top &^= flags
	}
	t.passKitty('=', *top)
}

func (t *Terminal) passKitty(prefix byte, n int) {
	if prefix == '<' && n == 0 || !t.pass.on || !t.pass.room() {
		return
	}
	t.pass.out = append(appendNumber(append(t.pass.out, 0x1b, '[', prefix), n), 'u')
}

func (t *Terminal) replyKitty() {
	t.reply(fmt.Sprintf("\x1b[?%du", t.kittyFlags()))
}

// setKeyOptions is XTMODKEYS; only modifyOtherKeys (4) is known.
func (t *Terminal) setKeyOptions(p *params) {
	switch p.at(0, 4) {
	case 4:
		t.modes.modifyOther = min(p.at(1, 0), 2)
	default:
		return
	}
	t.revision++
	t.endCluster()
	t.passMarked(p, '>', 0, 'm')
}

func (t *Terminal) replyKeyOptions(p *params) {
	if p.at(0, 0) == 4 {
		t.reply(fmt.Sprintf("\x1b[>4;%dm", t.modes.modifyOther))
	}
}
