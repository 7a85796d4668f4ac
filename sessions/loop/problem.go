package loop

import "log/slog"

// Problem is the last failure that a session has survived. Health shows it.
type Problem struct {
	Log     *slog.Logger
	Changed func() // the session's status is to be published

	what, text string
}

// Trouble keeps a failure.
func (p *Problem) Trouble(what string, err error) {
	text := "could not " + what + ": " + err.Error()
	if p.text == text {
		return
	}
	p.what, p.text = what, text
	p.Changed()
	p.Log.Error("could not "+what, "error", err)
}

// Cured takes a failure back once the same thing has worked.
func (p *Problem) Cured(what string) {
	if p.text != "" && p.what == what {
		p.what, p.text = "", ""
		p.Changed()
	}
}

// Text is the failure in words; empty without one.
func (p *Problem) Text() string { return p.text }
