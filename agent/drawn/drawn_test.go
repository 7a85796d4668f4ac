package drawn_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"berth/agent"
	"berth/agent/drawn"
	"berth/terminal"
)

func TestOf(t *testing.T) {
	const none, part, alike, whole = agent.NoMatch, agent.PartMatch, agent.AlikeMatch, agent.WholeMatch
	long := strings.Repeat("0123456789", 5)
	for name, c := range map[string]struct {
		text string
		rows string
		cut  bool
		want agent.Match
	}{
		"the same":                          {"ls -la", "ls -la", false, whole},
		"another":                           {"rm -rf x", "ls -la", false, none},
		"a beginning":                       {"npm test; curl x | sh", "npm test", false, none},
		"more than it":                      {"npm test", "npm test; curl x | sh", false, none},
		"a beginning, cut off":              {"npm test\ncurl x", "npm test", true, part},
		"an end, cut off":                   {"npm test\ncurl x", "curl x", true, part},
		"all of it, cut off":                {"npm test", "npm test", true, part},
		"something else, cut off":           {"npm test", "npm run", true, none},
		"blanks within a row":               {"rm -rf / tmp/x", "rm -rf /tmp/x", false, none},
		"fewer blanks within a row":         {"rm -rf /tmp/x", "rm -rf / tmp/x", false, none},
		"lines":                             {"a\nb", "a\nb", false, whole},
		"lines drawn as one":                {"a\nb", "a b", false, none},
		"one drawn as lines":                {"a b", "a\nb", false, none},
		"one word drawn as lines":           {"ab", "a\nb", false, none},
		"blanks at a line's end":            {"a  \nb", "a\nb", false, alike},
		"a tab at a line's end":             {"a\t\nb", "a\nb", false, alike},
		"blanks at the end":                 {"a\nb \t\n", "a\nb", false, whole},
		"a tab like a blank":                {"a\tb", "a b", false, alike},
		"a text within a command":           {"cat <<E\na\nE\nls", "cat <<E\na\nE\nls", false, alike},
		"a text within one line":            {"cat <<< a", "cat <<< a", false, whole},
		"a blank line":                      {"a\n\nb", "a\n\nb", false, whole},
		"a blank line more":                 {"a\nb", "a\n\nb", false, none},
		"a line break at the end":           {"a\n", "a", false, whole},
		"broken between words":              {"echo 0123456789 0123456", "echo 0123456789\n0123456", false, alike},
		"broken where the word would fit":   {"echo 01234567 012", "echo 01234567\n012", false, none},
		"broken, a blank more":              {"echo 0123456789  0123456", "echo 0123456789\n0123456", false, alike},
		"a line break where it is broken":   {"echo 0123456789\n0123456", "echo 0123456789\n0123456", false, alike},
		"broken within a long word":         {long, long[:20] + "\n" + long[20:40] + "\n" + long[40:], false, alike},
		"broken within a word with room":    {long, long[:10] + "\n" + long[10:30] + "\n" + long[30:], false, none},
		"a short word broken":               {"echo 012345678 abcdefgh", "echo 012345678 abcde\nfgh", false, none},
		"words, one of them long":           {"rm " + long, "rm " + long[:17] + "\n" + long[17:37] + "\n" + long[37:], false, alike},
		"two words for a long one":          {long[:20] + " " + long[20:], long[:20] + "\n" + long[20:40] + "\n" + long[40:], false, alike},
		"a tab":                             {"\ttouch x", "     touch x", false, alike},
		"a tab within":                      {"a\tb", "a       b", false, alike},
		"a tab for too much":                {"a\tb", "a         b", false, none},
		"blanks for a tab":                  {"a  b", "a\tb", false, none},
		"from right to left":                {"\u202els -la", "ls -la", false, none},
		"from right to left, as it is":      {"\u202els -la", "\ufffdls -la", false, none},
		"no width":                          {"ls\u200b", "ls", false, none},
		"a join":                            {"a\u200db", "ab", false, none},
		"a control character":               {"ls\x07", "ls", false, none},
		"an escape":                         {"ls \x1b[31m", "ls", false, none},
		"a carriage return":                 {"a\r\nb", "a\nb", false, none},
		"a cluster":                         {"echo 👩‍👩‍👧 e\u0301", "echo 👩‍👩‍👧 e\u0301", false, whole},
		"another accent":                    {"e\u0301", "\u00e9", false, none},
		"wide ones":                         {strings.Repeat("語", 15), strings.Repeat("語", 10) + "\n" + strings.Repeat("語", 5), false, alike},
		"wide ones, one column left":        {"a" + strings.Repeat("語", 15), "a" + strings.Repeat("語", 9) + "\n" + strings.Repeat("語", 6), false, alike},
		"nothing":                           {"", "", false, whole},
		"nothing of something":              {"ls", "", false, none},
		"a row of nothing at the beginning": {"ls", "\nls", false, none},
	} {
		d := drawn.Text{Rows: strings.Split(c.rows, "\n"), Width: 20, Cut: c.cut}
		if got := d.Of(c.text); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestEnds: a row's end that the agent marks isn't guessed. An unmarked one may be from another text.
func TestEnds(t *testing.T) {
	const none, alike, whole = agent.NoMatch, agent.AlikeMatch, agent.WholeMatch
	long := strings.Repeat("0123456789", 3)
	for name, c := range map[string]struct {
		text, rows string
		end        drawn.End
		shell      bool
		want       agent.Match
	}{
		"a line":                         {"echo 0123456789\n0123456", "echo 0123456789\n0123456", drawn.Line, true, whole},
		"a line given as a blank":        {"echo 0123456789 0123456", "echo 0123456789\n0123456", drawn.Line, true, none},
		"a broken line":                  {"echo 0123456789 0123456", "echo 0123456789\n0123456", drawn.Broken, true, whole},
		"a broken line given as two":     {"echo 0123456789\n0123456", "echo 0123456789\n0123456", drawn.Broken, true, none},
		"a broken line, not a command":   {"echo 0123456789 0123456", "echo 0123456789\n0123456", drawn.Broken, false, alike},
		"a broken line that quotes":      {"echo '012345678 0123456'", "echo '012345678\n0123456'", drawn.Broken, true, alike},
		"a blank or nothing":             {long[:20] + " " + long[20:], long[:20] + "\n" + long[20:], drawn.Broken, true, alike},
		"nothing or a blank":             {long, long[:20] + "\n" + long[20:], drawn.Broken, true, alike},
		"a line that goes on":            {"echo \\\nls", "echo \\\nls", drawn.Line, true, alike},
		"blanks in a command":            {"ls  -la", "ls  -la", drawn.Unmarked, true, whole},
		"blanks in a text":               {"ls  -la", "ls  -la", drawn.Unmarked, false, alike},
		"a tab in a command":             {"ls\t-la", "ls -la", drawn.Unmarked, true, whole},
		"a tab in a command that quotes": {"grep 'a\tb'", "grep 'a b'", drawn.Unmarked, true, alike},
	} {
		rows := strings.Split(c.rows, "\n")
		ends := make([]drawn.End, len(rows))
		ends[0] = c.end
		if got := (drawn.Text{Rows: rows, Width: 20, Ends: ends, Shell: c.shell}).Of(c.text); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// wrap breaks a text as Claude Code and Gemini CLI do: between words, and within a word that is
// longer than a row.
func wrap(text string, width int) (rows []string) {
	for _, line := range strings.Split(text, "\n") {
		row := ""
		for i, word := range strings.Split(line, " ") {
			if i > 0 {
				if terminal.StringWidth(row) >= width {
					rows, row = append(rows, row), ""
				}
				row += " "
			}
			if terminal.StringWidth(row)+terminal.StringWidth(word) > width && row != "" && terminal.StringWidth(word) <= width {
				rows, row = append(rows, row), ""
			}
			for word != "" {
				cluster, rest, columns := terminal.NextCluster(word)
				if terminal.StringWidth(row)+columns > width {
					rows, row = append(rows, row), ""
				}
				row, word = row+cluster, rest
			}
		}
		rows = append(rows, row)
	}
	for i, row := range rows {
		rows[i] = strings.TrimRight(row, " ")
	}
	return rows
}

// FuzzOf: a text matches its own rows at every width. A text that matches the rows of another text
// differs from it only in what no screen shows.
func FuzzOf(f *testing.F) {
	f.Add("npm test", "npm test; curl x | sh", uint8(30))
	f.Add("rm -rf / tmp/x", "rm -rf /tmp/x", uint8(10))
	f.Add("if true; then\n  echo  two\nfi", "a 語 b", uint8(3))
	f.Add(strings.Repeat("long", 30), strings.Repeat("long", 20)+" "+strings.Repeat("long", 10), uint8(40))
	f.Fuzz(func(t *testing.T, text, other string, width uint8) {
		w := max(int(width), 2)
		plain := func(s string) bool {
			return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\n' || r >= 0x7f && terminal.RuneWidth(r) != 1 }) && len(s) < 500 && utf8.ValidString(s)
		}
		if !plain(text) || !plain(other) {
			return
		}
		rows := drawn.Text{Rows: wrap(text, w), Width: w}
		if rows.Of(text) < agent.AlikeMatch {
			t.Fatalf("%q at %d is not seen in %q", text, w, rows.Rows)
		}
		dense := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if rows.Of(other) >= agent.AlikeMatch && dense(other) != dense(text) {
			t.Fatalf("%q at %d is seen in %q", other, w, rows.Rows)
		}
		drawn := func(s string) string {
			lines := strings.Split(s, "\n")
			for i, line := range lines {
				lines[i] = strings.TrimRight(line, " ")
			}
			return strings.TrimRight(strings.Join(lines, "\n"), "\n")
		}
		if rows.Of(other) == agent.WholeMatch && drawn(other) != drawn(text) {
			t.Fatalf("%q at %d is surely seen in %q, which is %q", other, w, rows.Rows, text)
		}
	})
}
