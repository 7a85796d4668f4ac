// Package pattern has regular expressions that are compiled when they are first used. The drivers
// have a hundred of them. Without this package each start of berth would compile them, even for a
// verb that needs no agent: 1.4 of its 3.4 ms.
package pattern

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Pattern is a regular expression of regexp's syntax. Any number of goroutines may use it.
type Pattern struct{ compiled func() *regexp.Regexp }

// New returns the pattern with that text. A wrong one panics at its first use, so the tests of its
// package must use each pattern.
func New(text string) *Pattern {
	return &Pattern{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
}

// The methods below do what those of *regexp.Regexp do.

func (p *Pattern) MatchString(s string) bool { return p.compiled().MatchString(s) }

func (p *Pattern) FindString(s string) string { return p.compiled().FindString(s) }

func (p *Pattern) FindStringIndex(s string) []int { return p.compiled().FindStringIndex(s) }

func (p *Pattern) FindStringSubmatch(s string) []string { return p.compiled().FindStringSubmatch(s) }

func (p *Pattern) FindAllStringIndex(s string, n int) [][]int {
	return p.compiled().FindAllStringIndex(s, n)
}

func (p *Pattern) FindAllStringSubmatch(s string, n int) [][]string {
	return p.compiled().FindAllStringSubmatch(s, n)
}

func (p *Pattern) ReplaceAllString(s, with string) string {
	return p.compiled().ReplaceAllString(s, with)
}

func (p *Pattern) ReplaceAllStringFunc(s string, with func(string) string) string {
	return p.compiled().ReplaceAllStringFunc(s, with)
}

// Number parses digits that a pattern matched; 0 when they overflow an int.
func Number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}

// NumberIn is the number that the groups of the text's first match have; 0 without a match.
func (p *Pattern) NumberIn(text string) int {
	m := p.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	return Number(strings.Join(m[1:], ""))
}

// Group is the first group of the text's first match; empty without a match.
func (p *Pattern) Group(text string) string {
	m := p.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return m[1]
}
