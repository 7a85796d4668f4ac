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
	// maxPattern bounds a caller's regular expression, in bytes. With maxProgram it bounds the cost
	// of compiling one: 20 ms and 9 MB for the worst found, 340 times \pL.
	maxPattern = 1 << 10
	// maxProgram bounds a compiled expression, in instructions. Matching takes a step for each
	// instruction and character: 10 ms for a line of the widest screen.
	maxProgram = 1000
	// matchersMost is how many calls of one caller may search for a text at once.
	matchersMost = 16
	// matchRest is how long a caller's next search waits, as a multiple of the time the last one
	// took. All calls of one caller together use a quarter of a core.
	matchRest = 3
)

// compilePattern compiles a caller's regular expression within these bounds.
func compilePattern(option, pattern string) (*regexp.Regexp, error) {
	if len(pattern) > maxPattern {
		return nil, api.Errorf(api.CodeLimit, "%s is %d bytes long: the limit is %d", option, len(pattern), maxPattern)
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, api.Errorf(api.CodeUsage, "%s: %w", option, err)
	}
	n := atLeast(tree)
	if n <= maxProgram { // larger ones may take 300 ms and 90 MB to compile
		program, err := syntax.Compile(tree.Simplify())
		if err != nil {
			return nil, api.Errorf(api.CodeUsage, "%s: %w", option, err)
		}
		n = len(program.Inst)
	}
	if n > maxProgram {
		return nil, api.Errorf(api.CodeLimit, "%s takes %d steps for each character: the limit is %d. Repeat less, such as x* for x{0,900}", option, n, maxProgram)
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, api.Errorf(api.CodeUsage, "%s: %w", option, err)
	}
	return re, nil
}

// atLeast is a lower bound of the instructions that an expression compiles to, computed from
// its repeats. The parser allows at most 1,000 repeats, nested ones multiplied.
func atLeast(re *syntax.Regexp) int {
	n := 0
	for _, sub := range re.Sub {
		n += atLeast(sub)
	}
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpRepeat:
		if re.Max < 0 {
			return n * max(re.Min, 1)
		}
		return n*re.Max + re.Max - re.Min // each optional repeat costs one more
	case syntax.OpConcat, syntax.OpAlternate:
		return n
	}
	return n + 1
}

// matchers are the calls that search for a text, by caller. The zero value is empty.
type matchers struct {
	mu sync.Mutex
	of map[string]*matcher
}

// matcher is shared by all calls of one caller. It outlives the calls until its pause is over,
// so that consecutive calls pause as well.
type matcher struct {
	calls int           // under matchers.mu
	turn  chan struct{} // held by the current work
	next  time.Time     // when the next work may start; owned by the turn, and without calls by matchers.mu
}

// callKind is why a call takes processor time: the end of the refusal of one too many. Each kind is counted
// alone, since a watch with --jq may run for days.
type callKind string

const (
	searches callKind = "that search for a text: wait for several sessions in one call, as in wait A B --text REGEX"
	shapes   callKind = "with --jq or --format: end one, or read the JSON with a jq of your own"
	// documents wait for each other. None is refused, because each is soon read.
	documents callKind = "with --config -"
)

// enter counts a call until leave, or refuses it if the caller has too many.
func (m *matchers) enter(id keys.Identity, kind callKind) (one *matcher, leave func(), err error) {
	who := string(kind) + " " + string(id.Kind) + " " + id.Name + " " + id.Fingerprint
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of == nil {
		m.of = map[string]*matcher{}
	}
	now := time.Now()
	for who, other := range m.of {
		if other.calls == 0 && !now.Before(other.next) {
			delete(m.of, who)
		}
	}
	one = m.of[who]
	if one == nil {
		one = &matcher{turn: make(chan struct{}, 1)}
		m.of[who] = one
	}
	if one.calls >= matchersMost && kind != documents {
		return nil, nil, api.Errorf(api.CodeLimit, "you already have %d calls %s", matchersMost, kind)
	}
	one.calls++
	return one, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if one.calls--; one.calls == 0 && !time.Now().Before(one.next) {
			delete(m.of, who)
		}
	}, nil
}

// look says whether a line matches.
func (m *matcher) look(ctx context.Context, re *regexp.Regexp, lines []string) (met bool, err error) {
	err = m.work(ctx, func() error {
		for _, line := range lines {
			if err := ctx.Err(); err != nil {
				return err
			}
			if met = re.MatchString(line); met {
				break
			}
		}
		return nil
	})
	return met, err
}

// compile compiles the caller's pattern.
func (m *matcher) compile(ctx context.Context, option, pattern string) (re *regexp.Regexp, err error) {
	err = m.work(ctx, func() error {
		re, err = compilePattern(option, pattern)
		return err
	})
	return re, err
}

// work does one piece of a caller's work. Pieces run one after another with a pause between
// them. It ends with ctx.
func (m *matcher) work(ctx context.Context, do func() error) error {
	select {
	case m.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-m.turn }()
	if rest := time.Until(m.next); rest > 0 {
		if err := pause(ctx, rest); err != nil {
			return err
		}
	}
	began := time.Now()
	defer func() { m.next = restUntil(began, time.Now()) }()
	return do()
}

// restUntil is when the next work may start, after work that took from began to ended.
func restUntil(began, ended time.Time) time.Time { return ended.Add(matchRest * ended.Sub(began)) }
