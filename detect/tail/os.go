package tail

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// stat looks at a file on this machine. Anything but a regular file is an error, because the
// agent chose the path.
func stat(path string) (Info, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Info{}, err
	}
	return read(info)
}

type file struct{ *os.File }

func (f file) Info() (Info, error) {
	info, err := f.Stat()
	if err != nil {
		return Info{}, err
	}
	return read(info)
}

func read(info fs.FileInfo) (Info, error) {
	if !info.Mode().IsRegular() {
		return Info{}, fmt.Errorf("%s: not a regular file: %w", info.Name(), fs.ErrInvalid)
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return Info{}, fmt.Errorf("%s: the system has no file id: %w", info.Name(), fs.ErrInvalid)
	}
	return Info{ID: fmt.Sprintf("%d:%d", s.Dev, s.Ino), Size: info.Size()}, nil
}
