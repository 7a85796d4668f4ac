// Package files shows sessions as files to sftp and scp: a read-only tree that isn't on any disk. A
// file's content is the output of a verb, so the verbs' rights apply.
//
//	/alpha/screen.txt         the screen as text
//	/alpha/screen.ansi        with its colours
//	/alpha/recording.cast     all that was printed, as an asciicast
//	/alpha/events.jsonl       what happened, one event a line
//	/alpha/transcript.jsonl   the agent's own log, where it keeps one
package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/pkg/sftp"

	"berth/api"
	"berth/commands"
)

const (
	// openAtOnce bounds how many files one channel keeps open: each open file has a temporary file
	// without a name.
	openAtOnce = 16
	// aside is the most temporary bytes for all clients together, so that a viewer can't fill the disk. Room
	// shares it out.
	aside = 2 << 30
	// largest is the most bytes of a file, and of one identity. An asciicast of the most output that a session can
	// keep is usually smaller.
	largest = aside / 2
)

// kind is a file that each session has.
type kind struct {
	name string
	// lines are the verbs that print the file, for a session by its id.
	lines func(t *Tree, id string) ([]string, error)
	sized bool // it is short, so its size is known before it is read
}

var kinds = []kind{
	{"screen.txt", line("screen --text "), true},
	{"screen.ansi", line("screen --ansi "), true},
	{"recording.cast", line("export --cast "), false},
	{"events.jsonl", func(_ *Tree, id string) ([]string, error) {
		return []string{"watch --past --since " + id + ":0 " + id}, nil
	}, false},
	{"transcript.jsonl", (*Tree).parts, false},
}

func line(verb string) func(*Tree, string) ([]string, error) {
	return func(_ *Tree, id string) ([]string, error) { return []string{verb + id}, nil }
}

// Tree is one client's view. pkg/sftp calls its methods from several goroutines.
type Tree struct {
	commands *commands.Service
	request  commands.Request // without a line and streams
	ctx      context.Context
	room     *Room

	mu   sync.Mutex
	open int
}

// Serve answers one client until it is gone or ctx ends, and returns the exit status.
func Serve(ctx context.Context, room *Room, s *commands.Service, r commands.Request, in io.Reader, out io.Writer) int {
	end, err := s.Entered(r, "sftp")
	if err != nil {
		return s.Fail(ctx, r, err)
	}
	t := &Tree{commands: s, request: r, ctx: ctx, room: room}
	server := sftp.NewRequestServer(newStream(ctx, in, out), sftp.Handlers{FileGet: t, FilePut: t, FileCmd: t, FileList: t})
	status := api.StatusDone
	if err := server.Serve(); err != nil && !errors.Is(err, io.EOF) && ctx.Err() == nil {
		status = api.CodeBadRequest.Status()
	}
	end(status, "")
	return status
}

// place is the target of a path: the root, a session, or a session's file.
type place struct {
	session string // name; empty: the root
	id      string
	kind    *kind // nil: the session
	since   time.Time
}

// find resolves a path. To the client, a session that it may not see doesn't exist.
func (t *Tree) find(name string) (place, error) {
	parts := strings.Split(strings.Trim(path.Clean("/"+name), "/"), "/")
	if parts[0] == "" {
		return place{since: t.commands.Started}, nil
	}
	for _, s := range t.sessions() {
		if s.session != parts[0] && s.id != parts[0] {
			continue
		}
		switch {
		case len(parts) == 1:
			return s, nil
		case len(parts) > 2:
			return place{}, os.ErrNotExist
		}
		for i := range kinds {
			if kinds[i].name == parts[1] {
				s.kind = &kinds[i]
				return s, nil
			}
		}
	}
	return place{}, os.ErrNotExist
}

// sessions are those that the client may see.
func (t *Tree) sessions() []place {
	var out []place
	for _, s := range t.commands.Seen(t.request) {
		st := s.Status()
		out = append(out, place{session: st.Name, id: st.ID, since: st.Since})
	}
	return out
}

// parts are the parts of the agent's log, oldest first.
func (t *Tree) parts(id string) ([]string, error) {
	list, err := t.commands.TranscriptParts(t.request, id)
	var lines []string
	for _, n := range list {
		lines = append(lines, fmt.Sprintf("transcript --raw %s %d", id, n))
	}
	if err == nil && len(lines) == 0 {
		return nil, os.ErrNotExist
	}
	return lines, err
}

// print runs the verbs that print a file.
func (t *Tree) print(p place, to io.Writer) error {
	lines, err := p.kind.lines(t, p.id)
	if err != nil {
		return problem(err)
	}
	out := &bounded{to: to, left: largest}
	for _, line := range lines {
		var said bytes.Buffer
		r := t.request
		r.Line, r.In, r.Out, r.Err = line, strings.NewReader(""), out, &said
		switch status := t.commands.Run(t.ctx, r); {
		case out.err != nil:
			return out.err
		case status == api.CodeDenied.Status():
			return sftp.ErrSSHFxPermissionDenied
		case status == api.CodeNotFound.Status() || status == api.CodeNoDriver.Status():
			return os.ErrNotExist
		case status != api.StatusDone:
			return errors.New(strings.TrimSpace(said.String()))
		}
	}
	return nil
}

// problem converts an error to sftp's.
func problem(err error) error {
	switch api.AsError(err).Code {
	case api.CodeDenied:
		return sftp.ErrSSHFxPermissionDenied
	case api.CodeNotFound, api.CodeNoDriver:
		return os.ErrNotExist
	}
	return err
}

// bounded is a writer with a limit in bytes.
type bounded struct {
	to   io.Writer
	left int64
	err  error
}

var errTooLarge = fmt.Errorf("it is larger than %d bytes: use the verb instead", int64(largest))

func (b *bounded) Write(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if int64(len(p)) > b.left {
		b.err = errTooLarge
		return 0, b.err
	}
	n, err := b.to.Write(p)
	b.left -= int64(n)
	b.err = err
	return n, err
}

// enter counts a handle.
func (t *Tree) enter() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open >= openAtOnce {
		return fmt.Errorf("at most %d files and folders can be open at once", openAtOnce)
	}
	t.open++
	return nil
}

func (t *Tree) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open--
}

// Fileread opens a file. Its current content is printed into a temporary file without a name,
// because clients read at any offset.
func (t *Tree) Fileread(r *sftp.Request) (_ io.ReaderAt, err error) {
	defer t.contain(&err)
	p, err := t.find(r.Filepath)
	if err != nil {
		return nil, err
	}
	if p.kind == nil {
		return nil, errors.New("it is a folder")
	}
	if err := t.enter(); err != nil {
		return nil, err
	}
	return t.aside(p)
}

// aside prints a file into a temporary file. The handle is already counted.
func (t *Tree) aside(p place) (*handle, error) {
	f, err := os.CreateTemp("", "berth-*")
	if err != nil {
		t.leave()
		return nil, fmt.Errorf("make room for it: %w", withoutPath(err))
	}
	id := t.request.Identity()
	h := &handle{File: f, tree: t, who: id.Share()}
	kept := false
	defer func() {
		if !kept {
			_ = h.Close() // no client has the handle
		}
	}()
	if err := errors.Join(withoutPath(os.Remove(f.Name())), t.print(p, h)); err != nil {
		return nil, problemOnly(err)
	}
	kept = true
	return h, nil
}

// contain turns a panic into an error of the one request. pkg/sftp calls from its own goroutines,
// where a panic would end the server.
func (t *Tree) contain(err *error) {
	if p := recover(); p != nil {
		t.commands.Log.Error("a file's request panicked", "client", t.request.Client, "panic", p, "stack", string(debug.Stack()))
		*err = errors.New(api.AsError(errors.New("panic")).Message)
	}
}

// problemOnly returns the error that the client gets, among those that sftp has a status for.
func problemOnly(err error) error {
	for _, known := range []error{os.ErrNotExist, sftp.ErrSSHFxPermissionDenied} {
		if errors.Is(err, known) {
			return known
		}
	}
	return err
}

// handle is an open file.
type handle struct {
	*os.File
	tree *Tree
	who  string
	size int64
	once sync.Once
}

// Write reserves room for the bytes before it writes them.
func (h *handle) Write(p []byte) (int, error) {
	if err := h.tree.room.take(h.who, int64(len(p))); err != nil {
		return 0, err
	}
	h.size += int64(len(p))
	n, err := h.File.Write(p)
	return n, withoutPath(err)
}

// ReadAt has no bytes at an offset that pkg/sftp made negative: the client asked beyond 2^63.
func (h *handle) ReadAt(p []byte, offset int64) (int, error) {
	if offset < 0 {
		return 0, io.EOF
	}
	n, err := h.File.ReadAt(p, offset)
	return n, withoutPath(err)
}

// withoutPath leaves the name of a temporary file, and the folder that it is in, out of what the client reads.
func withoutPath(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return fmt.Errorf("%s a temporary file: %w", at.Op, at.Err)
	}
	return err
}

// Close is called once a handle, and again when the channel ends.
func (h *handle) Close() error {
	var err error
	h.once.Do(func() {
		err = h.File.Close()
		h.tree.room.give(h.who, h.size)
		h.tree.leave()
	})
	return err
}

// Filewrite refuses: the tree is read-only.
func (*Tree) Filewrite(*sftp.Request) (io.WriterAt, error) {
	return nil, sftp.ErrSSHFxPermissionDenied
}

// Filecmd refuses to make, rename, remove and link.
func (*Tree) Filecmd(*sftp.Request) error { return sftp.ErrSSHFxPermissionDenied }

// Filelist lists a folder or describes one name.
func (t *Tree) Filelist(r *sftp.Request) (_ sftp.ListerAt, err error) {
	defer t.contain(&err)
	p, err := t.find(r.Filepath)
	if err != nil {
		return nil, err
	}
	switch r.Method {
	case "List":
		if p.kind != nil {
			return nil, errors.New("it is a file")
		}
		return t.listing(p)
	case "Stat":
		return &listing{infos: []fs.FileInfo{t.info(p)}}, nil
	}
	return nil, sftp.ErrSSHFxOpUnsupported
}

func (t *Tree) listing(p place) (sftp.ListerAt, error) {
	if err := t.enter(); err != nil {
		return nil, err
	}
	l := &listing{tree: t}
	if p.session == "" {
		for _, s := range t.sessions() {
			l.infos = append(l.infos, t.info(s))
		}
		return l, nil
	}
	for i := range kinds {
		p.kind = &kinds[i]
		if _, err := p.kind.lines(t, p.id); err == nil {
			l.infos = append(l.infos, t.info(p))
		}
	}
	return l, nil
}

// listing is an open folder.
type listing struct {
	infos []fs.FileInfo
	tree  *Tree // nil: it holds no handle
	once  sync.Once
}

func (l *listing) ListAt(to []fs.FileInfo, offset int64) (int, error) {
	if offset >= int64(len(l.infos)) {
		return 0, io.EOF
	}
	n := copy(to, l.infos[offset:])
	if n < len(to) {
		return n, io.EOF
	}
	return n, nil
}

func (l *listing) Close() error {
	if l.tree != nil {
		l.once.Do(l.tree.leave)
	}
	return nil
}

// info describes a name.
type info struct {
	name string
	size int64
	mode fs.FileMode
	time time.Time
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) ModTime() time.Time { return i.time }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) Sys() any           { return nil }

// info has a file's size only where that is cheap to know. For others it is 0, as for files under
// /proc, and clients read them to their end.
func (t *Tree) info(p place) fs.FileInfo {
	switch {
	case p.session == "":
		return info{"/", 0, fs.ModeDir | 0o555, p.since}
	case p.kind == nil:
		return info{p.session, 0, fs.ModeDir | 0o555, p.since}
	}
	i := info{p.kind.name, 0, 0o444, p.since}
	if p.kind.sized {
		var all bytes.Buffer
		if t.print(p, &all) == nil {
			i.size = int64(all.Len())
		}
	}
	return i
}
