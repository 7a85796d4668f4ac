//go:build !linux

package rawio

import (
	"os"
	"syscall"
)

// TryRead reads what a non-blocking descriptor has now; syscall.EAGAIN is nothing.
func TryRead(fd uintptr, p []byte) (int, error) {
	for {
		n, err := syscall.Read(int(fd), p)
		if err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}

func tryWrite(fd uintptr, p []byte) (int, error) {
	for {
		n, err := syscall.Write(int(fd), p)
		if err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}

// ReadAt reads from a file once. Fewer bytes than p has room for come without an error; none are
// io.EOF.
func ReadAt(f *os.File, p []byte, off int64) (int, error) { return readAt(f, p, off) }
