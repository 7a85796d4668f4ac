package sessions

import (
	"path/filepath"

	"berth/agent"
	"berth/api"
	"berth/detect/tail"
	"berth/sessions/gates/transcript"
)

// transcripts is the store of the session's. Its folder of logs is settled when
// the program starts.
func (s *Session) transcripts(logs tail.Below) *transcript.Store {
	s.storing.Lock()
	defer s.storing.Unlock()
	if s.store == nil || s.storeOf != logs {
		s.storeOf = logs
		s.store = transcript.Open(filepath.Join(s.dir, "transcripts"), logs, s.reg.options.Retention.Transcripts, func() api.Time { return api.At(s.reg.now()) })
	}
	return s.store
}

// Transcripts are the parts of the agent's session log: those that were saved
// at a clear or a compaction, and the log itself.
func (s *Session) Transcripts() (*transcript.Store, error) {
	st := s.Status()
	if st.logFolder() == "" {
		return nil, api.Errorf(api.CodeNoDriver, "%s runs %s, which keeps no session log that berth knows; output %s has what it printed", st.Name, st.Agent, st.Name).With("session", st.Name)
	}
	return s.transcripts(st.logs()), nil
}

// TranscriptReader reads conversations from the session's log; nil when the agent's driver doesn't.
func (s *Session) TranscriptReader() agent.TranscriptReader {
	d, _ := s.reg.driver(s.Status().Spec).(agent.TranscriptReader)
	return d
}
