package forks

import "strings"

// Link is a file that a call names, and the one that it leads to by links when the call's prompt is made: an agent writes through a link,
// and its dialog doesn't draw where that leads.
type Link struct{ File, Target string }

// LeadTo are the lines about such files, one each.
func LeadTo(links []Link) string {
	var lines []string
	for _, l := range links {
		lines = append(lines, Quoted(l.File)+" is a link to "+Quoted(l.Target)+".")
	}
	return strings.Join(lines, "\n")
}
