package hold

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	outputDir  = "output"
	controlDir = "control"
	outputExt  = ".out"
	timeExt    = ".time"
	controlExt = ".jsonl"
	holderFile = "holder.json"
	logFile    = "holder.log"
	probeFile  = "probe"
	hooksDir   = "hooks"
	hookExt    = ".json"
)

// segmentName is the file whose first byte or record is number first.
func segmentName(dir string, first uint64, ext string) string {
	return filepath.Join(dir, fmt.Sprintf("%020d%s", first, ext))
}

// listSegments returns the first numbers of the segments in dir, ascending.
// Files with other names are not segments.
func listSegments(dir, ext string) ([]uint64, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", dir, err)
	}
	var firsts []uint64
	for _, name := range names {
		digits, ok := strings.CutSuffix(name, ext)
		if !ok || len(digits) != 20 {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n < 0 {
			continue
		}
		firsts = append(firsts, uint64(n))
	}
	slices.Sort(firsts)
	return firsts, nil
}

// segment is a file of the journal: its first byte or record, and its size.
type segment struct {
	first uint64
	size  int64
}

// statSegments lists the segments with their sizes.
func statSegments(dir, ext string) ([]segment, error) {
	firsts, err := listSegments(dir, ext)
	if err != nil {
		return nil, err
	}
	segments := make([]segment, 0, len(firsts))
	for _, first := range firsts {
		info, err := os.Stat(segmentName(dir, first, ext))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		segments = append(segments, segment{first, info.Size()})
	}
	return segments, nil
}
