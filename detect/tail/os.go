package tail

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// OS is the machine's files. Only regular files are opened: the path is what an
// agent says, and to open a pipe or a device could wait for ever.
type OS struct{}

// Stat looks at a file.
func (OS) Stat(path string) (Info, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Info{}, err
	}
	return read(info)
}

// Open opens a file for reading.
func (OS) Open(path string) (File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return file{f}, nil
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
		return Info{}, fmt.Errorf("%s: it is no regular file: %w", info.Name(), fs.ErrInvalid)
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return Info{}, fmt.Errorf("%s: the system does not tell which file it is: %w", info.Name(), fs.ErrInvalid)
	}
	return Info{ID: fmt.Sprintf("%d:%d", s.Dev, s.Ino), Size: info.Size()}, nil
}
