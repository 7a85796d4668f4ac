package commands

import (
	"errors"
	"slices"
	"strings"

	"berth/api"
	"berth/audit"
	"berth/keys"
	"berth/sessions"
)

// changes says whether the verb changes something. The audit line of such a verb is written
// before it starts.
func (v *Verb) changes(args []string) bool {
	switch v.Group {
	case "see", "follow":
		return v.Changes != nil && v.Changes(args)
	}
	return true
}

// frees are the verbs that end, release or revoke something. They work even while the audit log
// can't be written, as on a full disk.
var frees = map[string]bool{
	"kill": true, "rm": true, "worktree rm": true, "interrupt": true, "unlock": true, "detach": true, "access rm": true, "fleet rm": true, "fleet leave": true, "guest narrow": true, "guest revoke": true,
}

// entryOf fills in the caller of an entry.
func entryOf(id keys.Identity, client string) audit.Entry {
	return audit.Entry{
		Admin: id.Role == keys.Admin, Identity: id.Name, Caller: string(id.Kind), CallerID: id.Session, Fingerprint: id.Fingerprint, Source: id.Source, PID: id.PID, Client: client,
	}
}

// recorded runs a verb. It writes one line before and one line after, which says how the verb
// ended.
func (c *Call) recorded(v *Verb, run func() error) error {
	if !v.changes(c.Args) {
		return run()
	}
	name := v.Name
	if len(v.Parts) > 0 && len(c.Args) > 0 && slices.Contains(v.Parts, c.Args[0]) {
		name += " " + c.Args[0]
		if len(c.Args) > 1 && slices.Contains(v.Values, c.Args[1]) {
			name += " " + c.Args[1]
		}
	}
	if v.Name == "profile" && len(c.Args) > 1 && api.CheckName(c.Args[1]) == nil {
		name += " " + c.Args[1] // which isn't a session
	}
	subject := c.subject(v)
	var session *sessions.Session
	if _, ok := c.Sessions.Find(subject); !ok {
		session, _ = c.inConversation(subject)
	}
	end, err := c.Service.begin(c.Request, name, subject, session)
	if err != nil {
		return err
	}
	err = run()
	if !end(outcome(err)) {
		c.warn("the audit log can't be written: it has no line for this " + name)
	}
	return err
}

// outcome is the exit status of a verb that ended with err, and the code of a
// failure.
func outcome(err error) (status int, code api.Code) {
	var other statusError
	switch {
	case err == nil:
		return api.StatusDone, ""
	case errors.As(err, &other):
		return int(other), ""
	}
	code = api.AsError(err).Code
	return code.Status(), code
}

// subject is the sessions that the caller named, or the name of the new session. It leaves out
// all other words, such as a command, a key's name or a value of meta.
func (c *Call) subject(v *Verb) string {
	switch {
	case v.NoSession || v.Group == "access" || len(c.Args) == 0:
		return ""
	case v.Name == "new" && c.flags.ArgsLenAtDash() == 0:
		return "" // all words belong to the command
	case slices.Contains(v.Parts, c.Args[0]):
		return strings.Join(c.Args[1:], " ")
	case v.Targets:
		return strings.Join(c.Args, " ")
	}
	return c.Args[0]
}

// begin writes that a verb starts, and returns a function to call at its end. After an error the
// verb must not start.
func (s *Service) begin(r Request, verb, subject string, session *sessions.Session) (end func(status int, code api.Code) (told bool), err error) {
	e := entryOf(r.Identity(), r.Client)
	e.Kind, e.Verb, e.Session = audit.KindVerb, verb, subject
	if session == nil {
		session, _ = s.Sessions.Find(subject)
	}
	if session != nil {
		st := session.Status()
		e.Session, e.ID = st.Name, st.ID
	}
	n, err := s.Audit.Append(e)
	if err != nil && !frees[verb] {
		s.Log.Error("verb refused: the audit log can't be written", "verb", verb, "identity", e.Identity, "error", err)
		return nil, api.Errorf(api.CodeInternal, "%s was not done: the audit log can't be written. The server's log has the reason", verb)
	}
	told := err == nil
	if !told {
		s.missing(e, err)
	}
	return func(status int, code api.Code) bool {
		done := e
		done.Kind, done.Of, done.Status, done.Code = audit.KindDone, n, &status, string(code)
		return s.append(done) && told
	}, nil
}

// Attached writes that an attachment starts, and whether its client may write. The caller runs
// the returned function with the exit status.
func (s *Service) Attached(r Request, to Attachment) (end func(status int, code api.Code) bool, err error) {
	verb := "attach"
	if !to.MayWrite || to.ReadOnly {
		verb = "attach --read-only"
	}
	return s.begin(r, verb, "", to.Session)
}

// Entered writes that a client comes in by another way than a verb. The caller runs the returned
// function with the exit status.
func (s *Service) Entered(r Request, how string) (end func(status int, code api.Code) bool, err error) {
	return s.begin(r, how, "", nil)
}

// refused writes that the caller asked for something that it may not do.
func (c *Call) refused(e *api.Error) {
	entry := entryOf(c.Identity(), c.Client)
	entry.Kind, entry.Verb, entry.Code, entry.Text = audit.KindRefused, c.verbName(), string(e.Code), e.Message
	entry.Session, _ = e.Details["session"].(string)
	if err := c.Audit.Refuse(entry); err != nil {
		c.missing(entry, err)
	}
}

// append writes what has already happened. A failure goes to the server's log.
func (s *Service) append(e audit.Entry) bool {
	_, err := s.Audit.Append(e)
	if err != nil {
		s.missing(e, err)
	}
	return err == nil
}

func (s *Service) missing(e audit.Entry, err error) {
	s.Log.Error("a line is missing from the audit log", "kind", e.Kind, "verb", e.Verb, "identity", e.Identity, "client", e.Client, "error", err)
}
