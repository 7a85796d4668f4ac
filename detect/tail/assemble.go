package tail

import "bytes"

// Place is a place between two lines of a stream of bytes, or within one that is
// too long.
type Place struct {
	Offset  int64  `json:"offset"`  // where the first line begins that was not taken in
	Inside  bool   `json:"inside"`  // Offset lies within a line that is too long
	Skipped uint64 `json:"skipped"` // lines that were too long, so far
}

// Assembler makes lines of bytes that come in pieces. It is for one goroutine.
type Assembler struct {
	place   Place
	limit   int
	partial []byte // what was taken behind the place: no whole line yet
}

// Assemble begins at a place. A line longer than limit bytes is skipped.
func Assemble(p Place, limit int) *Assembler { return &Assembler{place: p, limit: limit} }

// Place is behind the last line that was given.
func (a *Assembler) Place() Place { return a.place }

// At is the offset of the bytes that Take wants next.
func (a *Assembler) At() int64 { return a.place.Offset + int64(len(a.partial)) }

// Take takes the next bytes in and calls each for each whole line, without its
// end, be it LF or CR LF, and with the offset behind it. The line is only lent;
// blank ones are left out.
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
		case a.place.Inside: // the end of a line that was too long
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

// keep puts by what has no end yet.
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
