package join

import "golang.org/x/sys/unix"

// unheard is a socket's option: the connection ends when what was sent isn't acknowledged for so long, in unheardUnit.
const (
	unheard     = unix.TCP_RXT_CONNDROPTIME
	unheardUnit = 1e9 // ns: seconds
)
