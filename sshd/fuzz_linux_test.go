package sshd

import (
	"net/netip"
	"testing"
)

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
