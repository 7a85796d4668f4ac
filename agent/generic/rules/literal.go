package rules

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// matcher is a pattern with a text that all that it matches contains: most rows
// are passed over by looking for that, which costs a hundredth.
type matcher struct {
	*regexp.Regexp
	literal string
}

// pattern is one that was checked; nil for none.
func pattern(text string) *matcher {
	if text == "" {
		return nil
	}
	m := &matcher{Regexp: regexp.MustCompile(text)}
	if tree, err := syntax.Parse(text, syntax.Perl); err == nil {
		m.literal = literal(tree)
	}
	return m
}

// literal is the longest text that stands in all that the pattern matches, as
// far as its form tells.
func literal(tree *syntax.Regexp) string {
	best := ""
	switch tree.Op {
	case syntax.OpLiteral:
		if tree.Flags&syntax.FoldCase == 0 {
			best = string(tree.Rune)
		}
	case syntax.OpConcat, syntax.OpCapture, syntax.OpPlus:
		for _, sub := range tree.Sub {
			if one := literal(sub); len(one) > len(best) {
				best = one
			}
		}
	}
	return best
}

// find is the match in the row, nil when there is none.
func (m *matcher) find(row string) []int {
	if !strings.Contains(row, m.literal) {
		return nil
	}
	return m.FindStringSubmatchIndex(row)
}

// MatchString says whether the row has a match.
func (m *matcher) MatchString(row string) bool {
	return strings.Contains(row, m.literal) && m.Regexp.MatchString(row)
}
