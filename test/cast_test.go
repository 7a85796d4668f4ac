package e2e

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"
)

// checkCast checks that a file is asciicast v2: a header, then events with rising times, of kinds that
// players know, in whole characters. It writes two files: FILE.text with the output, FILE.sizes with the
// resizes.
func checkCast(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: cast FILE")
	}
	head, body, _ := strings.Cut(ts.ReadFile(args[0]), "\n")
	var header struct {
		Version, Width, Height int
		Timestamp              int64
	}
	ts.Check(json.Unmarshal([]byte(head), &header))
	if header.Version != 2 || header.Width < 1 || header.Height < 1 || header.Timestamp == 0 {
		ts.Fatalf("the header is %s", head)
	}
	size := regexp.MustCompile(`^\d+x\d+$`)
	var text, sizes strings.Builder
	var last float64
	for line := range strings.Lines(body) {
		var event [3]any
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			ts.Fatalf("%s: %v", line, err)
		}
		at, isTime := event[0].(float64)
		data, isText := event[2].(string)
		if !isTime || !isText || at < last || !utf8.ValidString(line) || strings.Contains(data, "\ufffd") {
			ts.Fatalf("after %f: %s", last, line)
		}
		last = at
		switch {
		case event[1] == "o":
			text.WriteString(data)
		case event[1] == "r" && size.MatchString(data):
			sizes.WriteString(data + "\n")
		case event[1] == "m": // the marker of a program that still runs
		default:
			ts.Fatalf("players know no such event: %s", line)
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".text"), []byte(text.String()), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".sizes"), []byte(sizes.String()), 0o600))
}
