package keys

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/crypto/ssh"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func newKey(t testing.TB) (ssh.PublicKey, string) {
	t.Helper()
	public, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return wrap(t, public)
}

func wrap(t testing.TB, public any) (ssh.PublicKey, string) {
	t.Helper()
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return key, strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
}

func from(ip string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: 4242} }

func parseOne(t *testing.T, line string) (*Set, []Problem) {
	t.Helper()
	return Parse("keys", []byte(line+"\n"), noon)
}

// TestChangedRights: each option that a line loses is a change, which the audit log gets.
func TestChangedRights(t *testing.T) {
	_, text := newKey(t)
	without, _ := parseOne(t, text+" alice")
	for _, option := range []string{
		`role="viewer"`, `sessions="web-*"`, `verbs="ls"`, `from="10.0.0.0/8"`, `expiry-time="20270101Z"`, `command="ls"`, `no-pty`, `no-port-forwarding`, `permitopen="h:1"`, `cert-authority`,
	} {
		with, problems := parseOne(t, option+" "+text+" alice")
		if list := without.Since(with); len(list) != 1 || list[0].What != "changed" {
			t.Errorf("%s: %+v (%v)", option, list, problems)
		}
	}
}

func TestOptions(t *testing.T) {
	key, text := newKey(t)
	for options, want := range map[string]Identity{
		``:                         {Role: Operator, RoleByDefault: true},
		`role="viewer"`:            {Role: Viewer},
		`ROLE="admin"`:             {Role: Admin},
		`restrict`:                 {Role: Operator, RoleByDefault: true, NoForward: true, NoPTY: true},
		`restrict,pty`:             {Role: Operator, RoleByDefault: true, NoForward: true},
		`restrict,port-forwarding`: {Role: Operator, RoleByDefault: true, NoPTY: true},
		`restrict,permitopen="10.0.0.1:80",port-forwarding`: {Role: Operator, RoleByDefault: true, NoForward: true, NoPTY: true},
		`pty,restrict`:                   {Role: Operator, RoleByDefault: true, NoForward: true, NoPTY: true},
		`no-pty,role="responder"`:        {Role: Responder, NoPTY: true},
		`prefix="ctrl-b"`:                {Role: Operator, RoleByDefault: true, Prefixes: "\x02"},
		`prefix="ctrl-a Ctrl-\ "`:        {Role: Operator, RoleByDefault: true, Prefixes: "\x01\x1c"},
		`command="say \"hi there\", ok"`: {Role: Operator, RoleByDefault: true, Command: `say "hi there", ok`},
		`command="a\b"`:                  {Role: Operator, RoleByDefault: true, Command: `a\b`},
		`sessions="web-*,tag:team-a"`:    {Role: Operator, RoleByDefault: true, Sessions: []string{"web-*", "tag:team-a"}},
		`verbs="state, ls"`:              {Role: Operator, RoleByDefault: true, Verbs: []string{"state", "ls"}},
		`no-port-forwarding,no-X11-forwarding,no-agent-forwarding,no-user-rc,permitopen="h:1",permitopen="h:2"`: {Role: Operator, RoleByDefault: true, NoForward: true},
		`expiry-time="20261121Z"`:       {Role: Operator, RoleByDefault: true, Expires: time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)},
		`expiry-time="202611201201UTC"`: {Role: Operator, RoleByDefault: true, Expires: time.Date(2026, 11, 20, 12, 1, 0, 0, time.UTC)},
		`expiry-time="20261121123005"`:  {Role: Operator, RoleByDefault: true, Expires: time.Date(2026, 11, 21, 12, 30, 5, 0, time.Local)},
		`from="10.0.0.0/8"`:             {Role: Operator, RoleByDefault: true},
	} {
		want.Kind, want.Name, want.Fingerprint = KindKey, "alice@home", ssh.FingerprintSHA256(key)
		want.Source, want.Line = "10.1.2.3:4242", "keys:1"
		set, problems := parseOne(t, strings.TrimSpace(options+" "+text+" alice@home"))
		got, err := set.Lookup(key, from("10.1.2.3"), noon)
		if err != nil {
			t.Errorf("%s: %v %v", options, err, problems)
		} else if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", options, got, want)
		}
	}
}

// Each of these lines is refused with a reason and admits no key, while the lines around it stay valid:
// in other programs, one bad line locked out all lines below it, or an ignored option granted more.
func TestRefusedLines(t *testing.T) {
	good1, text1 := newKey(t)
	good2, text2 := newKey(t)
	bad, text := newKey(t)
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	_, weakText := wrap(t, &weak.PublicKey)
	fields := strings.Fields(text)
	for line, want := range map[string]string{
		`frm="10.0.0.0/8" ` + text:                      `unknown option frm`,
		`require-magic ` + text:                         `unknown option require-magic`,
		`role="root" ` + text:                           `unknown role "root"`,
		`role="" ` + text:                               `unknown role ""`,
		`role ` + text:                                  `role has no value`,
		`role=admin ` + text:                            `isn't in double quotes`,
		`role="viewer",role="admin" ` + text:            `role= is given twice`,
		`from="10.0.0.0/8",from="*" ` + text:            `from= is given twice`,
		`command="x ` + text:                            `no closing quote`,
		`command="" ` + text:                            `command= is empty`,
		`sessions="" ` + text:                           `empty element`,
		`sessions="a,,b" ` + text:                       `empty element`,
		`sessions="[a" ` + text:                         `malformed pattern`,
		`sessions="tag:" ` + text:                       `malformed pattern`,
		`sessions="!a" ` + text:                         `pattern "!a"`,
		`verbs="" ` + text:                              `empty element`,
		`verbs="ls;rm" ` + text:                         `verbs= has "ls;rm"`,
		`from="host.example" ` + text:                   `host names aren't resolved`,
		`from="!*.evil.example,*" ` + text:              `host names aren't resolved`,
		`from="10.0.0.1/8" ` + text:                     `goes beyond its mask`,
		`from="10.0.0.0/40" ` + text:                    `malformed network`,
		`from="!10.0.0.1" ` + text:                      `only negated`,
		`expiry-time="tomorrow" ` + text:                `expiry-time= is "tomorrow"`,
		`expiry-time="20261301" ` + text:                `expiry-time=`,
		`expiry-time="" ` + text:                        `expiry-time= is ""`,
		`principals="root" ` + text:                     `for certificates only`,
		`verify-required ` + text:                       `can't check verify-required`,
		`restrict="yes" ` + text:                        `restrict takes no value`,
		`restrict,,pty ` + text:                         `cannot begin with`,
		`restrict;pty ` + text:                          `after the option restrict`,
		`restrict, ` + text:                             `cannot begin with`,
		`restrict`:                                      `the key type is missing`,
		`-----BEGIN OPENSSH PRIVATE KEY-----`:           `unknown option`,
		strings.Repeat("b3Blbn", 11):                    `unknown option of 66 letters`,
		strings.Repeat("b3Blbn", 11) + `==`:             `isn't in double quotes`,
		fields[0]:                                       `the key is missing`,
		fields[0] + ` !!!!`:                             `isn't base64`,
		fields[0] + ` AAAA`:                             `cannot be read`,
		fields[0] + ` ` + fields[1][:40]:                `cannot be read`,
		`ssh-rsa ` + fields[1]:                          `holds a key of the type`,
		`ssh-dss AAAAB3NzaC1kc3M=`:                      `DSA`,
		`ssh-ed25519-cert-v01@openssh.com ` + fields[1]: `certificate`,
		`ssh-foo ` + fields[1]:                          `aren't accepted`,
		`ecdsa-sha2-nistp256`:                           `the key is missing`,
		weakText:                                        `1024 bits is too short`,
		text + strings.Repeat("x", maxLine):             `the limit is 16384`,
		"\x00" + text:                                   `cannot begin with "\x00"`,
		"role=\"\x1b[31m\" " + text:                     `unknown role "\x1b[31m"`,
	} {
		set, problems := Parse("keys", []byte(text1+"\n"+line+"\n"+text2), noon)
		name := line[:min(len(line), 60)]
		if len(problems) != 1 || problems[0].Line != 2 || problems[0].Kind != Refused {
			t.Errorf("%q: problems %v", name, problems)
			continue
		}
		if p := problems[0]; !strings.Contains(p.Text, want) || p.Remedy == "" {
			t.Errorf("%q: says %q (%q), want %q", name, p.Text, p.Remedy, want)
		}
		if s := problems[0].String(); strings.ContainsFunc(s, unicode.IsControl) || strings.Contains(s, fields[1]) {
			t.Errorf("%q: its message is not fit for a log: %q", name, s)
		}
		if _, err := set.Lookup(bad, from("10.0.0.1"), noon); !errors.Is(err, ErrNotListed) {
			t.Errorf("%q: the key of the bad line: %v", name, err)
		}
		for _, key := range []ssh.PublicKey{good1, good2} {
			if _, err := set.Lookup(key, from("10.0.0.1"), noon); err != nil {
				t.Errorf("%q: a good line beside it: %v", name, err)
			}
		}
	}
}

func TestKeyTypes(t *testing.T) {
	for _, curve := range []elliptic.Curve{elliptic.P256(), elliptic.P384(), elliptic.P521()} {
		private, err := ecdsa.GenerateKey(curve, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		key, text := wrap(t, &private.PublicKey)
		if set, problems := parseOne(t, text); set.Len() != 1 {
			t.Errorf("%s: %v", key.Type(), problems)
		}
	}
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	_, text := wrap(t, &private.PublicKey)
	if set, problems := parseOne(t, text); set.Len() != 1 {
		t.Errorf("rsa: %v", problems)
	}
	public, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	wire := ssh.Marshal(struct {
		Type string
		Key  []byte
		App  string
	}{ssh.KeyAlgoSKED25519, public, "ssh:"})
	sk, err := ssh.ParsePublicKey(wire)
	if err != nil {
		t.Fatal(err)
	}
	set, problems := parseOne(t, "no-touch-required "+string(ssh.MarshalAuthorizedKey(sk)))
	if set.Len() != 1 || len(problems) != 1 || problems[0].Kind != Notice {
		t.Errorf("sk: %d keys, %v", set.Len(), problems)
	}
}

func TestFileForms(t *testing.T) {
	key, text := newKey(t)
	long := `from="` + strings.Repeat("10.0.0.1,", 900) + `10.9.9.9" ` // beyond bufio.Scanner-like and OpenSSH's old limits
	for name, data := range map[string]string{
		"no newline at the end": text,
		"CRLF":                  "# mine\r\n" + text + " me\r\n",
		"byte order mark":       "\xef\xbb\xbf" + text,
		"blanks and tabs":       "\n\n \t\n\t  " + strings.Replace(text, " ", " \t ", 1) + "\tme  \n",
		"comments":              "# a\n  # b\n" + text + " # not a comment of the file\n",
		"a long line":           long + text + "\n",
	} {
		set, problems := Parse("keys", []byte(data), noon)
		if _, err := set.Lookup(key, from("10.9.9.9"), noon); err != nil || len(problems) > 0 {
			t.Errorf("%s: %v %v", name, err, problems)
		}
	}
	set, problems := Parse("id", []byte("-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n"), noon)
	if !set.Empty() || len(problems) != 1 || !strings.Contains(problems[0].String(), "private key") {
		t.Errorf("a private key: %v", problems)
	}
	if set, problems := Parse("empty", nil, noon); !set.Empty() || problems != nil {
		t.Errorf("an empty file: %v", problems)
	}
}

func TestAuthoritysOwnKeyLetsInNobody(t *testing.T) {
	key, text := newKey(t)
	set, problems := parseOne(t, `cert-authority,principals="alice,bob" `+text)
	if len(problems) != 0 || set.Empty() {
		t.Errorf("an authority lets in whom it certifies: %v", problems)
	}
	if _, err := set.Lookup(key, from("10.0.0.1"), noon); !errors.Is(err, ErrAuthority) {
		t.Errorf("the authority's own key: %v", err)
	}
}

// TestByFingerprint finds who has proven a key before, with the rights and for
// the address of now.
func TestByFingerprint(t *testing.T) {
	key, text := newKey(t)
	set, problems := parseOne(t, `role="responder",from="10.0.0.0/8",expiry-time="20261121Z" `+text+" alice")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	print := ssh.FingerprintSHA256(key)
	for _, source := range []string{"10.1.2.3:4242", "10.1.2.3"} {
		if id, err := set.ByFingerprint(print, source, noon); err != nil || id.Role != Responder || id.Name != "alice" {
			t.Errorf("from %s: %+v %v", source, id, err)
		}
	}
	for _, c := range []struct {
		print, source string
		at            time.Time
		want          error
	}{
		{print, "11.1.2.3:4242", noon, ErrSource},
		{print, "unix", noon, ErrSource},
		{print, "10.1.2.3:4242", noon.Add(48 * time.Hour), ErrExpired},
		{"SHA256:other", "10.1.2.3:4242", noon, ErrNotListed},
	} {
		if _, err := set.ByFingerprint(c.print, c.source, c.at); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestSources(t *testing.T) {
	for _, c := range []struct {
		from, addr string
		ok         bool
	}{
		{"10.0.0.0/8", "10.1.2.3", true},
		{"10.0.0.0/8", "11.1.2.3", false},
		{"10.0.0.0/8", "::ffff:10.1.2.3", true},
		{"192.168.1.7", "192.168.1.7", true},
		{"192.168.1.7", "192.168.1.70", false},
		{"192.168.1.?", "192.168.1.7", true},
		{"192.168.1.?", "192.168.1.70", false},
		{"10.*,192.168.*", "192.168.9.9", true},
		{"*", "2001:db8::1", true},
		{"!10.0.0.9,10.0.0.0/8", "10.0.0.9", false},
		{"10.0.0.0/8,!10.0.0.9", "10.0.0.9", false},
		{"10.0.0.0/8,!10.0.0.9", "10.0.0.8", true},
		{"2001:db8::/32", "2001:db8::77", true},
		{"2001:DB8:*", "2001:db8::77", true},
		{"2001:db8::/32", "10.0.0.1", false},
		{"::1", "::1", true},
		{"0.0.0.0/0", "8.8.8.8", true},
		{"0.0.0.0/0", "::1", false},
	} {
		s, f := parseSources(c.from)
		if f != nil {
			t.Errorf("%s: %s", c.from, f.text)
		} else if got := s.allow(from(c.addr)); got != c.ok {
			t.Errorf("from %s, address %s: %v", c.from, c.addr, got)
		}
	}
	s, _ := parseSources("*")
	if s.allow(nil) || s.allow(&net.UnixAddr{Name: "/run/x", Net: "unix"}) {
		t.Error("what has no IP address met from=")
	}
	if !sources(nil).allow(&net.UnixAddr{}) {
		t.Error("a line without from= must take any address")
	}
}

func TestFirstLineThatPassesWins(t *testing.T) {
	key, text := newKey(t)
	file := `role="admin",from="127.0.0.1" ` + text + "\n" +
		`role="operator",expiry-time="20261120115900Z" ` + text + "\n" +
		`role="viewer" ` + text + "\n" +
		`role="responder" ` + text + "\n"
	set, problems := Parse("keys", []byte(file), noon)
	if len(problems) != 1 || problems[0].Line != 2 || problems[0].Kind != Notice {
		t.Errorf("problems: %v", problems)
	}
	for addr, want := range map[string]Role{"127.0.0.1": Admin, "10.0.0.1": Viewer} {
		if id, err := set.Lookup(key, from(addr), noon); err != nil || id.Role != want {
			t.Errorf("%s: %v %v", addr, id.Role, err)
		}
	}
	if id, _ := set.Lookup(key, from("10.0.0.1"), noon.Add(-time.Hour)); id.Role != Operator || id.Line != "keys:2" {
		t.Errorf("before its expiry: %+v", id)
	}
	set, _ = parseOne(t, `expiry-time="20261120120000Z" `+text)
	if _, err := set.Lookup(key, nil, noon); !errors.Is(err, ErrExpired) || !strings.Contains(err.Error(), "keys:1") {
		t.Errorf("at the moment of expiry: %v", err)
	}
	set, _ = parseOne(t, `from="10.0.0.0/8" `+text)
	if _, err := set.Lookup(key, from("11.0.0.1"), noon); !errors.Is(err, ErrSource) {
		t.Errorf("from elsewhere: %v", err)
	}
}

func TestNames(t *testing.T) {
	key, text := newKey(t)
	short := ssh.FingerprintSHA256(key)[:19]
	for comment, want := range map[string]string{
		"alice@home":             "alice@home",
		"Jörg's  laptop":         "Jörg's laptop",
		"":                       short,
		"\x1b[31mred\x07":        "[31mred",
		"a\u202eb\u200bc\u2066d": "abcd",
		"\u3164\u200b":           short,
		"agent:alpha":            short,
		"Local:root":             short,
		"age\u200bnt:alpha":      short,
		"\xff\xfeok":             "ok",
		"日本語":                    "日本語",
		strings.Repeat("x", 100): strings.Repeat("x", 64),
		strings.Repeat("ä", 100): strings.Repeat("ä", 64),
		"e\u0301 combining":      "e combining",
	} {
		set, _ := parseOne(t, text+" "+comment)
		if id, err := set.Lookup(key, nil, noon); err != nil || id.Name != want {
			t.Errorf("%q: named %q (%v), want %q", comment, id.Name, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	_, text := newKey(f)
	for _, seed := range []string{
		text, `role="viewer",sessions="a*,tag:b",verbs="ls" ` + text + " me", `command="a \"b\"" ` + text,
		`from="!10.0.0.1,*",expiry-time="20260101" ` + text, "restrict,pty " + text, "# x\n\r\n\x00\n" + text,
		`cert-authority,principals="x" ` + text, `"`, "=", "a=", `a="\"`, "ssh-ed25519",
	} {
		f.Add([]byte(seed))
	}
	guardKey, guard := newKey(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		set, problems := Parse("keys", data, noon)
		lines := strings.Count(string(data), "\n") + 1
		if set.Len() > lines {
			t.Fatalf("%d keys from %d lines", set.Len(), lines)
		}
		for _, p := range problems {
			if strings.ContainsFunc(p.String(), func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Fatalf("a problem is not printable: %q", p.String())
			}
			if p.Text == "" || p.Line < 0 || p.Line > lines {
				t.Fatalf("problem %+v in %d lines", p, lines)
			}
		}
		for wire := range set.byKey {
			key, err := ssh.ParsePublicKey([]byte(wire))
			if err != nil {
				t.Fatal(err)
			}
			if id, err := set.Lookup(key, from("10.0.0.1"), noon); err == nil {
				checkIdentity(t, id)
			}
		}
		// A good line is valid whatever comes before it.
		if strings.HasPrefix(strings.TrimPrefix(string(data), "\ufeff"), "-----BEGIN ") {
			return
		}
		set, _ = Parse("keys", fmt.Appendf(nil, "%s\nrole=\"viewer\" %s guard", data, guard), noon)
		if id, err := set.Lookup(guardKey, nil, noon); err != nil || id.Role != Viewer {
			t.Fatalf("the last line: %+v %v", id, err)
		}
	})
}

func checkIdentity(t *testing.T, id Identity) {
	if id.Name == "" || len([]rune(id.Name)) > nameLimit || strings.ContainsFunc(id.Name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		t.Fatalf("name %q", id.Name)
	}
	if id.Role < Viewer || id.Role > Admin || strings.HasPrefix(id.Name, "agent:") {
		t.Fatalf("%+v", id)
	}
	for _, list := range [][]string{id.Sessions, id.Verbs} {
		if list != nil && len(list) == 0 {
			t.Fatalf("an empty list of rights: %+v", id)
		}
	}
}
