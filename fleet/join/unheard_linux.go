package join

import "golang.org/x/sys/unix"

// unheard is a socket's option: the longest that what was sent may wait for its acknowledgement, in unheardUnit. Later the
// connection ends.
const (
	unheard     = unix.TCP_USER_TIMEOUT
	unheardUnit = 1e6 // ns: milliseconds
)
