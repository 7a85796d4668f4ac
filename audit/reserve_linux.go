package audit

import (
	"os"

	"golang.org/x/sys/unix"
)

// reserveTo asks the disk to keep room for the file up to that size; its length stays the same. If the
// file system can't, or has no room left, it does nothing: a line without room reports it.
func reserveTo(f *os.File, size int64) {
	_ = unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, size)
}
