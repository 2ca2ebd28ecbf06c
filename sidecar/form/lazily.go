package form

import (
	"regexp"
	"sync"
)

// lazily returns an expression that is compiled at its first use: the sidecar starts sooner by what they all
// take together, and most forms need none.
func lazily(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
