package rawio

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestReadAtOfAnOldKernel: Linux 5.9 and 5.10 may answer 0 to a read that must not wait, before the end
// of the file too. A filter of the test's thread answers so here.
func TestReadAtOfAnOldKernel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("output"), 0o600); err != nil {
		t.Fatal(err)
	}
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // the number of the call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_PREADV2, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO}, // with no error: 0
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	noFilter := make(chan error, 1)
	go func() {
		defer close(noFilter)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			t.Error(err)
			return
		}
		prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
		if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)), 0, 0); err != nil {
			noFilter <- err
			return
		}
		f, err := os.Open(path)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		p := make([]byte, 10)
		if n, err := ReadAt(f, p, 0); err != nil || string(p[:n]) != "output" {
			t.Errorf("%q, %v", p[:n], err)
		}
		if n, err := ReadAt(f, p, 6); n != 0 || err != io.EOF {
			t.Errorf("at the end: %d, %v", n, err)
		}
	}()
	if err := <-noFilter; err != nil {
		t.Skip("SKIPPED: the system has no filters of calls: ", err)
	}
}
