package sessions

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"
	"unicode/utf8"

	"berth/sessions/hold"
	"berth/sessions/loop"
)

// Part is a piece of a session's recording: output, or another size.
type Part struct {
	Time       time.Time
	Data       []byte // never ends inside a UTF-8 sequence that the output completes
	Resize     bool
	Cols, Rows int
}

// cut is a place in the output where something is known: the time, or a size.
type cut struct {
	at     int64
	time   time.Time
	resize bool
	cols   int
	rows   int
}

// Recording gives the kept output with its times and sizes, in order. It
// begins with a size.
func (s *Session) Recording(ctx context.Context, each func(Part) error) error {
	sizes, err := s.sizeCuts()
	if err != nil {
		return err
	}
	out := hold.OpenOutput(s.dir)
	defer out.Close()
	first, next, err := out.Range()
	if err != nil {
		return err
	}
	st := s.Status()
	p := player{out: out, at: first, end: next, each: each, now: st.Created.Time, cols: st.Cols, rows: st.Rows}
	if len(sizes) > 0 {
		p.cols, p.rows = sizes[0].cols, sizes[0].rows
	}
	// Times are many: they are taken as they are read, and the sizes between.
	err = hold.ReadTimes(s.dir, func(at time.Time, offset int64) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		for len(sizes) > 0 && (sizes[0].at < offset || sizes[0].at == offset && sizes[0].time.Before(at)) {
			if err := p.reach(sizes[0]); err != nil {
				return err
			}
			sizes = sizes[1:]
		}
		return p.reach(cut{at: offset, time: at})
	})
	for ; err == nil && len(sizes) > 0; sizes = sizes[1:] {
		err = p.reach(sizes[0])
	}
	if err != nil {
		return err
	}
	return p.play(next)
}

// sizeCuts reads the sizes out of the control log, which is in their order.
func (s *Session) sizeCuts() ([]cut, error) {
	var cuts []cut
	err := hold.ReadControl(s.dir, 0, func(r hold.Record) error {
		if r.Kind != hold.KindResize && r.Kind != hold.KindStarted {
			return nil
		}
		if d, err := loop.Decode[hold.ResizeData](r); err == nil {
			cuts = append(cuts, cut{at: r.Offset, time: r.Time.Time, resize: true, cols: d.Cols, rows: d.Rows})
		}
		return nil // a record that cannot be read changes no size
	})
	return cuts, err
}

// player walks through the output from cut to cut.
type player struct {
	out        *hold.Output
	at, end    int64
	now        time.Time
	cols, rows int
	held       []byte // the beginning of a UTF-8 sequence
	begun      bool
	each       func(Part) error
}

// reach plays up to a cut and takes over what it says.
func (p *player) reach(c cut) error {
	if err := p.play(c.at); err != nil {
		return err
	}
	if c.time.After(p.now) {
		p.now = c.time
	}
	if !c.resize {
		return nil
	}
	changed := p.cols != c.cols || p.rows != c.rows
	p.cols, p.rows = c.cols, c.rows
	if !p.begun || !changed {
		return nil
	}
	return p.each(Part{Time: c.time, Resize: true, Cols: c.cols, Rows: c.rows})
}

// play gives the output up to an offset.
func (p *player) play(to int64) error {
	buf := make([]byte, loop.Batch)
	for p.at < min(to, p.end) {
		n, err := p.out.ReadAt(buf[:min(int64(len(buf)), to-p.at)], p.at)
		var trimmed *hold.TrimmedError
		switch {
		case errors.As(err, &trimmed):
			p.at, p.held = trimmed.First, nil
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		p.at += int64(n)
		data := append(p.held, buf[:n]...)
		whole := len(data) - partialRune(data)
		p.held = slices.Clone(data[whole:])
		if p.at >= p.end {
			whole, p.held = len(data), nil
		}
		if whole == 0 {
			continue
		}
		if err := p.begin(); err != nil {
			return err
		}
		if err := p.each(Part{Time: p.now, Data: data[:whole], Cols: p.cols, Rows: p.rows}); err != nil {
			return err
		}
	}
	return nil
}

// begin writes the size that the recording starts with.
func (p *player) begin() error {
	if p.begun {
		return nil
	}
	p.begun = true
	return p.each(Part{Time: p.now, Resize: true, Cols: p.cols, Rows: p.rows})
}

// partialRune is the length of a UTF-8 sequence begun and not completed at the
// end of data.
func partialRune(data []byte) int {
	for n := 1; n <= min(utf8.UTFMax-1, len(data)); n++ {
		b := data[len(data)-n]
		if utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRune(data[len(data)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}
