package keys

import (
	"net"
	"net/netip"
	"path"
	"strings"
	"time"
)

// sources is the list of a from= option: an address must match an element and none of the negated ones.
// The zero value matches every address.
type sources []source

type source struct {
	negated bool
	prefix  netip.Prefix // when valid; else
	pattern string       // wildcards over the address as text
}

// parseSources reads a from= value. Host names are refused rather than ignored: Berth asks no resolver,
// so a name would never match, and a negated name would silently admit the host that it excludes.
func parseSources(value string) (sources, *fault) {
	elements, f := list("from", value, nil)
	if f != nil {
		return nil, f
	}
	var out sources
	positive := false
	for _, e := range elements {
		s := source{}
		body, negated := strings.CutPrefix(e, "!")
		s.negated = negated
		positive = positive || !negated
		switch {
		case strings.Contains(body, "/"):
			p, f := parsePrefix(body)
			if f != nil {
				return nil, f
			}
			s.prefix = p
		case strings.ContainsAny(body, "*?"):
			if strings.Trim(body, "0123456789abcdefABCDEF.:*?") != "" {
				return nil, hostName(e)
			}
			s.pattern = strings.ToLower(body)
		default:
			a, err := netip.ParseAddr(body)
			if err != nil {
				return nil, hostName(e)
			}
			a = a.Unmap().WithZone("")
			s.prefix = netip.PrefixFrom(a, a.BitLen())
		}
		out = append(out, s)
	}
	if !positive {
		return nil, faultf(`add * after the negated ones, such as from="!10.0.0.9,*"`, "from= has only negated elements, so it matches no address")
	}
	return out, nil
}

func hostName(element string) *fault {
	return faultf("write addresses, wildcards over addresses, or networks such as 10.0.0.0/8", "from= has %s, which isn't an address: host names aren't resolved", quote(element))
}

func parsePrefix(s string) (netip.Prefix, *fault) {
	p, err := netip.ParsePrefix(s)
	if err != nil {
		return p, faultf("write a network such as 10.0.0.0/8 or fd00::/8", "from= has the malformed network %s", quote(s))
	}
	if p.Addr().Is4In6() {
		return p, faultf("write it as an IPv4 network", "from= has the IPv4-in-IPv6 network %s", quote(s))
	}
	// OpenSSH refuses such a mask too: either the address or its length is a mistake.
	if p.Masked() != p {
		return p, faultf("write "+p.Masked().String()+" or the full length", "from= has %s, whose address goes beyond its mask", quote(s))
	}
	return p, nil
}

// allow says whether a connection from addr may use the key.
func (s sources) allow(addr net.Addr) bool {
	if s == nil {
		return true
	}
	ip, ok := addressOf(addr)
	if !ok {
		return false
	}
	allowed := false
	for _, e := range s {
		if !e.match(ip) {
			continue
		}
		if e.negated {
			return false
		}
		allowed = true
	}
	return allowed
}

func (e source) match(ip netip.Addr) bool {
	if e.prefix.IsValid() {
		return e.prefix.Contains(ip)
	}
	ok, err := path.Match(e.pattern, ip.String())
	return err == nil && ok
}

// addressOf returns the IP address of a net.Addr, an IPv4 address always in its short form.
func addressOf(addr net.Addr) (netip.Addr, bool) {
	switch a := addr.(type) {
	case nil:
		return netip.Addr{}, false
	case *net.TCPAddr:
		ip, ok := netip.AddrFromSlice(a.IP)
		return ip.Unmap(), ok
	}
	ap, err := netip.ParseAddrPort(addr.String())
	if err != nil {
		return netip.Addr{}, false
	}
	return ap.Addr().Unmap().WithZone(""), true
}

// parseExpiry reads an expiry-time= value in OpenSSH's form: YYYYMMDD, YYYYMMDDHHMM or YYYYMMDDHHMMSS in
// the machine's time zone, or in UTC with a Z or UTC after it.
func parseExpiry(value string) (time.Time, *fault) {
	body, zone := value, time.Local
	for _, suffix := range []string{"Z", "z", "UTC", "utc"} {
		if b, ok := strings.CutSuffix(value, suffix); ok {
			body, zone = b, time.UTC
		}
	}
	layouts := map[int]string{8: "20060102", 12: "200601021504", 14: "20060102150405"}
	t, err := time.ParseInLocation(layouts[len(body)], body, zone)
	if err != nil || layouts[len(body)] == "" {
		return time.Time{}, faultf("write YYYYMMDD or YYYYMMDDHHMM, with Z after it for UTC", "expiry-time= is %s", quote(value))
	}
	return t, nil
}
