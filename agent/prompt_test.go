package agent

import "testing"

// TestSign: the digest is over what is asked, also where a question is known by its
// text and its options alone.
func TestSign(t *testing.T) {
	ask := func(text string, options ...string) string {
		r := &Request{Type: PromptQuestion, Title: Pointer("line"), Text: Pointer(text), Options: options}
		r.Sign()
		return r.Digest
	}
	one := ask("Keep all?", "Yes", "No")
	if ask("Keep all?", "Yes", "No") != one {
		t.Error("the same question has two digests")
	}
	if ask("Delete all?", "Yes", "No") == one || ask("Keep all?", "No", "Yes") == one {
		t.Error("another question has the same digest")
	}
}
