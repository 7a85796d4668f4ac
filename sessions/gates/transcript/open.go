package transcript

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// fileID distinguishes a file from others that exist at the same time.
func fileID(f *os.File) (id string, size int64, err error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return "", 0, fmt.Errorf("look at %s: %w", f.Name(), err)
	}
	return fmt.Sprintf("%d:%d", st.Dev, st.Ino), st.Size, nil
}
