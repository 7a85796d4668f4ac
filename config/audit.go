package config

import (
	"net"
	"net/url"
	"path/filepath"
	"strings"
)

// Audit is what else is done with the audit log.
type Audit struct {
	Ship Ship `yaml:"ship"`
}

// Ship is where each line of the audit log is sent: one of Command, Syslog and HTTP, or nowhere.
type Ship struct {
	Command []string `yaml:"command"` // gets batches of lines on its standard input
	Syslog  string   `yaml:"syslog"`  // path of a socket, or tcp://HOST:PORT
	HTTP    string   `yaml:"http"`    // URL that batches are posted to
	Token   string   `yaml:"token"`   // bearer token of HTTP
}

// Set says whether the lines are sent anywhere.
func (s Ship) Set() bool { return len(s.Command) > 0 || s.Syslog != "" || s.HTTP != "" }

func (v *validation) ship(s Ship) {
	given := 0
	for _, set := range []bool{len(s.Command) > 0, s.Syslog != "", s.HTTP != ""} {
		if set {
			given++
		}
	}
	if given > 1 {
		v.add("audit.ship", "it has more than one of command, syslog and http", "keep one")
	}
	if len(s.Command) > 0 && s.Command[0] == "" {
		v.add("audit.ship.command", "its first word is empty", "write the program's path")
	}
	if address, tcp := strings.CutPrefix(s.Syslog, "tcp://"); tcp {
		if host, port, err := net.SplitHostPort(address); err != nil || host == "" || port == "" {
			v.add("audit.ship.syslog", quote(s.Syslog)+" isn't a valid address", "write tcp://HOST:PORT")
		}
	} else if strings.HasPrefix(s.Syslog, "udp://") {
		v.add("audit.ship.syslog", "UDP loses lines and doesn't report it", "write tcp://HOST:PORT, or a socket such as /dev/log")
	} else if s.Syslog != "" && !filepath.IsAbs(s.Syslog) {
		v.add("audit.ship.syslog", quote(s.Syslog)+" isn't a socket's path", "write a path such as /dev/log, or tcp://HOST:PORT")
	}
	if s.HTTP != "" {
		if u, err := url.Parse(s.HTTP); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			v.add("audit.ship.http", "it isn't a valid URL", "write https://HOST/PATH")
		}
	}
	if s.Token != "" && s.HTTP == "" {
		v.add("audit.ship.token", "a token is for http", "remove it, or name the service with http")
	}
}
