package clients

import (
	"testing"

	"berth/sessions/loop"
)

// An event that others were too many before has their sum, or what they led to.
func TestEventAfterAnother(t *testing.T) {
	one := loop.Repeated{Untold: 1}
	for _, tt := range []struct{ e, earlier, want loop.Paced }{
		{inputEvent{Bytes: 2}, inputEvent{Bytes: 3, Repeated: one}, inputEvent{Bytes: 5, Repeated: loop.Repeated{Untold: 2}}},
		{resizeEvent{Cols: 2}, resizeEvent{Cols: 1}, resizeEvent{Cols: 2, Repeated: one}},
		{signalEvent{Signal: "TERM"}, signalEvent{Signal: "INT"}, signalEvent{Signal: "TERM", Repeated: one}},
		{writerEvent{Generation: 2}, writerEvent{Generation: 1}, writerEvent{Generation: 2, Repeated: one}},
	} {
		if got := tt.e.After(tt.earlier); got != tt.want {
			t.Errorf("%+v after %+v is %+v", tt.e, tt.earlier, got)
		}
	}
}
