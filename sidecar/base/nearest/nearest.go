// Package nearest finds the name that a person may have meant by a wrong one. It keeps no state.
package nearest

import (
	"cmp"
	"slices"
	"strings"
)

// Name returns the name that is most similar to a wrong one, or "" if none is similar.
func Name(wrong string, names []string) string {
	best, least := "", len(wrong)/3+2
	for _, name := range names {
		if d := distance(strings.ToLower(wrong), strings.ToLower(name)); d < least {
			best, least = name, d
		}
	}
	return best
}

// Names returns at most limit of the names, the most similar first. Sure reports whether the person may have meant one
// of them; otherwise no name is similar.
func Names(wrong string, names []string, limit int) (near []string, sure bool) {
	type candidate struct {
		name     string
		distance int
		near     bool
	}
	var all []candidate
	lower := strings.ToLower(wrong)
	for _, name := range names {
		other := strings.ToLower(name)
		c := candidate{name: name, distance: distance(lower, other)}
		part := len(lower) > 2 && strings.Contains(other, lower) || len(other) > 2 && strings.Contains(lower, other)
		c.near = part || c.distance < len(wrong)/3+2
		all = append(all, c)
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	sure = slices.ContainsFunc(all, func(c candidate) bool { return c.near })
	for _, c := range all {
		if len(near) < limit && (c.near || !sure) {
			near = append(near, c.name)
		}
	}
	return near, sure
}

// distance is the number of letters to insert, remove or change.
func distance(a, b string) int {
	if len(a) > 100 || len(b) > 100 {
		return 100
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			changed := before
			if a[i] != b[j] {
				changed++
			}
			before = row[j+1]
			row[j+1] = min(changed, before+1, row[j]+1)
		}
	}
	return row[len(b)]
}
