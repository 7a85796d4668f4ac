package mail

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestOddFiles: files that aren't messages are named in an error and stay as they are. Nothing else is lost,
// and no message gets the number of one.
func TestOddFiles(t *testing.T) {
	p := newPost(t)
	one := p.send(toOne("one"))
	p.move(Taken, "hook")
	whole, err := os.ReadFile(p.office.file(p.find(one)))
	if err != nil {
		t.Fatal(err)
	}
	odd := map[string]string{
		"00000000000000000007.json":             `{"message":7,"id":"s1","status":"acc`,
		"00000000000000000008.json":             `null`,
		"00000000000000000009.json":             strings.Replace(string(whole), `"status":"taken"`, `"status":"odd"`, 1),
		"copy of 00000000000000000001.json":     string(whole),
		"1.json":                                string(whole),
		"00000000000000000002.json":             string(whole),
		"18446744073709551615.json":             `{}`,
		"00000000000000000003.json.old.json":    `{}`,
		"00000000000000000004.json.new":         `half`,
		"notes.json":                            `{}`,
		"-0000000000000000001.json":             `{}`,
		"00000000000000000000.json":             `{"message":0,"id":"s1","status":"accepted"}`,
		"00000000000000000005.json/inside.json": "",
	}
	for name, text := range odd {
		file := filepath.Join(p.messages(), name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	office, err := Open(p.messages(), func() time.Time { return p.now })
	if office == nil || err == nil {
		t.Fatalf("%v, want an error that names the files", err)
	}
	for name := range odd {
		name, _, _ = strings.Cut(name, "/")
		if named := strings.Contains(err.Error(), name); named == strings.HasSuffix(name, ".new") {
			t.Errorf("%s is named: %v", name, named)
		}
	}
	if list := office.Inbox("s1", 0); len(list) != 1 || list[0].Number != one {
		t.Errorf("%d messages, want one", len(list))
	}
	if err := office.Sweep(func(id string) bool { return id == "s1" }); err != nil {
		t.Error(err)
	}
	m, err := office.Admit(toOne("next"))
	if err != nil || m.Number != 10 {
		t.Errorf("%v; the next message has number %d, want 10", err, m.Number)
	}
	for name, text := range odd {
		if now, err := os.ReadFile(filepath.Join(p.messages(), name)); err != nil || string(now) != text {
			t.Errorf("%s has changed: %v", name, err)
		}
	}
	for _, last := range []string{"", "x", "-1", "18446744073709551615"} {
		if err := os.WriteFile(filepath.Join(p.messages(), lastFile), []byte(last), 0o600); err != nil {
			t.Fatal(err)
		}
		office, err := Open(p.messages(), func() time.Time { return p.now })
		if err == nil || !strings.Contains(err.Error(), lastFile) || office.ledger.last != 9 {
			t.Errorf("with %q for the last number: %v, %d", last, err, office.ledger.last)
		}
	}
}
