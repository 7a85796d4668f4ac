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

// stateFileMost is more than any such file has, in bytes: Claude's has some 500.
const stateFileMost = 64 << 10

// readSmall reads a regular file of that user's, of at most so many bytes. The
// agent may put anything in its place: to read a pipe could take for ever, and a
// link may lead to what only the server may read.
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

// ownStateFile says whether the file is of the process that runs now: a killed
// one leaves its file, and its id may have gone to another.
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
