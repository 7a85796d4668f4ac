package keys

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// Why a change of the key files is refused.
var (
	ErrListed    = errors.New("the key is already in a key file")
	ErrNameTaken = errors.New("another key has that name")
	ErrIsGuest   = errors.New("the key is a guest's, and would have the rights of both")
	ErrLastAdmin = errors.New("no admin would be left")
	ErrNotOurs   = errors.New("the line is in a file that is named by authorize")
)

// Grant is a line to add.
type Grant struct {
	Key      ssh.PublicKey
	Name     string
	Role     Role
	Sessions []string
	Verbs    []string
	From     string
	Expires  time.Time
}

// line writes the grant as a line of a key file and parses it again, so that a line which the parser
// would refuse or read differently is never written.
func (g Grant) line() (string, error) {
	options := []string{`role="` + g.Role.String() + `"`}
	add := func(name, value string) {
		if value != "" {
			options = append(options, name+`="`+strings.ReplaceAll(value, `"`, `\"`)+`"`)
		}
	}
	add("sessions", strings.Join(g.Sessions, ","))
	add("verbs", strings.Join(g.Verbs, ","))
	add("from", g.From)
	if !g.Expires.IsZero() {
		add("expiry-time", g.Expires.UTC().Format("20060102150405")+"Z")
	}
	line := strings.Join(options, ",") + " " + strings.TrimSpace(string(ssh.MarshalAuthorizedKey(g.Key))) + " " + g.Name
	key, e, _, f := parseLine(line)
	switch {
	case f != nil:
		return "", fmt.Errorf("%s: %s", f.text, f.remedy)
	case !bytes.Equal(key.Marshal(), g.Key.Marshal()) || e.role != g.Role || e.name != g.Name ||
		!slices.Equal(e.sessions, g.Sessions) || !slices.Equal(e.verbs, g.Verbs):
		return "", fmt.Errorf("the line would be read differently: use only letters, digits, blanks and . _ - @ in names")
	}
	return line, nil
}

// Add puts a line at the end of the first key file, and creates the file if needed. The rest of the
// file stays byte for byte.
func (s *Store) Add(g Grant) (Line, error) {
	if len(s.o.Files) == 0 {
		return Line{}, errors.New("no key file is configured")
	}
	fingerprint := ssh.FingerprintSHA256(g.Key)
	if g.Name == "" {
		g.Name = shortFingerprint(g.Key)
	}
	text, err := g.line()
	if err != nil {
		return Line{}, err
	}
	s.editing.Lock()
	defer s.editing.Unlock()
	s.Reload()
	for _, l := range s.Current().Lines() {
		switch {
		case l.Fingerprint == fingerprint:
			return Line{}, fmt.Errorf("%w, %s", ErrListed, l.Place())
		case l.Name == g.Name:
			return Line{}, fmt.Errorf("%w, %s", ErrNameTaken, l.Place())
		}
	}
	if g := s.openGuests(fingerprint); len(g) > 0 {
		return Line{}, fmt.Errorf("%w: guest revoke %d first", ErrIsGuest, g[0])
	}
	err = s.edit(s.o.Files[0], fingerprint, func(data []byte) ([]byte, error) {
		if len(data) > 0 && data[len(data)-1] != '\n' {
			data = append(data, '\n')
		}
		return append(data, text+"\n"...), nil
	})
	if err != nil {
		return Line{}, err
	}
	for _, l := range s.Current().Lines() {
		if l.Fingerprint == fingerprint {
			return l, nil
		}
	}
	return Line{}, fmt.Errorf("%s was written, but the key is not admitted: the server's log says why", s.o.Files[0])
}

// Remove deletes all lines of a key from the key files and ends its rights as a guest. Comments
// stay. It refuses to remove the last admin that can log in, unless last is set.
func (s *Store) Remove(fingerprint string, last bool) ([]Line, error) {
	s.editing.Lock()
	defer s.editing.Unlock()
	s.Reload()
	var gone []Line
	admins, left := 0, 0
	for _, l := range s.Current().Lines() {
		admin := l.grantsAccess(s.o.Now())
		if admin {
			admins++
		}
		switch {
		case l.Fingerprint != fingerprint:
			if admin {
				left++
			}
		case slices.Contains(s.o.Authorize, l.File):
			return nil, fmt.Errorf("%w: %s; start the server without it", ErrNotOurs, l.Place())
		default:
			gone = append(gone, l)
		}
	}
	switch {
	case len(gone) == 0:
		return nil, fmt.Errorf("%s: %w", fingerprint, ErrNotListed)
	case admins > 0 && left == 0 && !last:
		return nil, ErrLastAdmin
	}
	for _, file := range s.o.Files {
		numbers := map[int]bool{}
		for _, l := range gone {
			if l.File == file {
				numbers[l.Number] = true
			}
		}
		if len(numbers) == 0 {
			continue
		}
		if err := s.edit(file, fingerprint, func(data []byte) ([]byte, error) { return without(data, numbers, fingerprint) }); err != nil {
			return nil, err
		}
	}
	if still := s.Current().Named(fingerprint); len(still) > 0 {
		return nil, fmt.Errorf("%s was changed by another program in the meantime, and still has the key: try again", s.o.Files)
	}
	return gone, s.revokeGuests(fingerprint)
}

// grantsAccess says whether the line's key can change who may log in.
func (l Line) grantsAccess(now time.Time) bool {
	return l.Role == Admin && !l.Revoked && !l.Command && len(l.Sessions) == 0 && len(l.Verbs) == 0 && (l.Expires.IsZero() || now.Before(l.Expires))
}

// without removes the lines with those numbers, if they have the key.
func without(data []byte, numbers map[int]bool, fingerprint string) ([]byte, error) {
	var out []byte
	for n, line := range bytes.SplitAfter(data, []byte("\n")) {
		if !numbers[n+1] {
			out = append(out, line...)
			continue
		}
		text := strings.TrimSpace(string(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))))
		if _, e, _, f := parseLine(text); f != nil || e.fingerprint != fingerprint {
			return nil, errors.New("the file was changed by another program in the meantime: try again")
		}
	}
	return out, nil
}

// edit rewrites a key file: it writes a new file, parses it, and moves it into place. Only the rights
// of that key may differ. The mode stays the same; a link stays a link.
func (s *Store) edit(file, fingerprint string, change func([]byte) ([]byte, error)) error {
	target, mode := file, fs.FileMode(0o600)
	data, err := readTrusted(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		if target, err = resolve(file); err != nil {
			return err
		}
		info, err := os.Stat(target)
		if err != nil {
			return err
		}
		mode = info.Mode().Perm()
	}
	changed, err := change(slices.Clone(data))
	if err != nil {
		return err
	}
	if len(changed) > maxFile {
		return fmt.Errorf("%s would be longer than %d bytes", file, maxFile)
	}
	before, _ := Parse(file, data, s.o.Now())
	after, _ := Parse(file, changed, s.o.Now())
	if list := after.Since(before); len(list) != 1 || list[0].Fingerprint != fingerprint {
		return fmt.Errorf("%s would be read differently: change it with an editor", file)
	}
	aside, err := writeAside(target, changed, mode)
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	defer os.Remove(aside)
	if now, err := readTrusted(file); err != nil && !errors.Is(err, fs.ErrNotExist) || !bytes.Equal(now, data) {
		return errors.Join(fmt.Errorf("%s was changed by another program in the meantime: try again", file), err)
	}
	if err := os.Rename(aside, target); err != nil {
		return fmt.Errorf("put %s in place: %w", file, err)
	}
	if err := syncDir(filepath.Dir(target)); err != nil {
		return fmt.Errorf("keep %s: %w", file, err)
	}
	s.Reload()
	return nil
}
