package main

import (
	"fmt"
	"slices"
	"time"
)

// result is one line of the table.
type result struct {
	what  string
	berth string
	other string // what Berth is compared with, and its figure
	ratio string
	goal  string
	met   verdict
}

type verdict string

const (
	met    verdict = "yes"
	missed verdict = "**no**"
	noGoal verdict = ""
)

const tableHead = "| what | Berth | beside it | ratio | goal | met |\n| --- | --- | --- | --- | --- | --- |"

func (r result) String() string {
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s |", r.what, r.berth, r.other, r.ratio, r.goal, r.met)
}

func verdictOf(ok bool) verdict {
	if ok {
		return met
	}
	return missed
}

// times are the durations of one side of a comparison.
type times []time.Duration

func (t times) at(share float64) time.Duration {
	if len(t) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(t))
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}

func (t times) median() time.Duration { return t.at(0.5) }

func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", d.Seconds()*1e3) }
func us(d time.Duration) string { return fmt.Sprintf("%d µs", d.Microseconds()) }

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

func median(v []float64) float64 {
	sorted := slices.Sorted(slices.Values(v))
	return sorted[len(sorted)/2]
}
