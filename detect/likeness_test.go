package detect

import (
	"strings"
	"testing"

	"berth/agent"
)

// TestLikeness: of two calls that a dialog may be about, the one that it shows.
func TestLikeness(t *testing.T) {
	edit := func(file, text string) string { return `{"file_path":"` + file + `","content":"` + text + `"}` }
	for name, c := range map[string]struct{ shown, own, other string }{
		"one begins like the other":      {"Run this? git push -f", "git push -f", "git push"},
		"the shorter of the two":         {"Run this? git push", "git push", "git push -f"},
		"broken into lines":              {"│ git pu\n│ sh -f │", "git push -f", "git push -n"},
		"cut":                            {"echo one; echo tw…", "echo one; echo two; echo three", "echo one; echo 2"},
		"edits of two files":             {"Edit file\n b.txt\n+ hello", edit("/w/b.txt", "hello"), edit("/w/a.txt", "hello")},
		"two texts for one file":         {"Write a.txt\n good-bye", edit("/w/a.txt", "good-bye"), edit("/w/a.txt", "hello")},
		"wide":                           {"echo 日本語の\nテスト", "echo 日本語のテスト", "echo 日本語"},
		"cut, and begins like the other": {"echo one; echo tw…", "echo one; echo two", "echo one"},
		"longer than what is looked at":  {strings.Repeat("x", likenessMost), strings.Repeat("x", likenessMost+1), "xx"},
		"names that differ at their end": {"Read /var/log/app.log.10", "/var/log/app.log.10", "/var/log/app.log.1"},
	} {
		t.Run(name, func(t *testing.T) {
			d := &agent.Dialog{Body: c.shown}
			own, other := like(d, &agent.Request{Input: &c.own}), like(d, &agent.Request{Input: &c.other})
			if !other.less(own) {
				t.Errorf("%+v for the one shown, %+v for the other", own, other)
			}
		})
	}
	if l := like(&agent.Dialog{Body: "anything"}, &agent.Request{}); l != (likeness{}) {
		t.Errorf("nothing asked is seen as %+v", l)
	}
}
