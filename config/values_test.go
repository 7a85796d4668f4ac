package config

import (
	"testing"
	"time"
)

func TestParseBytes(t *testing.T) {
	for s, want := range map[string]Bytes{
		"0": 0, "4096": 4096, "12B": 12, "64MiB": 64 << 20, "10GB": 10e9, "1kib": 1024, "3 TiB": 3 << 40,
		"": -1, "MiB": -1, "-1": -1, "1.5GB": -1, "9999999999TiB": -1, "5M": -1, "0x10": -1,
	} {
		if got, err := ParseBytes(s); (err != nil) != (want < 0) || err == nil && got != want {
			t.Errorf("%q: %v %v", s, got, err)
		}
	}
	for _, s := range []string{"64MiB", "10GB", "1500B", "1KiB", "0B"} {
		if b, err := ParseBytes(s); err != nil || b.String() != s {
			t.Errorf("%s comes back as %s", s, b)
		}
	}
}

func TestParseDuration(t *testing.T) {
	for s, want := range map[string]time.Duration{
		"30s": 30 * time.Second, "10m": 10 * time.Minute, "7d": 168 * time.Hour, "2w": 336 * time.Hour,
		"1w2d3h": 219 * time.Hour, "1h30m": 90 * time.Minute, "250ms": 250 * time.Millisecond, "0": 0,
		"": -1, "d": -1, "10": -1, "-5s": -1, "1.5d": -1, "3d4w": -1, "99999999999d": -1, "200000d": -1, "1dd": -1, "5 m": -1,
	} {
		if got, err := ParseDuration(s); (err != nil) != (want < 0) || err == nil && got != want {
			t.Errorf("%q: %v %v", s, got, err)
		}
	}
}

func TestParseWindow(t *testing.T) {
	for s, want := range map[string]Window{
		"200x50": {200, 50}, "2x1": {2, 1}, "1000x500": {1000, 500},
		"": {}, "200": {}, "x": {}, "0x0": {}, "1x1": {}, "80x": {}, "80x24x2": {}, "2000x5": {}, "-80x24": {}, "80X24": {}, " 80x24": {},
	} {
		if got, err := ParseWindow(s); (err != nil) != (want == Window{}) || got != want {
			t.Errorf("%q: %v %v", s, got, err)
		}
	}
}

func TestSuggest(t *testing.T) {
	known := []string{"listen", "state_dir", "log_level", "size", "tags"}
	for word, want := range map[string]string{
		"lisen": "listen", "Listen": "listen", "sttae_dir": "state_dir", "loglevel": "log_level", "tag": "tags",
		"sise": "size", "completely": "", "x": "", "": "",
	} {
		if got := suggest(word, known); got != want {
			t.Errorf("%s: %q", word, got)
		}
	}
}
