package loop

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"berth/sessions/hold"
)

// writeJournal makes a session's folder as a holder does: output from an offset on, and control
// records at offsets.
func writeJournal(t *testing.T, from int64, output string, at ...int64) string {
	t.Helper()
	dir := t.TempDir()
	var control strings.Builder
	for i, offset := range at {
		line, err := json.Marshal(hold.Record{N: uint64(i + 1), Offset: offset, Kind: "k"})
		if err != nil {
			t.Fatal(err)
		}
		control.Write(append(line, '\n'))
	}
	err := errors.Join(
		os.Mkdir(filepath.Join(dir, "output"), 0o700), os.Mkdir(filepath.Join(dir, "control"), 0o700),
		os.WriteFile(filepath.Join(dir, "output", fmt.Sprintf("%020d.out", from)), []byte(output), 0o600),
		os.WriteFile(filepath.Join(dir, "control", fmt.Sprintf("%020d.jsonl", 1)), []byte(control.String()), 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestJournalKeepsItsOrder: each record is taken in after exactly the output before it. Output that
// is gone is skipped. A journal that resumes goes on after the record that was applied.
func TestJournalKeepsItsOrder(t *testing.T) {
	for name, c := range map[string]struct {
		from    int64
		records []int64
		applied uint64
		offset  int64
		want    []string
	}{
		"all":       {0, []int64{0, 2, 2, 6}, 0, 0, []string{"1", "aa", "2", "3", "bbcc", "4"}},
		"from 2 on": {0, []int64{0, 2, 2, 6}, 2, 2, []string{"3", "bbcc", "4"}},
		"trimmed":   {4, []int64{0, 7, 10}, 0, 0, []string{"1", "skip to 4", "aab", "2", "bcc", "3"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			at := c.offset
			dir := writeJournal(t, c.from, "aabbcc", c.records...)
			j := NewJournal(dir, JournalEnv{
				Offset: func() int64 { return at },
				Output: func(data []byte, live bool) {
					got = append(got, string(data))
					at += int64(len(data))
					if !live {
						t.Error("output is of the past, and no other server was there")
					}
				},
				Skip:    func(to int64) { got, at = append(got, fmt.Sprint("skip to ", to)), to },
				Record:  func(r hold.Record) { got = append(got, fmt.Sprint(r.N)) },
				Trouble: func(what string, err error) { t.Errorf("%s: %v", what, err) }, Cured: func(string) {},
			})
			defer j.Close()
			j.Resume(c.applied)
			j.Replay()
			if !slices.Equal(got, c.want) {
				t.Errorf("took in %q, want %q", got, c.want)
			}
			last := uint64(len(c.records))
			if HasNews(dir, last) || !HasNews(dir, last-1) {
				t.Error("it is not known what is new")
			}
		})
	}
}

// TestUnreadWithoutHolder: a link may break while records are unread. The loop must not spin until there
// is a holder to read from.
func TestUnreadWithoutHolder(t *testing.T) {
	j := NewJournal(t.TempDir(), JournalEnv{})
	defer j.Close()
	if j.unread = true; j.Unread() {
		t.Error("without a holder, records are to be read at once")
	}
}
