package begin

import (
	"strings"
	"testing"
)

func TestFor(t *testing.T) {
	c := Config{Startup: {Text: "first"}, Any: {Text: "else"}}
	for source, want := range map[Source]string{Startup: "first", Clear: "else", Resume: "else", Compact: "else", "new": "else"} {
		if got, ok := c.For(source); !ok || got.Text != want {
			t.Errorf("%s: %+v, %v", source, got, ok)
		}
	}
	if _, ok := c.With(Any, nil).For(Clear); ok {
		t.Error("nothing is for clear, and something was found")
	}
	if _, ok := Config(nil).For(Clear); ok {
		t.Error("nothing is set, and something was found")
	}
	if got := Config(nil).With(Clear, &Context{Text: "x"}); got[Clear].Text != "x" || len(c) != 2 {
		t.Errorf("%+v, %+v", got, c)
	}
}

func TestCheck(t *testing.T) {
	for name, tt := range map[string]struct {
		config Config
		wrong  string
	}{
		"nothing":    {nil, ""},
		"text":       {Config{Any: {Text: "x"}}, ""},
		"run":        {Config{Startup: {Run: []string{"git", "log"}}}, ""},
		"source":     {Config{"begin": {Text: "x"}}, "no source"},
		"both":       {Config{Any: {Text: "x", Run: []string{"y"}}}, "one of the two"},
		"empty":      {Config{Any: {}}, "empty"},
		"empty argv": {Config{Any: {Run: []string{}}}, "empty"},
		"no program": {Config{Any: {Run: []string{""}}}, "empty"},
		"NUL":        {Config{Any: {Run: []string{"a\x00b"}}}, "NUL"},
		"long":       {Config{Any: {Text: strings.Repeat("x", Most+1)}}, "at most"},
		"words":      {Config{Any: {Run: strings.Fields(strings.Repeat("x ", 300))}}, "at most"},
	} {
		err := tt.config.Check()
		if (err == nil) != (tt.wrong == "") || err != nil && !strings.Contains(err.Error(), tt.wrong) {
			t.Errorf("%s: %v, want %q", name, err, tt.wrong)
		}
	}
}

func TestPrinted(t *testing.T) {
	for in, want := range map[string]string{
		"hello\n": "hello", "": "", "caf\xc3": "caf", "caf\xc3\xa9": "café", "a\xffb": "a\ufffdb", "\xf0\x9f\x98": "", "日本\xe6": "日本",
	} {
		if got := Printed([]byte(in)); got != want {
			t.Errorf("%q gives %q, want %q", in, got, want)
		}
	}
}
