package dispatch

import (
	"sync"

	"berth/api"
	"berth/keys"
)

// carriedEach bounds the sessions on hosts that one caller has at once: each is an SSH connection of the gateway's, with
// up to 2.5 MiB of output that the caller hasn't read, and a line may be about many hosts.
const carriedEach = 128

// carried counts the sessions on hosts, by caller.
type carried struct {
	mu   sync.Mutex
	open map[string]int
}

// enter counts one in, or refuses it. The caller calls leave at its end.
func (c *carried) enter(id keys.Identity) (leave func(), err error) {
	who := person(id)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[who] >= carriedEach {
		return nil, api.Errorf(api.CodeLimit, "you already have %d sessions on hosts open, which is the limit", carriedEach)
	}
	if c.open == nil {
		c.open = map[string]int{}
	}
	c.open[who]++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.open[who]--; c.open[who] <= 0 {
			delete(c.open, who)
		}
	}, nil
}
