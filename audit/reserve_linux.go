package audit

import (
	"os"

	"golang.org/x/sys/unix"
)

// reserveTo has the disk keep room for the file up to that size, which nobody
// else can take; its length stays as it is. Where the file system cannot, or has
// no room left, it does nothing: a line that finds none says so itself.
func reserveTo(f *os.File, size int64) {
	_ = unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, size)
}
