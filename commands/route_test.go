package commands

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"berth/api"
	"berth/fleet/registry"
	"berth/keys"
)

// TestManyNamesAtAGateway: a viewer's line with many names costs one look at the hosts, and has a bound.
func TestManyNamesAtAGateway(t *testing.T) {
	d := newDesk(t)
	looks := 0
	d.Fleet = Fleet{
		Name: func() string { return "gw" },
		Known: func() []registry.Host {
			looks++
			h := registry.Host{Name: "box2", Reachable: true}
			for i := range 2 * mostNamed {
				h.Sessions = append(h.Sessions, api.Session{Session: fmt.Sprintf("s%d", i), ID: fmt.Sprint(i)})
			}
			return []registry.Host{h}
		},
	}
	names := func(n int) string {
		words := make([]string, n)
		for i := range words {
			words[i] = fmt.Sprintf("s%d", i)
			if i%2 == 1 {
				words[i] = "box2/" + words[i]
			}
		}
		return strings.Join(words, " ")
	}
	request := func(line string) Request {
		return Request{Identity: func() keys.Identity { return viewer }, Client: "c1", Line: line, In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}
	}
	route, err := d.Route(request("state "+names(mostNamed)), "")
	if err != nil || route.Here || len(route.Hosts) != 1 || route.Hosts[0] != "box2" {
		t.Errorf("%+v, %v", route, err)
	}
	if looks != 1 {
		t.Errorf("the hosts were read %d times", looks)
	}
	if _, err := d.Route(request("state "+names(mostNamed+1)), ""); api.AsError(err).Code != api.CodeLimit {
		t.Errorf("too many names: %v", err)
	}
	looks = 0
	d.Fleet.Follow, d.Fleet.Head = func(uint64) FleetEvents { return nil }, func() uint64 { return 0 }
	if status := d.Run(context.Background(), request("watch "+names(mostNamed+1))); status != api.CodeLimit.Status() || looks != 0 {
		t.Errorf("watch: status %d, the hosts were read %d times", status, looks)
	}
	if status := d.Run(context.Background(), request("ls "+names(mostNamed+1))); status != api.CodeLimit.Status() || looks != 0 {
		t.Errorf("ls: status %d, the hosts were read %d times", status, looks)
	}
}

// TestHostsOutOfSight: to a key with sessions=, a host where it may have none isn't there. No answer shows that it is,
// and no session is put there.
func TestHostsOutOfSight(t *testing.T) {
	d := newDesk(t)
	d.Fleet = Fleet{
		Name: func() string { return "gw" },
		Own: func() registry.Host {
			return registry.Host{Name: "gw", Reachable: true, Beat: registry.Beat{Running: 9}}
		},
		Known: func() []registry.Host {
			return []registry.Host{
				{Name: "box2", Reachable: true, Beat: registry.Beat{Running: 5}}, {Name: "hidden", Reachable: true, Draining: true},
				{Name: "secret", Reachable: true, Beat: registry.Beat{Labels: []string{"gpu"}}},
			}
		},
	}
	narrowed := keys.Identity{Kind: keys.KindKey, Name: "narrowed", Role: keys.Admin, Sessions: []string{"box2/web-*"}}
	route := func(line string) (Route, error) {
		return d.Route(Request{Identity: func() keys.Identity { return narrowed }, Client: "c1", Line: line, In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}, "")
	}
	for _, line := range []string{"state %s/x", "new %s/web-1 --profile p", "new web-1 --profile p --host %s"} {
		for _, host := range []string{"hidden", "secret"} {
			_, there := route(fmt.Sprintf(line, host))
			_, absent := route(fmt.Sprintf(line, "nowhere"))
			if there == nil || absent == nil || strings.ReplaceAll(there.Error(), host, "nowhere") != absent.Error() {
				t.Errorf("%s: %v, and of no host %v", fmt.Sprintf(line, host), there, absent)
			}
		}
	}
	if to, err := route("new web-1 --profile p --host any"); err != nil || to.Here || len(to.Hosts) != 1 || to.Hosts[0] != "box2" {
		t.Errorf("any: %+v, %v", to, err)
	}
	if to, err := route("new web-1 --profile p --host label:gpu"); err == nil {
		t.Errorf("label: %+v", to)
	}
}
