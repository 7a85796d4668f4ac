package loop

import "time"

// turns is what the screen's marks of turns need beside the screen.
type turns struct {
	typedAt  int64       // the end of the output when something was typed last
	recalled []time.Time // starts of turns after the checkpoint that have no mark yet
}

// recalledKept is the maximum of recalled turns, as many as a screen keeps marks.
const recalledKept = 1000

// TurnStarted marks on the screen that a turn of the agent has begun: with what was typed last, because an
// agent draws the message before it reports the turn.
func (k *Kernel) TurnStarted() {
	k.markRecalled(time.Time{})
	k.mark()
}

func (k *Kernel) mark() {
	if term := k.Screen.Terminal(); term != nil {
		term.MarkTurn(k.turns.typedAt)
	}
}

// TurnRecalled takes in that an earlier server has emitted the start of a turn. The checkpoint's screen has
// no mark of it. The mark is set when the journal is read again up to that time.
func (k *Kernel) TurnRecalled(at time.Time) {
	if k.turns.recalled = append(k.turns.recalled, at); len(k.turns.recalled) > recalledKept {
		k.turns.recalled = k.turns.recalled[1:]
	}
}

// markRecalled sets the marks of recalled turns that began before a time, zero for all of them: what was
// typed last is what they began with. Without a screen they wait for it.
func (k *Kernel) markRecalled(until time.Time) {
	for k.Screen.Terminal() != nil && len(k.turns.recalled) > 0 && (until.IsZero() || k.turns.recalled[0].Before(until)) {
		k.turns.recalled = k.turns.recalled[1:]
		k.mark()
	}
}
