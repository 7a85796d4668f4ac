package sshd

import (
	"encoding/json"
	"net/netip"
	"slices"
	"testing"
)

// FuzzArgv: a command line is words only when it is nothing but them.
func FuzzArgv(f *testing.F) {
	for _, s := range []string{`["a","b c"]`, `[]`, `[1]`, `["a"`, "ls", `["\ud800"]`, `[null]`, ` ["a"]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		words := argv(line)
		if words == nil {
			return
		}
		again, err := json.Marshal(words)
		if err != nil || !slices.Equal(argv(string(again)), words) {
			t.Errorf("%q is %q, which is not %q again", line, words, again)
		}
	})
}

// FuzzKernelText: what the kernel's files and answers may hold panics nothing.
func FuzzKernelText(f *testing.F) {
	a, b := netip.MustParseAddrPort("127.0.0.1:22"), netip.MustParseAddrPort("[::1]:4711")
	f.Add([]byte("   0: 0100007F:0016 0100007F:A1B2 01 00000000:00000000 00:00000000 00000000     0        0 12345 1"))
	f.Add(make([]byte, 100))
	f.Add(diagRequest(a, a))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _ = searchLines(string(data), a, b, nil)
		_, _ = parseDiagAnswer(data, a, b)
		_ = parseHexAddr(string(data))
		_ = plainTerm(string(data))
	})
}
