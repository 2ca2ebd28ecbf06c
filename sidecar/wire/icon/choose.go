package icon

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// drawn is the size in pixels that suits best: an icon is drawn at 16, and twice that on a dense screen.
const drawn = 32

// The themes of [Icon].
const (
	light = "light"
	dark  = "dark"
)

// ranked returns the icons in the order in which they suit a theme.
func ranked(icons []Icon, theme string) []Icon {
	ranked := slices.Clone(icons)
	slices.SortStableFunc(ranked, func(a, b Icon) int {
		return cmp.Or(cmp.Compare(themeRank(a, theme), themeRank(b, theme)), cmp.Compare(sizeRank(a), sizeRank(b)))
	})
	return ranked
}

// themeRank is lower for an icon that suits a theme better. One for the other theme is better than none.
func themeRank(i Icon, theme string) int {
	switch i.Theme {
	case theme:
		return 0
	case light, dark:
		return 2
	default:
		return 1
	}
}

// sizeRank is lower for an icon with a better size: the nearest that is at least as large as [drawn], then one of unknown
// size, then the largest of the smaller ones.
func sizeRank(i Icon) int {
	const unknown, smaller = 1 << 20, 1 << 21
	best := unknown
	for n, size := range i.Sizes {
		rank := unknown
		if width, _, ok := strings.Cut(strings.ToLower(size), "x"); strings.EqualFold(size, "any") {
			rank = 0
		} else if w, err := strconv.Atoi(width); ok && err == nil && w > 0 && w < unknown {
			if rank = w - drawn; w < drawn {
				rank = smaller - w
			}
		}
		if n == 0 || rank < best {
			best = rank
		}
	}
	return best
}
