package main

import (
	"time"

	"berth/api"
	"berth/metrics"
	"berth/sshd"
)

// openMetrics makes the server's metrics. They are answered once the server listens.
func (s *server) openMetrics() {
	s.metrics = metrics.New(metrics.Sources{
		Sessions: s.sessions, Audit: s.audit, Shipped: s.shipped, Edge: func() sshd.Stats { return s.edge.Stats() },
		Started: s.started, Version: api.ThisBuild().Version, Now: time.Now,
	}, s.log)
}

// serveMetrics answers scrapes on listen_metrics, if it is set, until stop is called.
func (s *server) serveMetrics() (stop func(), err error) {
	if s.config.ListenMetrics == "" {
		return func() {}, nil
	}
	at, stop, err := s.metrics.Serve(s.config.ListenMetrics, s.log)
	if err != nil {
		return nil, err
	}
	s.log.Info("listening for scrapes", "listen_metrics", at.String())
	return stop, nil
}

// edgeHealth is what the SSH edge reports about itself.
func (s *server) edgeHealth() map[string]any {
	st := s.edge.Stats()
	return map[string]any{
		"listen": s.edge.Addr().String(), "connections": st.Connections, "logging_in": st.Waiting, "calls": st.Calls, "calls_served": st.Served,
		"logins": st.Logins, "sources_waiting": st.Penalized,
		"refused": map[string]uint64{
			"logins": st.Refused.Logins, "logins_per_second": st.Refused.TooMany, "penalties": st.Refused.Penalized, "max_startups": st.Refused.Dropped,
			"connections": st.Refused.Full, "channels_per_connection": st.Refused.Channels, "caller_unread": st.Refused.Unread, "verbs_per_second": st.Refused.Verbs, "command_bytes": st.Refused.Commands,
		},
		"limits": map[string]any{
			"max_startups": st.Limits.Startups, "per_source": st.Limits.StartupsPerSource, "login_grace_ms": st.Limits.LoginGrace.Milliseconds(),
			"max_auth_tries": st.Limits.AuthTries, "connections": st.Limits.Connections, "channels_per_connection": st.Limits.Channels,
			"caller_connections": st.Limits.Share, "caller_channels": st.Limits.ShareChannels, "caller_unread": st.Limits.ShareUnread,
			"env_bytes": st.Limits.EnvBytes, "command_bytes": st.Limits.CommandBytes, "input_bytes": int64(s.config.Limits.InputBytes),
			"verbs_per_second": st.Limits.Verbs, "logins_per_second": st.Limits.Logins, "penalty_ms": st.Limits.Penalties.Refused.Milliseconds(),
			"penalty_from_ms": st.Limits.Penalties.From.Milliseconds(), "penalty_most_ms": st.Limits.Penalties.Most.Milliseconds(),
		},
	}
}
