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

// Report is the result of Verify.
type Report struct {
	Lines    uint64   `json:"lines"` // that were read
	First    uint64   `json:"first"` // their numbers
	Last     uint64   `json:"last"`
	Hash     string   `json:"hash"`   // of the last line
	Heads    int      `json:"heads"`  // signatures that are right
	Signed   uint64   `json:"signed"` // the last line covered by one
	Kept     int      `json:"kept"`   // given heads that were found
	Problem  *Problem `json:"problem"`
	Problems int      `json:"problems"` // their number; Problem is the first
}

// Problem is a place where the log was changed.
type Problem struct {
	N    uint64 `json:"n"` // the line that is wrong, by its number
	File string `json:"file"`
	Row  int    `json:"row"` // in that file, from 1
	Text string `json:"text"`
}

func (p Problem) String() string {
	return fmt.Sprintf("line %d (%s:%d): %s", p.N, p.File, p.Row, p.Text)
}

// Verify reads the log in dir from its oldest line. It checks that each line has the hash of the one
// before, that numbers have no gap, that heads are signed by one of the keys and are close enough to each
// other, and that the kept heads match. until is the last line to check, because a log that is being
// written grows; 0 means all lines. It ends with ctx, and returns ctx's error.
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

// apart reports a file that doesn't start where the one before ends.
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

// verifier walks over the lines and holds one of them: only the third of three lines shows which of two
// neighbours was changed.
type verifier struct {
	keys   []gossh.PublicKey
	until  uint64
	kept   map[uint64]string
	oldest string // file
	report Report

	n       uint64 // of the line in hand
	held    held
	suspect *Problem // the held line doesn't have the hash of this one, which is before it
	signed  uint64   // the last line that a head covers
	began   bool
	gap     bool   // the line before the next one is missing
	retired uint64 // the last line that another line reports as removed
}

// held is the line that the verifier holds.
type held struct {
	hash  digest
	where Problem
	bad   error // why it cannot be read
}

// noteRetired reads a line that was written during the check: the oldest files may have been removed since.
func (v *verifier) noteRetired(line []byte) {
	if e, err := parse(line); err == nil && e.Kind == KindRetired {
		v.retired = max(v.retired, e.Of)
	}
}

func (v *verifier) file(ctx context.Context, s segment) error {
	f, err := os.Open(s.path)
	if errors.Is(err, fs.ErrNotExist) && v.report.Lines == 0 {
		return nil // removed after it was listed; a line must report that
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
		err = errors.New("it was changed")
	}
	v.held = held{hash: digestOf(raw), where: Problem{N: v.n, File: filepath.Base(s.path), Row: row}, bad: err}
	if v.report.Lines == 1 {
		v.report.First, v.signed = v.n, v.n-1
	}
	if last.bad != nil && (err != nil || e.Kind != KindTorn) {
		v.at(last.where, last.bad.Error())
		follows = false // its mismatch adds nothing
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
	case follows && e.Prev != last.hash.String() && !unsigned: // otherwise the head is reported
		v.mismatch(last.where)
	default:
		v.settle()
	}
	if v.n == 1 && e.Prev != (digest{}).String() {
		v.at(v.held.where, "the first line has the hash of an earlier line")
	}
	if e.Kind == KindRetired {
		v.retired = max(v.retired, e.Of)
	}
	v.head(e, last.hash, follows)
}

// misnumbered reports a line whose number doesn't match its place, and continues from that number if it is
// higher.
func (v *verifier) misnumbered(n uint64) {
	v.settle()
	if n < v.n {
		v.at(v.held.where, fmt.Sprintf("it has the number %d, which was used before", n))
		return
	}
	v.at(v.held.where, fmt.Sprintf("lines %d to %d are missing before line %d", v.n, n-1, n))
	v.n = n
	v.held.where.N = n
}

// mismatch records that the held line doesn't have the hash of the one before. Either that one was changed,
// or the held one was: then the next line doesn't have the held one's hash either.
func (v *verifier) mismatch(before Problem) {
	if v.suspect != nil {
		v.suspect = nil
		v.at(before, "it was changed: its hash of the previous line is wrong, and so is the next line's hash of it")
		return
	}
	v.suspect = &before
}

// settle blames the suspect: the next line has the hash of the line after the suspect.
func (v *verifier) settle() {
	if v.suspect != nil {
		v.at(*v.suspect, "it was changed: the next line has another hash for it")
		v.suspect = nil
	}
}

// head checks a head's content, the distance to the last one, and the kept head for the held line.
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
		v.signed = v.n // report it once
	}
	hash, ok := v.kept[v.n]
	if !ok {
		return
	}
	delete(v.kept, v.n)
	if hash != v.held.hash.String() {
		v.at(v.held.where, "it doesn't match the kept head: it or an earlier line was changed")
		return
	}
	v.report.Kept++
}

// maxLoose is how many more lines than a head covers may be without one: the lines that the log writes by
// itself (torn, retired, amiss).
const maxLoose = 16

func (v *verifier) at(where Problem, text string) {
	where.Text = text
	v.report.Problems++
	if v.report.Problem == nil || where.N < v.report.Problem.N {
		v.report.Problem = &where
	}
}

// end checks what only the end of the log shows.
func (v *verifier) end() {
	v.settle()
	if v.report.Lines > 0 && v.report.First-1 > v.retired {
		text := fmt.Sprintf("lines %d to %d are missing before this file, and no line says that they were removed to stay below the limit", v.retired+1, v.report.First-1)
		v.at(Problem{N: v.retired + 1, File: v.oldest, Row: 1}, text)
	}
	if v.held.bad != nil {
		v.at(v.held.where, v.held.bad.Error())
	}
	v.report.Last, v.report.Hash = v.n, v.held.hash.String()
	for n := range v.kept {
		text := "the log ends before the kept head: lines were removed"
		if n < v.report.First {
			text = "the kept head is for a line that was removed to stay below the limit"
		}
		v.at(Problem{N: n, File: v.held.where.File, Row: v.held.where.Row}, text)
	}
}
