package reason

import (
	"fmt"
	"runtime/debug"

	"github.com/rs/zerolog"
)

// Panic is the error of work that panicked.
type Panic struct {
	// What is the work that failed, such as a method.
	What string
}

func (p *Panic) Error() string { return p.What + " failed inside Assent: see its log" }

// Panicked is deferred by the work for one front end or server, so that a panic there does not end the work for the others.
// It turns the panic into the work's error, a [*Panic], and logs it with its stack. A lock without a deferred unlock stays
// locked.
func Panicked(log *zerolog.Logger, what string, err *error) {
	if v := recover(); v != nil {
		log.Error().Str("panic", fmt.Sprint(v)).Bytes("stack", debug.Stack()).Str("in", what).Msg("Assent panicked")
		*err = &Panic{what}
	}
}
