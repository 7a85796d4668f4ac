package hold

import (
	"errors"
	"os"
)

// A Survivor is what may still run of a session, by its folder alone.
type Survivor struct {
	PID   int // its holder; 0 where that is not known
	Start string
	UID   int // that its program runs as; UnknownUID where that is not known
}

// UnknownUID is in place of a uid that could be any.
const UnknownUID = -1

// FindSurvivor finds what may still run of the session in a folder, by holder.json
// alone: false when there was no holder or it is dead. One whose holder.json cannot be
// read may run. Only root's holders run programs of other users.
func FindSurvivor(dir string) (Survivor, bool) {
	id, err := readIdentity(dir)
	if errors.Is(err, ErrGone) || err == nil && !alive(id.PID, id.Start) {
		return Survivor{}, false
	}
	s := Survivor{PID: id.PID, Start: id.Start, UID: os.Geteuid()}
	if err != nil {
		s.PID, s.Start = 0, ""
	}
	switch {
	case s.UID != 0:
	case err != nil || id.UID == nil:
		s.UID = UnknownUID
	default:
		s.UID = *id.UID
	}
	return s, true
}

// StartOf tells a process from a later one with its pid, as HolderStart does.
func StartOf(pid int) (string, error) {
	p, err := lookProcess(pid)
	return p.start, err
}
