package api

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestNewNamesStandBesideTheOld(t *testing.T) {
	for _, c := range []struct{ object, in, want string }{
		{"ls", `[{"since":"t","prompt":{"id":"7","type":"question"}},{"since":null,"prompt":null}]`,
			`[{"since":"t","prompt":{"id":"7","type":"question","prompt_id":"7","prompt_type":"question"},"since_at":"t"},{"since":null,"prompt":null,"since_at":null}]`},
		{"respond", `{"id":"s","prompt":"7"}`, `{"id":"s","prompt":"7","prompt_id":"7"}`},
		{"state", `{"id":"s","queued":{"id":"q1"},"nudge":true}`, `{"id":"s","queued":{"id":"q1","queue_id":"q1"},"nudge":true}`},
		{"prompt event", `{"id":"s","type":"prompt","time":"t"}`, `{"id":"s","type":"prompt","time":"t","happened_at":"t"}`},
		{"hook event", `{"payload":{"time":1,"x":[{"since":2}]},"bytes":3}`, `{"payload":{"time":1,"x":[{"since":2}]},"bytes":3,"size_bytes":3}`},
		{"a call's input", `{"prompt":{"raw_input":{"prompt":"x","bytes":"7"}}}`, `{"prompt":{"raw_input":{"prompt":"x","bytes":"7"}}}`},
		{"access", `[{"revoked":false}]`, `[{"revoked":false}]`},
		{"guest", `[{"revoked":null}]`, `[{"revoked":null,"revoked_at":null}]`},
		{"x", `{"time":"a\"},{\\","time_":1}` + "\n", `{"time":"a\"},{\\","time_":1,"happened_at":"a\"},{\\"}` + "\n"},
		{"x", `{ "time" : 1 , "a" : [ ] }`, `{ "time" : 1 , "a" : [ ] ,"happened_at":1}`},
		{"x", `{"happened_at":1,"time":2}`, `{"happened_at":1,"time":2}`},
		{"x", `{}`, `{}`},
	} {
		if got := string(WithNewNames([]byte(c.in), c.object)); got != c.want {
			t.Errorf("%s: %s\nbecomes %s\nwant    %s", c.object, c.in, got, c.want)
		}
	}
}

// TestDamagedLinesStay: what isn't JSON is printed as it is.
func TestDamagedLinesStay(t *testing.T) {
	for _, in := range []string{"", "{", `{"time"`, `{"time":`, `{"time":1`, `{"time":"`, `{"time":"\`, `[{"time":1}`, `{"time":1,]`, `{time:1}`, "\x00", strings.Repeat(`{"time":[`, 1000)} {
		if got := string(WithNewNames([]byte(in), "x")); got != in {
			t.Errorf("%q becomes %q", in, got)
		}
	}
}

func TestRenamesAreUnique(t *testing.T) {
	for _, r := range Renames() {
		got, ok := NewNameOf(append(r.In, "")[0], r.Old)
		if !ok || got.New != r.New {
			t.Errorf("%s becomes %+v, want %s", r.Old, got, r.New)
		}
	}
}

func BenchmarkWithNewNames(b *testing.B) {
	line := []byte(`{"cursor":"e12","type":"hook","session":"alpha","id":"01","seq":3,"time":"2026-11-23T14:00:00.000Z","event":"PreToolUse","payload":{"x":"` + strings.Repeat("y", 1000) + `"},"bytes":1000}`)
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		WithNewNames(line, "hook event")
	}
}

// TestPageListsRenames: docs/json.md has each rename, and no other.
func TestPageListsRenames(t *testing.T) {
	page, err := os.ReadFile("../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), "| old | new | of |\n| --- | --- | --- |\n")
	if !found {
		t.Fatal("docs/json.md has no table of renames")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	var want strings.Builder
	for _, r := range Renames() {
		of := "any object"
		if len(r.In) > 0 {
			of = "`" + strings.Join(r.In, "`, `") + "`"
		}
		if r.Text {
			of += ", if it is a string"
		}
		fmt.Fprintf(&want, "| `%s` | `%s` | %s |\n", r.Old, r.New, of)
	}
	if table+"\n" != want.String() {
		t.Errorf("the table in docs/json.md is\n%s\nwant\n%s", table, want.String())
	}
}
