package track

import (
	"time"

	"berth/detect"
	"berth/terminal"
)

// SourceWord is the last that a source said by some moment.
type SourceWord struct {
	Source   string `json:"source"`
	Tier     int    `json:"tier"`
	Kind     string `json:"kind"`
	Cause    string `json:"cause"`
	Evidence string `json:"evidence"`
	AgeMS    int64  `json:"age_ms"`  // at that moment
	Foreign  bool   `json:"foreign"` // of another conversation: it moves nothing
}

// evidenceKept is how many characters of a source's evidence an answer and an
// event hold; with at most 16 words that is some 4 KB a change of state.
const evidenceKept = 160

// sourceWords is what the sources had said by now, short and safe to show.
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

// some makes a list of what there is none of.
func some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// orNil keeps an empty text null in JSON.
func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
