package main

import (
	"strings"

	"github.com/spf13/pflag"

	"berth/config"
)

// flagOf are flags whose names differ from the field's.
var flagOf = map[string]string{"host_keys": "host-key"}

// helpOf describes the fields briefly; docs/configuration.md has the details.
var helpOf = map[string]string{
	"listen":                         "`address` to listen on; port 0 takes a free one",
	"listen_metrics":                 "loopback `address` or Unix socket for Prometheus",
	"state_dir":                      "`folder` of keys, sessions and events",
	"runtime_dir":                    "`folder` of the sockets",
	"hold":                           "berth-hold `file` that runs sessions and takes hooks; empty: next to berth",
	"authorized_keys":                "`file` of keys that may log in (repeatable)",
	"revoked_keys":                   "`file` of revoked keys and certificates",
	"authorize":                      "public key `file` to admit as admin (repeatable)",
	"host_keys":                      "private key `file` of the server (repeatable)",
	"stop_sessions":                  "end the sessions at shutdown; else they keep running",
	"local":                          "what callers on the socket are: `role`, or key",
	"new":                            "what sessions are started from: any or profiles",
	"log_level":                      "debug, info, warn or error",
	"log_format":                     "text or json",
	"prefix":                         "prefix `key` of attached terminals, or two, such as Ctrl-]",
	"public_host":                    "`host` or host:port where clients reach the server",
	"clipboard":                      "whose clipboards programs set: `off, writer or all`; the flag alone: all",
	"limits.max_startups":            "`connections` at once that have not logged in",
	"limits.per_source":              "of these, `connections` from one address",
	"limits.login_grace":             "`time` a client has to log in",
	"limits.max_auth_tries":          "`keys` a client may offer",
	"limits.channels_per_connection": "`channels` at once on one connection",
	"limits.env_bytes":               "`bytes` of environment kept of a client",
	"limits.command_bytes":           "`bytes` of a command line",
	"limits.input_bytes":             "`bytes` of one verb's standard input",
	"limits.verbs_per_second":        "`verbs` of one identity each second",
	"limits.logins_per_second":       "`logins` of one identity each second",
	"limits.connections":             "`connections` at once",
	"limits.caller_connections":      "`connections` at once of one key or session",
	"limits.caller_channels":         "`channels` at once of one key or session",
	"limits.caller_unread":           "`bytes` of one key's or session's input that are not yet read",
	"limits.penalty":                 "penalty `time` of a source for each refused login",
	"limits.penalty_from":            "penalty `time` from which a source is refused",
	"limits.penalty_most":            "largest penalty `time` of a source",
	"limits.penalty_exempt":          "`network` without penalties (repeatable)",
	"retention.ended":                "`time` that ended sessions are kept",
	"retention.keep":                 "`sessions` kept of the ended ones",
	"retention.total":                "`bytes` that ended sessions may take",
	"retention.audit":                "`bytes` that the audit log may take",
	"retention.audit_age":            "`time` that lines of the audit log are kept",
	"fleet.listen":                   "`address` for a fleet's hosts: the server is a gateway",
	"fleet.public_host":              "`host` or host:port where the fleet's hosts reach the gateway",
	"fleet.name":                     "`name` of the gateway in its fleet",
	"fleet.labels":                   "`label` of this host (repeatable)",
	"fleet.join":                     "`token` to join a fleet with, if the server is in none",
	"fleet.program":                  "berth-fleet `file` that a gateway runs; empty: next to berth",
	"fleet.nats":                     "`URL` of a NATS cluster that carries the fleet: the server is a gateway (repeatable)",
	"fleet.nats_account":             "`file` with the key of the fleet's account on that cluster",
	"fleet.nats_ca":                  "`file` with the authority of that cluster's certificates; empty: the system's",
	"audit.ship.command":             "`program` that gets the audit log's lines; repeat the option for its arguments",
	"audit.ship.syslog":              "syslog's `socket`, or tcp://HOST:PORT, that gets the audit log's lines",
	"audit.ship.http":                "`URL` that the audit log's lines are posted to",
	"audit.ship.token":               "bearer `token` for it",
	"retention.transcripts":          "`bytes` that one session's saved transcripts may take",
}

// setting collects the values of one flag.
type setting struct {
	values []string
	word   string // what kind of value it is
}

func (s *setting) String() string { return strings.Join(s.values, ",") }
func (s *setting) Type() string   { return s.word }

func (s *setting) Set(v string) error {
	s.values = append(s.values, v)
	return nil
}

// configFlags makes a flag of every settable field. The result lists the flags that were given.
func configFlags(flags *pflag.FlagSet) func() []config.Setting {
	given := map[string]*setting{}
	for _, field := range config.Settable() {
		name := config.FlagName(field)[2:]
		if n, ok := flagOf[field]; ok {
			name = n
		}
		value := &setting{word: "value"}
		given[field] = value
		flags.Var(value, name, helpOf[field])
		switch field {
		case "stop_sessions":
			value.word = "bool"
			flags.Lookup(name).NoOptDefVal = "true"
		case "clipboard":
			flags.Lookup(name).NoOptDefVal = string(config.ClipboardAll)
		}
	}
	return func() []config.Setting {
		var out []config.Setting
		for field, s := range given {
			for _, v := range s.values {
				out = append(out, config.Setting{Field: field, Value: v})
			}
		}
		return out
	}
}
