package config

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"

	"berth/api"
)

// Fleet is the server's part in a fleet of servers: its gateway, one of its hosts, or none.
type Fleet struct {
	Listen     string   `yaml:"listen"`           // HOST:PORT for the hosts; set: the server is a gateway
	PublicHost string   `yaml:"public_host"`      // how hosts reach it: HOST or HOST:PORT
	Name       string   `yaml:"name"`             // of the gateway in the fleet; empty: the machine's name
	Labels     []string `yaml:"labels"`           // of this host, for new --host any --label L
	Join       string   `yaml:"join"`             // a token, used when the server is in no fleet yet
	Program    string   `yaml:"program" path:"y"` // the berth-fleet binary; empty: beside berth

	// The server is the gateway of a fleet on a NATS cluster that other people run.
	NATS        []string `yaml:"nats"`                  // its URLs
	NATSAccount string   `yaml:"nats_account" path:"y"` // the file with the key of the fleet's account
	NATSCA      string   `yaml:"nats_ca" path:"y"`      // the file with the authority of its TLS certificates; empty: the system's
}

// IsGateway says whether the server is a fleet's gateway.
func (f Fleet) IsGateway() bool { return f.Listen != "" || len(f.NATS) > 0 }

// ReadAccount reads the file of nats_account, which no other user may read or write.
func (f Fleet) ReadAccount() (string, error) {
	data, err := readPrivate(f.NATSAccount)
	if err != nil {
		return "", Problems{fileProblem(f.NATSAccount, err)}
	}
	return string(data), nil
}

// maxLabels is more labels than anyone chooses hosts by.
const maxLabels = 32

// HostName is the server's own name in its fleet.
func (f Fleet) HostName() string {
	if f.Name != "" {
		return f.Name
	}
	name, _ := os.Hostname()
	name, _, _ = strings.Cut(strings.ToLower(name), ".")
	if api.CheckHost(name) != nil {
		return "gateway"
	}
	return name
}

// Address is where hosts reach the gateway that listens on that address.
func (f Fleet) Address(listens string) string {
	host, port, err := net.SplitHostPort(listens)
	if err != nil {
		return listens
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
		if name, err := os.Hostname(); err == nil {
			host = name
		}
	}
	if f.PublicHost != "" {
		if h, p, err := net.SplitHostPort(f.PublicHost); err == nil {
			host, port = h, p
		} else {
			host = f.PublicHost
		}
	}
	return net.JoinHostPort(host, port)
}

func (v *validation) fleet(f Fleet) {
	if f.Listen != "" {
		if _, port, err := net.SplitHostPort(f.Listen); err != nil {
			v.add("fleet.listen", quote(f.Listen)+" isn't a valid address", "write HOST:PORT, such as 0.0.0.0:2223")
		} else if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			v.add("fleet.listen", quote(port)+" isn't a valid port", "write a number from 0 (any free one) to 65535")
		}
	}
	if f.IsGateway() && f.Join != "" {
		v.add("fleet.join", "a server is a fleet's gateway or one of its hosts", "remove join, or what makes it a gateway (listen, nats)")
	}
	v.cluster(f)
	if f.Name != "" {
		if err := api.CheckHost(f.Name); err != nil {
			v.add("fleet.name", err.Error(), "")
		}
	}
	if f.PublicHost != "" && f.Listen == "" {
		v.add("fleet.public_host", "hosts reach a gateway by it, and this server is none", "set fleet.listen too, or remove it")
	} else if f.PublicHost != "" {
		v.publicHost("fleet.public_host", f.PublicHost)
	}
	if len(f.Labels) > maxLabels {
		v.add("fleet.labels", fmt.Sprintf("%d labels are too many", len(f.Labels)), fmt.Sprintf("give at most %d", maxLabels))
	}
	for i, label := range f.Labels {
		if err := api.CheckTag(label); err != nil {
			v.add(fmt.Sprintf("fleet.labels[%d]", i), err.Error(), "")
		}
	}
}

// mostURLs bounds the URLs of a cluster: a token has them all.
const mostURLs = 16

// cluster checks what names a NATS cluster.
func (v *validation) cluster(f Fleet) {
	switch {
	case len(f.NATS) == 0 && f.NATSAccount != "":
		v.add("fleet.nats_account", "it is the key of an account on a NATS cluster, and no cluster is named", "set fleet.nats too, or remove it")
	case len(f.NATS) == 0 && f.NATSCA != "":
		v.add("fleet.nats_ca", "it is the authority of a NATS cluster, and no cluster is named", "set fleet.nats too, or remove it")
	case len(f.NATS) == 0:
		return
	case f.Listen != "":
		v.add("fleet.nats", "a gateway has a NATS server of its own or uses a cluster", "remove nats or listen")
	case f.NATSAccount == "":
		v.add("fleet.nats", "the key of the fleet's account on the cluster is missing", "name its file with fleet.nats_account")
	}
	if len(f.NATS) > mostURLs {
		v.add("fleet.nats", fmt.Sprintf("%d URLs are too many", len(f.NATS)), fmt.Sprintf("give at most %d: a client learns the others from the cluster", mostURLs))
	}
	for i, text := range f.NATS {
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "tls" || u.User != nil || u.Port() == "" || !hostName.MatchString(u.Hostname()) || text != "tls://"+u.Host {
			v.add(fmt.Sprintf("fleet.nats[%d]", i), quote(text)+" isn't a valid URL of a NATS server with TLS", "write tls://HOST:PORT, such as tls://nats1.example.org:4222")
		}
	}
}
