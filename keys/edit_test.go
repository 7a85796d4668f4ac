package keys

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"berth/api"
)

// newStore opens a store whose key file holds text.
func newStore(t *testing.T, text string) (*Store, string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "authorized_keys")
	write(t, file, text)
	s, err := OpenStore(StoreOptions{
		Files: []string{file}, Now: func() time.Time { return noon },
		Guests: filepath.Join(dir, "guests.json"), GuestAuthority: filepath.Join(dir, "guest_authority"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, file
}

func TestAddAndRemoveKeepTheRest(t *testing.T) {
	_, old := newKey(t)
	text := "# ours\n\nrole=\"admin\" " + old + " admin\n  # and theirs\nnonsense that admits no key" // without an end
	s, file := newStore(t, text)
	key, _ := newKey(t)
	line, err := s.Add(Grant{Key: key, Name: "bob", Role: Viewer, Sessions: []string{"web-*"}, From: "10.0.0.0/8", Expires: noon.Add(time.Hour)})
	if err != nil || line.Number != 6 || line.Name != "bob" || line.Role != Viewer {
		t.Fatalf("%+v %v", line, err)
	}
	data, err := os.ReadFile(file)
	if err != nil || !strings.HasPrefix(string(data), text+"\n") {
		t.Errorf("%q %v", data, err)
	}
	if id, err := s.Current().Lookup(key, from("10.1.1.1"), noon); err != nil || !id.Expires.Equal(noon.Add(time.Hour)) {
		t.Errorf("%+v %v", id, err)
	}
	if _, err := s.Add(Grant{Key: key, Name: "again", Role: Viewer}); !errors.Is(err, ErrListed) {
		t.Error(err)
	}
	if gone, err := s.Remove(ssh.FingerprintSHA256(key), false); err != nil || len(gone) != 1 {
		t.Errorf("%v %v", gone, err)
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != text+"\n" {
		t.Errorf("%q %v", data, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
}

func TestEditedThroughALink(t *testing.T) {
	_, old := newKey(t)
	s, file := newStore(t, "role=\"admin\" "+old+" admin\n")
	target := file + ".real"
	if err := errors.Join(os.Rename(file, target), os.Symlink(target, file)); err != nil {
		t.Fatal(err)
	}
	key, _ := newKey(t)
	if _, err := s.Add(Grant{Key: key, Name: "bob", Role: Viewer}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(file); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced", err)
	}
}

func TestManyAddAtOnce(t *testing.T) {
	_, old := newKey(t)
	s, _ := newStore(t, "role=\"admin\" "+old+" admin\n")
	var wg sync.WaitGroup
	for i := range 16 {
		key, _ := newKey(t)
		wg.Go(func() {
			if _, err := s.Add(Grant{Key: key, Name: fmt.Sprint("user ", i), Role: Operator}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := s.Current().Len(); n != 17 {
		t.Errorf("%d lines", n)
	}
}

func TestAFileThatOthersMayWrite(t *testing.T) {
	_, old := newKey(t)
	s, file := newStore(t, "role=\"admin\" "+old+" admin\n")
	chmod(t, file, 0o666)
	key, _ := newKey(t)
	var mode *ModeError
	if _, err := s.Add(Grant{Key: key, Name: "bob", Role: Viewer}); !errors.As(err, &mode) {
		t.Error(err)
	}
}

func TestNoGrantThatReadsOtherwise(t *testing.T) {
	key, _ := newKey(t)
	for name, g := range map[string]Grant{
		"a line end in a name":    {Name: "x\nrole=\"admin\" ssh-ed25519", Role: Viewer},
		"a hidden sign in a name": {Name: "x\u202ey", Role: Viewer},
		"another kind's name":     {Name: "local:root", Role: Viewer},
		"a quote in a pattern":    {Name: "x", Role: Viewer, Sessions: []string{`a",role="admin`}},
		"a verb with a comma":     {Name: "x", Role: Viewer, Verbs: []string{"ls,input"}},
		"a quote in from":         {Name: "x", Role: Viewer, From: `10.0.0.0/8",role="admin`},
		"no role":                 {Name: "x"},
	} {
		g.Key = key
		if line, err := g.line(); err == nil {
			t.Errorf("%s: %s", name, line)
		}
	}
}

func TestLastAdmin(t *testing.T) {
	admin, one := newKey(t)
	_, two := newKey(t)
	s, _ := newStore(t, "role=\"admin\" "+one+" admin\nrole=\"admin\",verbs=\"ls\" "+two+" lister\n")
	if _, err := s.Remove(ssh.FingerprintSHA256(admin), false); !errors.Is(err, ErrLastAdmin) {
		t.Error(err)
	}
	if _, err := s.Remove(ssh.FingerprintSHA256(admin), true); err != nil {
		t.Error(err)
	}
}

func TestGuests(t *testing.T) {
	_, old := newKey(t)
	s, _ := newStore(t, "role=\"admin\" "+old+" admin\n")
	key, _ := newKey(t)
	g, cert, err := s.AddGuest(key, Guest{Name: "bob", Role: "responder", Sessions: []string{"a", "b"}, Expires: api.At(noon.Add(time.Hour))})
	if err != nil {
		t.Fatal(err)
	}
	id, err := s.Current().Lookup(cert, from("10.0.0.1"), noon)
	if err != nil || id.Name != "guest:bob" || id.Role != Responder || len(id.Sessions) != 2 || !id.Expires.Equal(noon.Add(time.Hour)) {
		t.Errorf("%+v %v", id, err)
	}
	if _, err := s.Current().Lookup(cert, nil, noon.Add(time.Hour)); err == nil {
		t.Error("let in after its time")
	}
	// By what the file says, not by what the certificate does.
	narrow := func(to Guest) error {
		_, err := s.ChangeGuest(g.Serial, func(g *Guest) error { return g.Narrow(to) })
		return err
	}
	if err := narrow(Guest{Role: "viewer", Sessions: []string{"a"}, Expires: api.At(noon.Add(time.Minute))}); err != nil {
		t.Error(err)
	}
	if id, err := s.Current().Lookup(cert, nil, noon); err != nil || id.Role != Viewer || len(id.Sessions) != 1 {
		t.Errorf("%+v %v", id, err)
	}
	if _, err := s.Current().Lookup(cert, nil, noon.Add(time.Minute)); !errors.Is(err, ErrExpired) {
		t.Error(err)
	}
	for _, more := range []Guest{{Role: "operator"}, {Sessions: []string{"b"}}, {Expires: api.At(noon.Add(time.Hour))}, {Role: "king"}} {
		if err := narrow(more); err == nil {
			t.Errorf("was widened by %+v", more)
		}
	}
	// A certificate for a key that is not the guest's, by the same authority.
	other, _ := newKey(t)
	forged := *cert
	forged.Key = other
	if _, err := s.Current().Lookup(&forged, nil, noon); err == nil {
		t.Error("a forged one was taken")
	}
	if _, err := s.ChangeGuest(g.Serial, func(g *Guest) error { g.Revoked = api.At(noon); return nil }); err != nil {
		t.Error(err)
	}
	if _, err := s.Current().Lookup(cert, nil, noon); !errors.Is(err, ErrRevoked) {
		t.Error(err)
	}
	if _, err := s.ChangeGuest(99, func(*Guest) error { return nil }); !errors.Is(err, ErrNoGuest) {
		t.Error(err)
	}
	// A serial is never given twice, also when the last guest is taken out by hand.
	again, _, err := s.AddGuest(other, Guest{Name: "bob", Role: "viewer", Expires: api.At(noon.Add(time.Hour))})
	if err != nil || again.Serial != g.Serial+1 {
		t.Errorf("%+v %v", again, err)
	}
}

// Revocations that others could have written, or that can no longer be read, stay in force for keys, and
// their changes are reported.
func TestRevocationsThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	key, line := newKey(t)
	file, revoked := filepath.Join(dir, "authorized_keys"), filepath.Join(dir, "revoked_keys")
	write(t, file, line+" bob\n")
	write(t, revoked, ssh.FingerprintSHA256(key)+"\nserial: 7-9\nid: eve\x1b\n")
	o := StoreOptions{Files: []string{file}, Revoked: revoked, Now: func() time.Time { return noon }}
	refused := func(s *Store, what string) {
		t.Helper()
		if _, err := s.Current().Lookup(key, nil, noon); !errors.Is(err, ErrRevoked) {
			t.Errorf("%s: %v", what, err)
		}
	}
	s, err := OpenStore(o)
	if err != nil {
		t.Fatal(err)
	}
	refused(s, "as it is")
	if err := os.Chmod(revoked, 0o666); err != nil {
		t.Fatal(err)
	}
	s.Reload()
	refused(s, "written by others")
	again, err := OpenStore(o)
	if err != nil {
		t.Fatal(err)
	}
	refused(again, "written by others, and the server starts")
	if err := errors.Join(os.Remove(revoked), os.Mkdir(revoked, 0o700)); err != nil {
		t.Fatal(err)
	}
	s.Reload()
	refused(s, "it cannot be read")

	before := s.Current()
	if err := os.Remove(revoked); err != nil {
		t.Fatal(err)
	}
	s.Reload()
	if list := s.Current().Since(before); len(list) != 2 || list[0].What != "unrevoked" || list[1].What != "unrevoked" || list[1].Fingerprint != ssh.FingerprintSHA256(key) {
		t.Errorf("%+v", list)
	}
	before = s.Current()
	write(t, revoked, "id: eve\x1b\nserial: 7-9\n")
	s.Reload()
	if list := s.Current().Since(before); len(list) != 2 || list[0].What != "revoked" || list[0].Now[0] != `id "eve\x1b"` || list[1].Now[0] != "serial 7-9" {
		t.Errorf("%+v", list)
	}
}

// A file of guests that would be too long to be read is not written: else no
// guest could be let in, narrowed or taken back any more.
func TestGuestsThatFillTheirFile(t *testing.T) {
	_, old := newKey(t)
	s, _ := newStore(t, "role=\"admin\" "+old+" admin\n")
	var patterns []string
	for range 30_000 {
		patterns = append(patterns, strings.Repeat("x", 60))
	}
	var err error
	kept := 0
	for n := 0; n < 5 && err == nil; n++ {
		key, _ := newKey(t)
		if _, _, err = s.AddGuest(key, Guest{Name: fmt.Sprintf("g%d", n), Role: "viewer", Sessions: patterns, Expires: api.At(noon.Add(time.Hour))}); err == nil {
			kept++
		}
	}
	if !errors.Is(err, ErrGuest) || kept == 0 || len(s.Guests()) != kept {
		t.Errorf("%d of %d guests: %v", len(s.Guests()), kept, err)
	}
	if _, err := s.ChangeGuest(1, func(g *Guest) error { g.Revoked = api.At(noon); return nil }); err != nil {
		t.Error(err)
	}
}
