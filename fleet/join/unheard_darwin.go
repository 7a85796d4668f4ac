package join

import "golang.org/x/sys/unix"

// unheard is a socket's option: the longest that what was sent may wait for its acknowledgement, in unheardUnit. Later the
// connection ends.
const (
	unheard     = unix.TCP_RXT_CONNDROPTIME
	unheardUnit = 1e9 // ns: seconds
)
