package member

import (
	"fmt"
	"testing"

	"berth/api"
)

// TestRowsFit: a host reports as many rows as the NATS server takes in one message.
func TestRowsFit(t *testing.T) {
	rows := make([]api.Session, 1000)
	for i := range rows {
		rows[i].Session = fmt.Sprint("s", i)
	}
	all := func() ([]api.Session, []string) { return rows, nil }
	whole, sum := encode(1<<30, all)
	const most = 100 << 10
	part, less := encode(most, all)
	if len(part) > most || len(part) < most/4 || len(whole) < 2*most || sum == less {
		t.Errorf("%d bytes of %d", len(part), len(whole))
	}
	f := newFleet(t)
	if n := (&reporter{nc: f.nc}).most(); n != 1<<20 { // of a server that isn't configured otherwise
		t.Errorf("it sends up to %d bytes", n)
	}
}
