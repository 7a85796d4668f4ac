package api

import (
	"strconv"
	"strings"
)

// Bounds of names and labels. Meta is for links and ticket numbers, not a store.
const (
	maxName      = 32
	maxTag       = 64
	maxMetaKey   = 64
	MaxMetaValue = 4096 // bytes
)

// CheckName says why a word cannot be a session's name: BAD_REQUEST, or nil.
func CheckName(name string) error {
	if name == "all" || name == "agents" { // they stand for other things where a name can
		return Errorf(CodeBadRequest, "the name %s is reserved", name)
	}
	if !wellFormed(name, maxName, "._-", false) {
		return Errorf(CodeBadRequest, "%s is no session name: 1 to 32 of a-z 0-9 . _ -, beginning with a letter or digit", Quote(name))
	}
	return nil
}

// CheckTag says why a word cannot be a session's tag: BAD_REQUEST, or nil.
func CheckTag(tag string) error {
	if !wellFormed(tag, maxTag, "._-:/@+", true) {
		return Errorf(CodeBadRequest, "%s is no tag: 1 to 64 letters, digits and . _ - : / @ +, beginning with a letter or digit", Quote(tag))
	}
	return nil
}

// CheckMeta says why a key and its value cannot be kept with a session:
// BAD_REQUEST for the key, LIMIT for the value, or nil.
func CheckMeta(key, value string) error {
	if !wellFormed(key, maxMetaKey, "._-:/@+", true) {
		return Errorf(CodeBadRequest, "%s is no meta key: 1 to 64 letters, digits and . _ - : / @ +, beginning with a letter or digit", Quote(key))
	}
	if len(value) > MaxMetaValue {
		return Errorf(CodeLimit, "the value of the meta key %s has %d bytes: at most %d are kept", key, len(value), MaxMetaValue)
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

// Quote shows somebody's word in a message: in quotes, everything odd in it
// escaped, cut to a length that fits a line.
func Quote(s string) string {
	const most = 60
	if len(s) > most {
		return strconv.QuoteToASCII(strings.ToValidUTF8(s[:most], "")) + "..."
	}
	return strconv.QuoteToASCII(s)
}

// OwnVariable says whether Berth itself sets the environment variable in sessions: a
// session's own value would never reach its program.
func OwnVariable(name string) bool {
	return name == "BERTH" || strings.HasPrefix(name, "BERTH_")
}
