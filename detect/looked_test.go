package detect

import "testing"

// TestOneLook: of two equal calls the look of one that isn't answered is kept, also if the other one had none.
func TestOneLook(t *testing.T) {
	f := &Fold{}
	f.m.Looks = map[string]*tally{"answered": {Given: 1, Of: 1}, "open": {Given: 1, Of: 2}}
	for _, c := range []struct{ newer, older, want string }{
		{"answered", "open", "open"}, {"open", "answered", "open"}, {"", "open", "open"}, {"", "answered", "answered"},
		{"open", "", "open"}, {"answered", "unseen", "unseen"}, {"", "", ""},
	} {
		if got := f.oneLook(c.newer, c.older); got != c.want {
			t.Errorf("%q after %q: %q, want %q", c.newer, c.older, got, c.want)
		}
	}
}

// TestAnswersBeforeACall: answers at a look are no more than its calls, so none counts for a call that comes later.
func TestAnswersBeforeACall(t *testing.T) {
	f := &Fold{}
	f.m.Calls = []call{{Look: "k"}}
	f.gives("k", "a key")
	f.gives("k", "the next key")
	if !f.isAnswered("k") {
		t.Error("the only call isn't answered")
	}
	f.m.Calls = append(f.m.Calls, call{Look: "k"})
	f.recount()
	if f.isAnswered("k") {
		t.Error("the next call is answered")
	}
	f.gives("k", "a third key")
	if !f.isAnswered("k") {
		t.Error("both aren't answered")
	}
}
