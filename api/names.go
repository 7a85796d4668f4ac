package api

import (
	"strconv"
	"strings"
)

// Bounds of names and labels. Meta is for links and ticket numbers, not a store.
const (
	maxName      = 64                     // a UUID fits
	MaxProfile   = maxName - len("-xxxx") // sessions without a name of their own are called by their profile
	maxTag       = 64
	maxMetaKey   = 64
	MaxMetaValue = 4096 // bytes
)

// CheckName returns a BAD_REQUEST error if a word isn't a valid session name.
func CheckName(name string) error {
	if name == "all" || name == "agents" { // these words have another meaning where a name is expected
		return Errorf(CodeBadRequest, "the name %s is reserved", name)
	}
	if !wellFormed(name, maxName, "._-", false) {
		return Errorf(CodeBadRequest, "%s isn't a valid session name: use 1 to 64 of a-z 0-9 . _ -, starting with a letter or digit", Quote(name))
	}
	return nil
}

// CheckTag returns a BAD_REQUEST error if a word isn't a valid tag.
func CheckTag(tag string) error {
	if !wellFormed(tag, maxTag, "._-:/@+", true) {
		return Errorf(CodeBadRequest, "%s isn't a valid tag: use 1 to 64 letters, digits and . _ - : / @ +, starting with a letter or digit", Quote(tag))
	}
	return nil
}

// maxHost is the length of the longest name of a host: the limit of a part of a DNS name.
const maxHost = 63

// CheckHost returns a BAD_REQUEST error if a word isn't a valid name of a fleet's host. A name is one word of a NATS
// subject, and begins the names of the host's sessions: host/session.
func CheckHost(name string) error {
	if name == "" || len(name) > maxHost || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || name[0] == '-' {
		return Errorf(CodeBadRequest, "%s isn't a valid name of a host: use 1 to 63 of a-z, 0-9 and -, not starting with -", Quote(name))
	}
	if name == "all" || name == "any" {
		return Errorf(CodeBadRequest, "%s isn't a valid name of a host: it stands for several hosts", Quote(name))
	}
	return nil
}

// CheckTeam returns a BAD_REQUEST error if a word isn't a valid name of a team.
func CheckTeam(team string) error {
	if !wellFormed(team, maxTag, "._-:/@+", true) {
		return Errorf(CodeBadRequest, "%s isn't a valid name of a team: use 1 to 64 letters, digits and . _ - : / @ +, starting with a letter or digit", Quote(team))
	}
	return nil
}

// CheckPeer returns a BAD_REQUEST error if a word isn't the name of a session or tag:T.
func CheckPeer(peer string) error {
	if tag, ok := strings.CutPrefix(peer, "tag:"); ok {
		return CheckTag(tag)
	}
	return CheckName(peer)
}

// CheckMeta returns an error if a key and its value can't be kept with a session: BAD_REQUEST for
// the key, LIMIT for the value.
func CheckMeta(key, value string) error {
	if !wellFormed(key, maxMetaKey, "._-:/@+", true) {
		return Errorf(CodeBadRequest, "%s isn't a valid meta key: use 1 to 64 letters, digits and . _ - : / @ +, starting with a letter or digit", Quote(key))
	}
	if len(value) > MaxMetaValue {
		return Errorf(CodeLimit, "the value of the meta key %s has %d bytes: the limit is %d", key, len(value), MaxMetaValue)
	}
	return nil
}

func wellFormed(s string, most int, others string, upper bool) bool {
	if s == "" || len(s) > most {
		return false
	}
	for i, c := range []byte(s) {
		plain := c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || upper && c >= 'A' && c <= 'Z'
		if !plain && (i == 0 || strings.IndexByte(others, c) < 0) {
			return false
		}
	}
	return true
}

// Quote shows a user's text in a message: quoted, with unprintable characters escaped, and cut to
// a length that fits a line.
func Quote(s string) string {
	const most = 60
	if len(s) > most {
		return strconv.QuoteToASCII(strings.ToValidUTF8(s[:most], "")) + "..."
	}
	return strconv.QuoteToASCII(s)
}

// OwnVariable says whether Berth itself sets the environment variable in sessions, so that a
// session's own value would have no effect.
func OwnVariable(name string) bool {
	return name == "BERTH" || strings.HasPrefix(name, "BERTH_")
}
