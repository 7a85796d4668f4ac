package main

import (
	"fmt"
	"strings"
	"syscall"
	"time"
)

const (
	tiles    = 12
	wallTime = 20 * time.Second
)

// wallRow measures the server while a person looks at the dashboard's Wall: with quiet sessions, with
// sessions that print a line each second, and among these without the person.
func wallRow(b *bench) ([]result, error) {
	s, err := b.startBerth("wall")
	if err != nil {
		return nil, err
	}
	c, err := b.dial(s.addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	list, err := b.startCrowd(c, tiles, b.self, "program", "tick", "1000")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, one := range list {
		pids = append(pids, one.PID)
		for text := ""; !strings.Contains(text, ready); { // before that, a signal ends it
			out, err := call(c, "screen "+one.Session)
			if err != nil {
				return nil, err
			}
			text = string(out)
		}
	}
	share := func(d time.Duration) (float64, error) {
		b.rest(3 * time.Second) // let the work before it end
		before, err := cpuOf(s.pid)
		if err != nil {
			return 0, err
		}
		began := time.Now()
		b.rest(d)
		after, err := cpuOf(s.pid)
		return 100 * ratio(after-before, time.Since(began)), err
	}
	if err := tell(pids, syscall.SIGUSR1); err != nil {
		return nil, err
	}
	alone, err := share(idleTime)
	if err != nil {
		return nil, err
	}
	v, err := b.view(s.addr)
	if err != nil {
		return nil, err
	}
	defer v.close()
	if err := v.until("sessions by state"); err != nil {
		return nil, err
	}
	if _, err := v.term.Write([]byte("W")); err != nil {
		return nil, err
	}
	if err := v.until("zoom"); err != nil {
		return nil, err
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for {
			if _, err := v.read(); err != nil {
				return // the row has its result, and has closed the client
			}
		}
	}()
	printing, err := share(wallTime)
	if err != nil {
		return nil, err
	}
	if err := tell(pids, syscall.SIGUSR2); err != nil {
		return nil, err
	}
	b.rest(6 * time.Second) // the list is sorted again 5 s after a key
	quiet, err := share(wallTime)
	if err != nil {
		return nil, err
	}
	v.close()
	<-drained
	if !strings.Contains(string(v.tail), "crowd11") {
		return nil, fmt.Errorf("the Wall never showed the last of %d tiles", tiles)
	}
	return []result{
		{fmt.Sprintf("a Wall of %d tiles, a line each second in each: the server's share of a core", tiles), fmt.Sprintf("%.2f %%", printing), fmt.Sprintf("without the Wall: %.2f %%", alone), "", "< 2 %", verdictOf(printing < 2)},
		{"the same, nothing printed", fmt.Sprintf("%.2f %%", quiet), "", "", "", noGoal},
	}, nil
}
