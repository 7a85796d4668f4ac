package commands

import (
	"context"
	"regexp"
	"regexp/syntax"
	"sync"
	"time"

	"berth/api"
	"berth/keys"
)

const (
	// maxPattern bounds a caller's regular expression in bytes, and with it what it
	// takes to compile one: 5 ms and 3 MB for the worst.
	maxPattern = 1 << 10
	// maxProgram bounds a compiled one in instructions. To match takes a step for each
	// of them and each character: 10 ms for a line of the widest screen.
	maxProgram = 1000
	// matchersMost is how many calls of one caller may look for a text at once.
	matchersMost = 16
	// matchRest is how long a caller's next look waits, in times that the last one took:
	// all calls of one caller together use a quarter of a core.
	matchRest = 3
)

// compilePattern compiles a caller's regular expression, within bounds.
func compilePattern(option, pattern string) (*regexp.Regexp, error) {
	if len(pattern) > maxPattern {
		return nil, api.Errorf(api.CodeLimit, "%s is %d bytes long, and at most %d are taken", option, len(pattern), maxPattern)
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, api.Errorf(api.CodeUsage, "%s: %w", option, err)
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, api.Errorf(api.CodeUsage, "%s: %w", option, err)
	}
	if n := len(program.Inst); n > maxProgram {
		return nil, api.Errorf(api.CodeLimit, "%s takes %d steps for each character, and at most %d are taken: repeat less, as in x* for x{0,900}", option, n, maxProgram)
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, api.Errorf(api.CodeUsage, "%s: %w", option, err)
	}
	return re, nil
}

// matchers are the calls that look for a text, by their callers. The zero value has none.
type matchers struct {
	mu sync.Mutex
	of map[string]*matcher
}

// matcher is what one caller's calls share.
type matcher struct {
	calls int           // under matchers.mu
	turn  chan struct{} // of the look that is under way
	next  time.Time     // when the next may begin; owned by the turn
}

// enter counts a call in until leave, or says that it is one too many.
func (m *matchers) enter(id keys.Identity) (one *matcher, leave func(), err error) {
	who := string(id.Kind) + " " + id.Name + " " + id.Fingerprint
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of == nil {
		m.of = map[string]*matcher{}
	}
	one = m.of[who]
	if one == nil {
		one = &matcher{turn: make(chan struct{}, 1)}
		m.of[who] = one
	}
	if one.calls >= matchersMost {
		return nil, nil, api.Errorf(api.CodeLimit, "%d calls of yours look for a text already: wait for several sessions in one call, as in wait A B --text REGEX", matchersMost)
	}
	one.calls++
	return one, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if one.calls--; one.calls == 0 {
			delete(m.of, who)
		}
	}, nil
}

// look says whether a line matches. The caller's looks come one after the other, and
// rest between them. It ends with ctx.
func (m *matcher) look(ctx context.Context, re *regexp.Regexp, lines []string) (bool, error) {
	select {
	case m.turn <- struct{}{}:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	defer func() { <-m.turn }()
	if rest := time.Until(m.next); rest > 0 {
		if err := pause(ctx, rest); err != nil {
			return false, err
		}
	}
	began := time.Now()
	defer func() { m.next = restUntil(began, time.Now()) }()
	for _, line := range lines {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if re.MatchString(line) {
			return true, nil
		}
	}
	return false, nil
}

// restUntil is when the look after one that took from began to ended may begin.
func restUntil(began, ended time.Time) time.Time { return ended.Add(matchRest * ended.Sub(began)) }
