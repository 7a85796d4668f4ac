package commands

import "strings"

// didYouMean is a hint at what a misspelled word may have been meant for: the names that begin with
// it, else the nearest one. It is empty, or ends with "? ".
func didYouMean(word string, names []string) string {
	var near []string
	for _, name := range names {
		if word != "" && len(name) >= len(word) && strings.EqualFold(name[:len(word)], word) {
			near = append(near, name)
		}
	}
	if len(near) == 0 {
		best := len(word)/3 + 2 // a name with more wrong than that is another word
		for _, name := range names {
			switch d := distance(strings.ToLower(word), strings.ToLower(name)); {
			case d >= len(name):
			case d < best:
				best, near = d, []string{name}
			}
		}
	}
	if len(near) == 0 || len(near) > 3 {
		return ""
	}
	return "did you mean " + strings.Join(near, " or ") + "? "
}

// distance is how many bytes have to be added, removed, changed, or swapped with the next one, to
// make b of a. It compares the first 64 bytes.
func distance(a, b string) int {
	a, b = a[:min(len(a), 64)], b[:min(len(b), 64)]
	var before []int
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
