package outbox

import (
	"fmt"
	"testing"
	"time"

	"berth/keys"
)

// TestRightsAreNotKnownYet: a message waits while it isn't known what its sender may do now, and then goes, or goes
// nowhere.
func TestRightsAreNotKnownYet(t *testing.T) {
	for name, c := range map[string]struct {
		then error
		left int
	}{
		"allowed": {nil, 1},
		"denied":  {keys.ErrPass, 0},
	} {
		t.Run(name, func(t *testing.T) {
			box := newCutOff(t, t.TempDir())
			answer := fmt.Errorf("ask: %w", keys.ErrNotYet)
			box.env.Rights = func(id keys.Identity, _ string) (keys.Identity, error) { return id, answer }
			if _, err := box.Enqueue(t.Context(), tester, Nudge{Text: "hello"}, 0); err != nil {
				t.Fatal(err)
			}
			q := box.queue[0]
			if task := box.task(); task.run != nil || task.wait != taskPace || q.why == answer.Error() {
				t.Errorf("at once: %+v, parked as %q", task, q.why)
			}
			box.now = box.now.Add(time.Minute)
			if task := box.task(); task.run != nil || task.wait != taskAgain || len(box.queue) != 1 || q.why != answer.Error() {
				t.Errorf("after a minute: %+v, %d messages, parked as %q", task, len(box.queue), q.why)
			}
			answer = c.then
			if task := box.task(); len(box.queue) != c.left || (task.run != nil) != (c.left == 1) {
				t.Errorf("then: %+v, %d messages", task, len(box.queue))
			}
		})
	}
}
