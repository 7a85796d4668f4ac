package sessions

import "sync"

// versions keeps the versions of programs that were asked for theirs: a program is asked again when
// its file has changed. The zero value is empty.
type versions struct {
	mu   sync.Mutex // held while a program runs, so that only one does
	said map[string]string
}
