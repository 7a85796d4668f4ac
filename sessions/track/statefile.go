package track

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"berth/detect/tail"
)

// stateFileMost is the maximum size in bytes. Claude's file has about 500.
const stateFileMost = 64 << 10

// readSmall reads a regular file of a user, of at most most bytes. The agent may replace the file: reading a
// pipe could block for ever, and a link may lead to a file that only the server may read.
func readSmall(name string, uid, most int) ([]byte, error) {
	f, err := tail.Below{Folder: filepath.Dir(name), UID: uid}.OpenFile(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > int64(most) {
		return nil, fmt.Errorf("%s has %d bytes, and at most %d are read", name, info.Size(), most)
	}
	return io.ReadAll(io.LimitReader(f, info.Size()))
}

// ownStateFile reports whether the file belongs to the current process. A killed process leaves its file, and
// another process may get its pid.
func ownStateFile(data []byte, start string) bool {
	var head struct {
		Start string `json:"procStart"`
	}
	if json.NewDecoder(bytes.NewReader(data)).Decode(&head) != nil {
		return false
	}
	ticks, _, _ := strings.Cut(start, "@")
	return head.Start == "" || head.Start == ticks
}
