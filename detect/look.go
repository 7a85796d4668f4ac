package detect

import "time"

// keyLags is how much later than the screen after it the record of a key may be read.
const keyLags = time.Second

// lookOf is the look of a dialog with that key. It is short, because each call keeps one.
func lookOf(key string) string {
	if key == "" {
		return ""
	}
	return hashed(key)
}

// follow keeps the look of the dialog while it is up, and when it has gone.
func (l *look) follow(up bool, key string, shown, now time.Time) {
	was := *l
	switch {
	case up && (key != was.Key || !was.Gone.IsZero()):
		*l = look{Key: key, Since: shown}
	case !up && was.Gone.IsZero():
		l.Gone = now
	}
	// A dialog that outlasts an answer wasn't answered by it, or it is the next one, which looks the same.
	if was.Gone.IsZero() && now.Sub(was.Taken) >= typedHolds {
		l.Taken = time.Time{}
	}
}

// at reports whether the dialog was on the screen at that time, or had just left it.
func (l *look) at(at, now time.Time) bool {
	return !at.Before(l.Since) && (l.Gone.IsZero() || now.Sub(l.Gone) <= keyLags)
}

// left reports whether the dialog has left the screen, and no key has answered it.
func (l *look) left() bool { return l.Key != "" && l.Taken.IsZero() && !l.Gone.IsZero() }

// unanswered reports whether the dialog has left the screen, not long ago, and no key has answered it.
func (l *look) unanswered(now time.Time) bool { return l.left() && now.Sub(l.Gone) < pastFor }

// below reports whether the dialog may still be open: neither an answer nor the composer shows that it was closed. A hook's refusal shows
// that after an hour, because the hook may have been forged.
func (l *look) below(now time.Time) bool {
	return l.left() && !l.Heard.After(l.Gone) && (l.Heard.IsZero() || l.unanswered(now))
}

// hears records that the hook of the dialog's prompt took an answer, which isn't later than the dialog's end.
func (l *look) hears(now time.Time) {
	if l.Heard = now; !l.Gone.IsZero() {
		l.Heard = l.Gone
	}
}
