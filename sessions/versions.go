package sessions

import "sync"

// versions keeps the versions of programs that were asked for theirs: a program is asked again when
// its file has changed. The zero value is empty.
type versions struct {
	mu   sync.Mutex
	said map[string]string
	// turns are by uid: one program of an OS user runs at once. A program that doesn't answer holds up callers
	// who ask with the same user's rights alone.
	turns slots[int]
}

// known returns what a program said, by the key of its file.
func (v *versions) known(key string) (said string, ok bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	said, ok = v.said[key]
	return said, ok
}

func (v *versions) keep(key, said string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.said == nil || len(v.said) >= 100 { // more than agents are installed, with their updates
		v.said = map[string]string{}
	}
	v.said[key] = said
}
