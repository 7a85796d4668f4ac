package sessions

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// diskMost is the longest file that drivers are given, in bytes: session logs
// are the longest that they read whole.
const diskMost = 256 << 20

// disk is the machine's file system, from /, as drivers read it: only folders, and
// regular files of a bounded length. An agent may have put a pipe or a device in
// place of its own file, and a read of that would not end.
type disk struct{}

var (
	_ fs.StatFS     = disk{}
	_ fs.ReadDirFS  = disk{}
	_ fs.ReadFileFS = disk{}
)

func (disk) path(op, name string) (string, error) {
	if !fs.ValidPath(name) {
		return "", &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	return filepath.Join("/", filepath.FromSlash(name)), nil
}

func (d disk) Open(name string) (fs.File, error) {
	path, err := d.path("open", name)
	if err != nil {
		return nil, err
	}
	return openPlain(path)
}

func (d disk) Stat(name string) (fs.FileInfo, error) {
	path, err := d.path("stat", name)
	if err != nil {
		return nil, err
	}
	return os.Stat(path)
}

func (d disk) ReadDir(name string) ([]fs.DirEntry, error) {
	path, err := d.path("readdir", name)
	if err != nil {
		return nil, err
	}
	return os.ReadDir(path)
}

func (d disk) ReadFile(name string) ([]byte, error) {
	path, err := d.path("read", name)
	if err != nil {
		return nil, err
	}
	f, err := openPlain(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // it was only read
	data, err := io.ReadAll(io.LimitReader(f, diskMost+1))
	if err == nil && len(data) > diskMost {
		err = fmt.Errorf("%s is longer than %d bytes", path, diskMost)
	}
	return data, err
}

// openPlain opens a folder or a regular file for reading. It never waits, for example
// for the writer of a pipe.
func openPlain(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() && !info.IsDir() {
		_ = f.Close()
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrInvalid}
	}
	return f, nil
}
