package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	gossh "golang.org/x/crypto/ssh"
)

// Report is what Verify found.
type Report struct {
	Lines    uint64   `json:"lines"` // that were read
	First    uint64   `json:"first"` // their numbers
	Last     uint64   `json:"last"`
	Hash     string   `json:"hash"`   // of the last line
	Heads    int      `json:"heads"`  // signatures that are right
	Signed   uint64   `json:"signed"` // the last line that is covered by one
	Kept     int      `json:"kept"`   // heads that were given and found
	Problem  *Problem `json:"problem"`
	Problems int      `json:"problems"` // of them, the first is Problem
}

// Problem is a place where the log is not as it was written.
type Problem struct {
	N    uint64 `json:"n"` // the line that is wrong, by its number
	File string `json:"file"`
	Row  int    `json:"row"` // in that file, from 1
	Text string `json:"text"`
}

func (p Problem) String() string {
	return fmt.Sprintf("line %d (%s:%d): %s", p.N, p.File, p.Row, p.Text)
}

// Verify reads the log in dir from its oldest line and checks that each
// line is the one that the next one names, that numbers have no gap, that
// heads are signed by one of the keys and not further apart than they are
// written, and that the heads which somebody kept are those of the log. until is
// the last line to look at: a log that is being written has more by then; 0 is
// all there is. It ends with ctx, for which the error is its.
func Verify(ctx context.Context, dir string, known []gossh.PublicKey, kept []Head, until uint64) (Report, error) {
	list, err := segments(dir)
	if err != nil {
		return Report{}, err
	}
	v := verifier{keys: known, until: until, kept: map[uint64]string{}}
	if len(list) > 0 {
		v.oldest = filepath.Base(list[0].path)
	}
	for _, h := range kept {
		v.kept[h.N] = h.Hash
	}
	for i, s := range list {
		if beyond := until > 0 && s.first > until; !beyond && i > 0 && s.first != v.n+1 {
			v.apart(s)
		}
		if err := v.file(ctx, s); err != nil {
			return v.report, err
		}
	}
	v.end()
	return v.report, nil
}

// apart notes a file that does not begin where the one before ends.
func (v *verifier) apart(s segment) {
	v.settle()
	where := Problem{N: v.n + 1, File: filepath.Base(s.path), Row: 1}
	v.gap = true
	if s.first > v.n {
		v.at(where, fmt.Sprintf("lines %d to %d are missing before this file", v.n+1, s.first-1))
		return
	}
	where.N = s.first
	v.at(where, fmt.Sprintf("the file before this one goes on to line %d", v.n))
}

// verifier walks over the lines with one of them in hand: which of two
// neighbours was changed shows in the third.
type verifier struct {
	keys   []gossh.PublicKey
	until  uint64
	kept   map[uint64]string
	oldest string // file
	report Report

	n       uint64 // of the line in hand
	held    held
	suspect *Problem // the line in hand does not name this one, which is before it
	signed  uint64   // the last line that a head covers
	began   bool
	gap     bool   // the line before the next one is not there
	retired uint64 // the last line of which one says that it was removed
}

// held is the line in hand.
type held struct {
	hash  digest
	where Problem
	bad   error // why it cannot be read
}

// noteRetired looks at a line that was written since: the oldest files may have
// been removed meanwhile.
func (v *verifier) noteRetired(line []byte) {
	if e, err := parse(line); err == nil && e.Kind == KindRetired {
		v.retired = max(v.retired, e.Of)
	}
}

func (v *verifier) file(ctx context.Context, s segment) error {
	f, err := os.Open(s.path)
	if errors.Is(err, fs.ErrNotExist) && v.report.Lines == 0 {
		return nil // removed since it was listed; a line has to say so
	}
	if err != nil {
		return fmt.Errorf("read the audit log: %w", err)
	}
	defer f.Close()
	row := 0
	if v.until == 0 || s.first <= v.until {
		v.n = s.first - 1
	}
	err = lines(f, func(line []byte, whole bool) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if v.until > 0 && v.n >= v.until {
			v.noteRetired(line)
			return nil
		}
		row++
		v.line(s, row, line, whole)
		return nil
	})
	if err != nil {
		return fmt.Errorf("read %s: %w", s.path, err)
	}
	return nil
}

func (v *verifier) line(s segment, row int, raw []byte, whole bool) {
	last, follows := v.held, v.began && !v.gap
	v.began, v.gap = true, false
	v.n++
	v.report.Lines++
	e, err := parse(raw)
	switch again, wrong := e.encode(); {
	case err != nil:
	case !whole:
		err = errors.New("it has no end")
	case wrong != nil || !bytes.Equal(bytes.TrimSuffix(again, []byte("\n")), raw):
		err = errors.New("it is not as it was written")
	}
	v.held = held{hash: digestOf(raw), where: Problem{N: v.n, File: filepath.Base(s.path), Row: row}, bad: err}
	if v.report.Lines == 1 {
		v.report.First, v.signed = v.n, v.n-1
	}
	if last.bad != nil && (err != nil || e.Kind != KindTorn) {
		v.at(last.where, last.bad.Error())
		follows = false // that it does not fit says nothing new
	}
	if err != nil {
		v.settle()
		return
	}
	if e.N != v.n {
		v.misnumbered(e.N)
		follows = false
	}
	unsigned := e.Kind == KindHead && check(e, v.keys) != nil
	switch {
	case follows && e.Prev != last.hash.String() && !unsigned: // else this one is told of, as a head
		v.mismatch(last.where)
	default:
		v.settle()
	}
	if v.n == 1 && e.Prev != (digest{}).String() {
		v.at(v.held.where, "the first line names one before it")
	}
	if e.Kind == KindRetired {
		v.retired = max(v.retired, e.Of)
	}
	v.head(e, last.hash, follows)
}

// misnumbered notes a line with another number than its place has, and goes on
// from that number where it is higher.
func (v *verifier) misnumbered(n uint64) {
	v.settle()
	if n < v.n {
		v.at(v.held.where, fmt.Sprintf("it says that it is line %d, which was before", n))
		return
	}
	v.at(v.held.where, fmt.Sprintf("lines %d to %d are missing before line %d", v.n, n-1, n))
	v.n = n
	v.held.where.N = n
}

// mismatch notes that the line in hand does not name the one before. That one
// was changed, or the one in hand was: then the next will not name it either.
func (v *verifier) mismatch(before Problem) {
	if v.suspect != nil {
		v.suspect = nil
		v.at(before, "it was changed: it names another line before it, and the next names another in its place")
		return
	}
	v.suspect = &before
}

// settle blames the suspect: the line behind it is as the next one names it.
func (v *verifier) settle() {
	if v.suspect != nil {
		v.at(*v.suspect, "it was changed: the next line names another in its place")
		v.suspect = nil
	}
}

// head checks what a head says, the distance to the last one, and what was
// kept of the line in hand.
func (v *verifier) head(e Entry, before digest, follows bool) {
	if e.Kind == KindHead {
		switch err := check(e, v.keys); {
		case err != nil:
			v.at(v.held.where, "a head: "+err.Error())
		case e.Of != v.n-1 || follows && e.Hash != before.String():
			v.at(v.held.where, "a head that was signed for other lines")
		default:
			v.report.Heads++
			v.report.Signed = e.Of
		}
		v.signed = v.n
	} else if v.n-v.signed > headEvery+maxLoose {
		v.at(v.held.where, fmt.Sprintf("no signed head in %d lines", v.n-v.signed))
		v.signed = v.n // say it once
	}
	hash, ok := v.kept[v.n]
	if !ok {
		return
	}
	delete(v.kept, v.n)
	if hash != v.held.hash.String() {
		v.at(v.held.where, "it is not the line of the head that was kept: it or one before it was changed")
		return
	}
	v.report.Kept++
}

// maxLoose is how many more lines than a head covers may stand without one:
// those that are written by themselves (torn, retired, amiss).
const maxLoose = 16

func (v *verifier) at(where Problem, text string) {
	where.Text = text
	v.report.Problems++
	if v.report.Problem == nil || where.N < v.report.Problem.N {
		v.report.Problem = &where
	}
}

// end looks at what only the end of the log shows.
func (v *verifier) end() {
	v.settle()
	if v.report.Lines > 0 && v.report.First-1 > v.retired {
		text := fmt.Sprintf("lines %d to %d are missing before this file, and no line says that they were removed to stay below the bound", v.retired+1, v.report.First-1)
		v.at(Problem{N: v.retired + 1, File: v.oldest, Row: 1}, text)
	}
	if v.held.bad != nil {
		v.at(v.held.where, v.held.bad.Error())
	}
	v.report.Last, v.report.Hash = v.n, v.held.hash.String()
	for n := range v.kept {
		text := "the log ends before the head that was kept: lines were taken out"
		if n < v.report.First {
			text = "the head that was kept is of a line that has been removed to stay below the bound"
		}
		v.at(Problem{N: n, File: v.held.where.File, Row: v.held.where.Row}, text)
	}
}
