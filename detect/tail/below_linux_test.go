package tail

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// The folder of an agent's logs can be a link to one with devices, which root may open and the agent's user may not.
// What isn't a regular file isn't opened, because that can have effects.
func TestNoDeviceIsOpened(t *testing.T) {
	elsewhere := t.TempDir()
	folder := filepath.Join(t.TempDir(), "logs")
	device := filepath.Join(elsewhere, "device.jsonl")
	if err := errors.Join(os.Symlink(elsewhere, folder), unix.Mkfifo(device, 0o600)); err != nil {
		t.Fatal(err)
	}
	watch, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(watch)
	if _, err := unix.InotifyAddWatch(watch, device, unix.IN_OPEN); err != nil {
		t.Fatal(err)
	}
	if _, err := (Below{Folder: folder, UID: os.Getuid()}).OpenFile(filepath.Join(folder, "device.jsonl")); !errors.Is(err, ErrOutside) {
		t.Errorf("opened: %v", err)
	}
	if n, err := unix.Read(watch, make([]byte, 4096)); err != unix.EAGAIN {
		t.Errorf("the device was opened: %d %v", n, err)
	}
}
