package detect

import (
	"reflect"
	"time"

	"berth/agent"
)

// spokeEvery bounds how often output that changes nothing on the screen is told
// of: whoever waits for silence waits for seconds.
const spokeEvery = 500 * time.Millisecond

// Looks makes facts of looks at the screen after output.
type Looks struct {
	last *agent.Reading
	told time.Time
}

// Fact is what a look tells; ok is false when it tells nothing new. Output that
// left the screen as it was for a driver is a sign of life all the same.
func (l *Looks) Fact(r *agent.Reading, now time.Time) (f agent.Fact, ok bool) {
	if l.last != nil && reflect.DeepEqual(l.last, r) {
		if now.Sub(l.told) < spokeEvery {
			return f, false
		}
		l.told = now
		return agent.Fact{Kind: agent.Spoke, Source: agent.SourceProcess, Cause: "process:output"}, true
	}
	l.last, l.told = r, now
	return agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: r}, true
}
