package rules

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// matcher is a pattern, and a literal text that every match contains. Most rows don't contain it;
// that check costs a hundredth of a match.
type matcher struct {
	*regexp.Regexp
	literal string
}

// pattern compiles a pattern that Check has accepted; nil for an empty one.
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

// literal is the longest text that every match contains, as far as the pattern's form shows.
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

// find returns the match in the row; nil without one.
func (m *matcher) find(row string) []int {
	if !strings.Contains(row, m.literal) {
		return nil
	}
	return m.FindStringSubmatchIndex(row)
}

// MatchString reports whether the row has a match.
func (m *matcher) MatchString(row string) bool {
	return strings.Contains(row, m.literal) && m.Regexp.MatchString(row)
}
