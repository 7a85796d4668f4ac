package keys

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// linksMost is the maximum number of links on a path, as in Linux.
const linksMost = 40

// CheckWay refuses a path that others could redirect. Each folder on the path, and on the path of
// a link, must be ours or root's and writable by no other user. A link must be ours or root's
// too, because any user can create one in a sticky folder.
func CheckWay(path string) error { return checkWay(path, os.Geteuid(), checkTrusted) }

// checkWay is CheckWay for files of the user uid, with a check for folders.
func checkWay(path string, uid int, check func(string, fs.FileInfo) error) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	at, left := "/", parts(abs)
	for links := 0; ; left = left[1:] {
		if len(left) == 0 {
			return nil
		}
		info, err := os.Lstat(at)
		if err != nil {
			return err
		}
		if err := check(at, info); err != nil {
			return err
		}
		next := filepath.Join(at, left[0]) // also for .., because at has no link
		if info, err = os.Lstat(next); err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		if st, ok := info.Sys().(*syscall.Stat_t); !ok || st.Uid != 0 && int(st.Uid) != uid {
			return &ModeError{next, "is another user's link", "name the file itself"}
		}
		target, err := os.Readlink(next)
		if err != nil {
			return err
		}
		if links++; links > linksMost {
			return fmt.Errorf("%s leads through too many links", path)
		}
		if filepath.IsAbs(target) {
			at = "/"
		}
		left = append([]string{""}, append(parts(target), left[1:]...)...)
	}
}

func parts(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == filepath.Separator })
}
