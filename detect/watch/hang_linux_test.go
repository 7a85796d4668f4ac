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

// fuse is a file system that this test serves, with one folder. See linux/fuse.h for the numbers and places.
type fuse struct {
	t      *testing.T
	fd     int
	folder string
}

func mountFuse(t *testing.T) *fuse {
	t.Helper()
	mount := t.TempDir()
	fd, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err == nil {
		err = unix.Mount("fuse", mount, "fuse", unix.MS_NOSUID|unix.MS_NODEV, fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", fd))
	}
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENODEV) {
		t.Skipf("SKIPPED: no file system can be mounted here: %v", err)
	}
	check(t, err)
	t.Cleanup(func() { check(t, errors.Join(unix.Close(fd), unix.Unmount(mount, unix.MNT_DETACH))) }) // what hangs gets an error
	f := &fuse{t, fd, filepath.Join(mount, "folder")}
	settings := make([]byte, 64)
	binary.NativeEndian.PutUint32(settings[0:], 7) // the version
	binary.NativeEndian.PutUint32(settings[4:], 31)
	binary.NativeEndian.PutUint32(settings[20:], 4096)
	f.answer(26, settings)
	return f
}

// answer reads the kernel's next request, which must be of that kind, and answers it.
func (f *fuse) answer(kind uint32, with []byte) {
	f.t.Helper()
	request := make([]byte, 64<<10)
	_, err := unix.Read(f.fd, request)
	check(f.t, err)
	if got := binary.NativeEndian.Uint32(request[4:]); got != kind {
		f.t.Fatalf("a request of kind %d came, not %d", got, kind)
	}
	head := make([]byte, 16)
	binary.NativeEndian.PutUint32(head, uint32(len(head)+len(with)))
	copy(head[8:], request[8:16]) // which request it is
	_, err = unix.Write(f.fd, append(head, with...))
	check(f.t, err)
}

// found answers that the folder is there, which the kernel asks anew each time.
func (f *fuse) found() {
	entry := make([]byte, 128)
	binary.NativeEndian.PutUint64(entry[0:], 2)    // its node
	binary.NativeEndian.PutUint64(entry[24:], 600) // for so many seconds its attributes are these
	binary.NativeEndian.PutUint32(entry[100:], unix.S_IFDIR|0o755)
	binary.NativeEndian.PutUint32(entry[104:], 2)
	f.answer(1, entry)
}

// await waits until the kernel has a request, which is left without an answer.
func (f *fuse) await() {
	f.t.Helper()
	asked := []unix.PollFd{{Fd: int32(f.fd), Events: unix.POLLIN}}
	if n, err := unix.Poll(asked, 10_000); n != 1 || err != nil {
		f.t.Fatalf("the folder isn't looked for: %d %v", n, err)
	}
}

// TestFolderThatDoesNotAnswer: an agent's folder is on a file system that its user serves, and doesn't answer, at once
// or after the first look. The agents of others are followed meanwhile, if need be without a watch.
func TestFolderThatDoesNotAnswer(t *testing.T) {
	for name, looks := range map[string]int{"at once": 0, "after a look": 1} {
		t.Run(name, func(t *testing.T) {
			w, dir := start(t), t.TempDir()
			before, err := w.Watch(filepath.Join(dir, "before"), make(chan struct{}, 1))
			check(t, err)
			var hangs chan error
			t.Cleanup(func() {
				if hangs != nil && <-hangs == nil {
					t.Error("the folder is watched")
				}
			})
			f := mountFuse(t)
			hangs = make(chan error, 1)
			go func() {
				_, err := w.Watch(filepath.Join(f.folder, "file"), make(chan struct{}, 1))
				hangs <- err
			}()
			for range looks {
				f.found()
			}
			f.await()
			done := make(chan error, 1)
			go func() {
				s, err := w.Watch(filepath.Join(t.TempDir(), "file"), make(chan struct{}, 1))
				s.Stop()
				if !before.Live() {
					err = errors.Join(err, errors.New("the subscription before is dead"))
				}
				before.Stop()
				done <- err
			}()
			select {
			case err := <-done:
				if looks == 0 || !errors.Is(err, errSlow) {
					check(t, err)
				}
			case <-time.After(10 * time.Second):
				t.Error("another folder can't be watched")
			}
		})
	}
}
