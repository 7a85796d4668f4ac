package track

import (
	"time"

	"berth/detect"
	"berth/terminal"
)

// SourceWord is the last report of a source at one time.
type SourceWord struct {
	Source   string `json:"source"`
	Tier     int    `json:"tier"`
	Kind     string `json:"kind"`
	Cause    string `json:"cause"`
	Evidence string `json:"evidence"`
	AgeMS    int64  `json:"age_ms"`  // at that moment
	Foreign  bool   `json:"foreign"` // of another conversation, so it changes nothing
}

// evidenceKept is how many characters of a source's evidence are kept. With at most 16 sources that is about
// 4 KB for each change of the state.
const evidenceKept = 160

// sourceWords are the sources' last reports, short and printable.
func sourceWords(words []detect.Word, now time.Time) []SourceWord {
	var list []SourceWord
	for _, w := range words {
		list = append(list, SourceWord{
			Source: string(w.Source), Tier: w.Tier, Kind: string(w.Kind), Cause: short(w.Cause), Evidence: short(w.Evidence),
			AgeMS: max(now.Sub(w.Time).Milliseconds(), 0), Foreign: w.Foreign,
		})
	}
	return list
}

func short(s string) string {
	r := []rune(terminal.Printable(s))
	if len(r) > evidenceKept {
		return string(r[:evidenceKept-1]) + "…"
	}
	return string(r)
}

// some replaces a nil list by an empty one.
func some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// orNil makes an empty text null in JSON.
func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
