package keys

import (
	"strings"
	"unicode"

	"golang.org/x/crypto/ssh"
)

// nameLimit is how many runes of a key's comment become a name: enough for an e-mail address, short
// enough for a column.
const nameLimit = 64

// cleanName makes a key's comment safe to show and to log: printable ASCII and letters of any
// script that have a width of their own; no control, bidi or zero-width character. A name of
// another kind of caller, or of the server, isn't a valid name for a key.
func cleanName(comment string) string {
	var b strings.Builder
	n := 0
	for _, r := range strings.TrimSpace(strings.ToValidUTF8(comment, "")) {
		ascii := r >= ' ' && r <= '~'
		letter := r > unicode.MaxASCII && unicode.In(r, unicode.L, unicode.Nd) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
		if !ascii && !letter {
			continue
		}
		if n++; n > nameLimit {
			break
		}
		b.WriteRune(r)
	}
	name := strings.Join(strings.Fields(b.String()), " ")
	for _, kind := range []string{"agent:", "local:", "guest:", "sha256:"} {
		if len(name) >= len(kind) && strings.EqualFold(name[:len(kind)], kind) {
			return ""
		}
	}
	if strings.EqualFold(name, "berth") { // events use this name for the server
		return ""
	}
	return name
}

// shortFingerprint is the start of a key's SHA-256 fingerprint: 72 bits, enough to distinguish the
// keys of a file.
func shortFingerprint(key ssh.PublicKey) string {
	return ssh.FingerprintSHA256(key)[:len("SHA256:")+12]
}
