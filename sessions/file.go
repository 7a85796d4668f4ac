package sessions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"berth/api"
	"berth/sessions/account"
)

// mostFileText is the longest file in bytes that FileText reads. People who judge a change read no
// more.
const mostFileText = 1 << 20

// FileText reads a file that the session's agent is about to change, with the rights of the
// session's user. exists is false when there is no such file. An error says why the text isn't
// known: the path isn't absolute, or isn't a regular file of at most 1 MiB, or the user may not read
// it. Files without a size, such as those of /proc, have no text. It waits at most 10 s for a file
// of another user.
func (s *Session) FileText(ctx context.Context, path string) (text string, exists bool, err error) {
	if !filepath.IsAbs(path) {
		return "", false, fmt.Errorf("read %s: the folder that it is in isn't known", api.Quote(path))
	}
	user, err := s.reg.options.Environment.account(s.Status().Spec)
	if err != nil {
		return "", false, fmt.Errorf("read %s: %w", api.Quote(path), err)
	}
	data, err := account.As(ctx, user, func() ([]byte, error) {
		if _, err := sizeOfText(os.Stat(path)); err != nil { // first: to open a device or a FIFO may have an effect
			return nil, err
		}
		f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may be a FIFO by now
		if err != nil {
			return nil, err
		}
		defer f.Close()
		size, err := sizeOfText(f.Stat())
		if err != nil {
			return nil, err
		}
		return io.ReadAll(io.LimitReader(f, size))
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", false, nil
	case err != nil:
		return "", false, fmt.Errorf("read %s: %w", api.Quote(path), err)
	}
	return string(data), true, nil
}

// sizeOfText refuses what isn't a file of a text that FileText reads.
func sizeOfText(info fs.FileInfo, err error) (int64, error) {
	switch {
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular():
		return 0, errors.New("not a regular file")
	case info.Size() > mostFileText:
		return 0, fmt.Errorf("%d bytes are more than %d", info.Size(), mostFileText)
	}
	return info.Size(), nil
}
