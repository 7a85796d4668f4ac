package watch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestFolderThatDoesNotAnswer: an agent's folder is on a file system that its user serves, and doesn't answer. The
// agents of others are followed meanwhile.
func TestFolderThatDoesNotAnswer(t *testing.T) {
	w, dir, mount := start(t), t.TempDir(), t.TempDir()
	serves, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err == nil {
		err = unix.Mount("fuse", mount, "fuse", unix.MS_NOSUID|unix.MS_NODEV, fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", serves))
	}
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENODEV) {
		t.Skipf("SKIPPED: no file system can be mounted here: %v", err)
	}
	check(t, err)
	var hangs chan error
	t.Cleanup(func() {
		check(t, errors.Join(unix.Close(serves), unix.Unmount(mount, unix.MNT_DETACH))) // what hangs gets an error
		if hangs != nil && <-hangs == nil {
			t.Error("the folder is watched")
		}
	})
	request := make([]byte, 64<<10) // see linux/fuse.h: fuse_in_header, fuse_out_header, fuse_init_out
	_, err = unix.Read(serves, request)
	check(t, err)
	answer := make([]byte, 16+64)
	binary.NativeEndian.PutUint32(answer[0:], uint32(len(answer)))
	copy(answer[8:16], request[8:16]) // which request it is for
	binary.NativeEndian.PutUint32(answer[16:], 7)
	binary.NativeEndian.PutUint32(answer[20:], 31)
	binary.NativeEndian.PutUint32(answer[36:], 4096)
	_, err = unix.Write(serves, answer)
	check(t, err)
	hangs = make(chan error, 1)
	go func() {
		_, err := w.Watch(filepath.Join(mount, "folder", "file"), make(chan struct{}, 1))
		hangs <- err
	}()
	asked := []unix.PollFd{{Fd: int32(serves), Events: unix.POLLIN}}
	if n, err := unix.Poll(asked, 10_000); n != 1 || err != nil {
		t.Fatalf("the folder isn't looked for: %d %v", n, err)
	}
	done := make(chan error, 1)
	go func() {
		s, err := w.Watch(filepath.Join(dir, "file"), make(chan struct{}, 1))
		s.Stop()
		done <- err
	}()
	select {
	case err := <-done:
		check(t, err)
	case <-time.After(10 * time.Second):
		t.Error("another folder can't be watched")
	}
}
