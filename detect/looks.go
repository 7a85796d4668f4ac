package detect

import (
	"reflect"
	"time"

	"berth/agent"
)

// spokeEvery bounds how often output without a change of the screen is reported. The rules that
// wait for silence wait for seconds.
const spokeEvery = 500 * time.Millisecond

// Looks turns readings of the screen into facts.
type Looks struct {
	last *agent.Reading
	told time.Time
}

// Fact returns the fact of a new reading; ok is false without news. Output that left the reading as
// it was is still a sign of life.
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
