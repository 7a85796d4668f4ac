package hold

import (
	"strings"
	"testing"
)

func TestParseStat(t *testing.T) {
	line := "42 (a) b (c)) S 7 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 123456 1 2 3"
	if p, err := parseStat(42, []byte(line)); err != nil || p != (process{pid: 42, parent: 7, name: "a) b (c)", start: "123456@" + bootID()}) {
		t.Errorf("%+v %v", p, err)
	}
	thread := strings.Replace(line, " 4194560 ", " 2129984 ", 1)
	if p, err := parseStat(42, []byte(thread)); err != nil || !p.kernel {
		t.Errorf("a thread of the kernel: %+v %v", p, err)
	}
	for _, bad := range []string{"", ")", "42 x", "42 (x", "42 (x) S 1 2", strings.Replace(line, " 7 42", " x 42", 1), strings.Replace(line, " 4194560 ", " x ", 1)} {
		if _, err := parseStat(42, []byte(bad)); err == nil {
			t.Errorf("%q is understood", bad)
		}
	}
}
