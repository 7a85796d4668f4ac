package agent

// Withholder is a Driver whose agent shows no dialog while its hook waits for
// the answer. Such a hook waits only while nobody is there who could answer at
// the dialog, and what a hook cannot say is said at the dialog that comes once it
// was let go.
type Withholder interface {
	// Withholds says so of the prompt.
	Withholds(p *Request) bool
}
