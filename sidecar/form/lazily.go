package form

import (
	"regexp"
	"sync"
)

// lazily returns an expression that is compiled at its first use. Most forms need none, and the sidecar
// starts faster without them.
func lazily(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
