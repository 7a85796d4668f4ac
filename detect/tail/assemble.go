package tail

import "bytes"

// Place is a position in a stream of bytes: between two lines, or within a line that is too long.
type Place struct {
	Offset  int64  `json:"offset"`  // start of the first line that wasn't passed on yet
	Inside  bool   `json:"inside"`  // Offset is within a line that is too long
	Skipped uint64 `json:"skipped"` // number of lines so far that were too long
}

// Assembler joins pieces of bytes to lines. Only one goroutine may use it.
type Assembler struct {
	place   Place
	limit   int
	partial []byte // bytes after the place that don't end a line yet
}

// Assemble starts at a place. It skips lines longer than limit bytes.
func Assemble(p Place, limit int) *Assembler { return &Assembler{place: p, limit: limit} }

// Place is the position after the last line that was passed on.
func (a *Assembler) Place() Place { return a.place }

// At is the offset of the bytes that Take needs next.
func (a *Assembler) At() int64 { return a.place.Offset + int64(len(a.partial)) }

// Take reads the next bytes and calls each for each whole line. The line has no end (LF or CR LF)
// and is valid only during the call; next is the offset after it. Take skips blank lines.
func (a *Assembler) Take(data []byte, each func(line []byte, next int64)) {
	for len(data) > 0 {
		end := bytes.IndexByte(data, '\n')
		if end < 0 {
			a.keep(data)
			return
		}
		piece := data[:end+1]
		data = data[end+1:]
		switch {
		case a.place.Inside: // the rest of a line that was too long
			a.place.Offset += int64(len(piece))
			a.place.Inside = false
			continue
		case len(a.partial)+len(piece) > a.limit:
			a.place.Offset += int64(len(a.partial) + len(piece))
			a.partial = nil
			a.place.Skipped++
			continue
		case len(a.partial) > 0:
			piece = append(a.partial, piece...)
			a.partial = nil
		}
		a.place.Offset += int64(len(piece))
		if piece = trim(piece); len(piece) > 0 {
			each(piece, a.place.Offset)
		}
	}
}

// keep stores the start of an incomplete line.
func (a *Assembler) keep(data []byte) {
	if !a.place.Inside && len(a.partial)+len(data) > a.limit {
		a.place.Offset += int64(len(a.partial))
		a.partial, a.place.Inside = nil, true
		a.place.Skipped++
	}
	if a.place.Inside {
		a.place.Offset += int64(len(data))
		return
	}
	a.partial = append(a.partial, data...)
}
