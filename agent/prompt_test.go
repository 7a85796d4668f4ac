package agent

import "testing"

// TestSign: the digest covers what is asked, also where only the text and the options of a question
// are known.
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
