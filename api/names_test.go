package api

import (
	"strings"
	"testing"
)

func TestNamesTagsAndMeta(t *testing.T) {
	for _, c := range []struct {
		check func(string) error
		word  string
		ok    bool
	}{
		{CheckName, "a", true},
		{CheckName, "0-a.b_c", true},
		{CheckName, strings.Repeat("a", 64), true},
		{CheckName, strings.Repeat("a", 65), false},
		{CheckName, "", false},
		{CheckName, "all", false},
		{CheckName, "agents", false},
		{CheckName, "A", false},
		{CheckName, "-a", false},
		{CheckName, "a/b", false},
		{CheckName, "a\x1b[2J", false},
		{CheckName, "ä", false},
		{CheckTag, "Team:a/b@c+d", true},
		{CheckTag, "-a", false},
		{CheckTag, "a b", false},
		{CheckTag, strings.Repeat("x", 65), false},
		{func(k string) error { return CheckMeta(k, "v") }, "ticket", true},
		{func(k string) error { return CheckMeta(k, "v") }, "", false},
		{func(k string) error { return CheckMeta(k, "v") }, "a b", false},
		{func(v string) error { return CheckMeta("k", v) }, strings.Repeat("v", MaxMetaValue+1), false},
	} {
		err := c.check(c.word)
		if (err == nil) != c.ok {
			t.Errorf("%q: %v", c.word, err)
		}
		if err != nil && strings.ContainsAny(err.Error(), "\x1b\x00") {
			t.Errorf("%q: its own bytes are in the message", c.word)
		}
	}
}

func TestAboutSaysTheNameOnce(t *testing.T) {
	for message, want := range map[string]string{
		"billing did not get it": "billing did not get it", "billing: gone": "billing: gone", "billing": "billing",
		"it is gone": "billing: it is gone", "billing-2 is gone": "billing: billing-2 is gone", "": "billing: ",
	} {
		if got := About("billing", message); got != want {
			t.Errorf("About(%q) = %q, want %q", message, got, want)
		}
	}
}
