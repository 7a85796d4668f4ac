package hold

import (
	"errors"
	"os"
)

// A Survivor is a session that may still run, as far as its folder shows.
type Survivor struct {
	PID   int // of the holder; 0 if unknown
	Start string
	UID   int // uid of the program; UnknownUID if unknown
}

// UnknownUID says that the program may run as any uid.
const UnknownUID = -1

// FindSurvivor reads holder.json to find out whether the folder's session may still run. It
// returns false if the session had no holder or its holder is dead. A session whose holder.json
// can't be read may run. Only root's holders run programs of other users.
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

// StartOf distinguishes a process from a later one with its pid, as HolderStart does.
func StartOf(pid int) (string, error) {
	p, err := lookProcess(pid)
	return p.start, err
}
