package rawio

import (
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TryRead reads what a non-blocking descriptor has now; syscall.EAGAIN is nothing.
func TryRead(fd uintptr, p []byte) (int, error) {
	return call(func() (uintptr, uintptr, syscall.Errno) {
		return syscall.RawSyscall(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	})
}

func tryWrite(fd uintptr, p []byte) (int, error) {
	return call(func() (uintptr, uintptr, syscall.Errno) {
		return syscall.RawSyscall(syscall.SYS_WRITE, fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	})
}

// call repeats a call that a signal has interrupted.
func call(do func() (uintptr, uintptr, syscall.Errno)) (int, error) {
	for {
		n, _, errno := do()
		switch errno {
		case 0:
			return int(n), nil
		case syscall.EINTR:
		default:
			return 0, errno
		}
	}
}

// ReadAt reads from a file once, as far as the kernel has it in memory; otherwise as f.ReadAt does.
// Fewer bytes than p has room for come without an error; none are io.EOF.
func ReadAt(f *os.File, p []byte, off int64) (int, error) {
	iov := unix.Iovec{Base: unsafe.SliceData(p)}
	iov.SetLen(len(p))
	n, err := call(func() (uintptr, uintptr, syscall.Errno) {
		return syscall.RawSyscall6(unix.SYS_PREADV2, f.Fd(), uintptr(unsafe.Pointer(&iov)), 1, uintptr(off), 0, unix.RWF_NOWAIT)
	})
	runtime.KeepAlive(f)
	if err != nil || n == 0 { // not in memory, or a file system that can't say; Linux 5.9 and 5.10 say 0 for both
		return readAt(f, p, off)
	}
	return n, nil
}
