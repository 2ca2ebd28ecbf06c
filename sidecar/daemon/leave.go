package daemon

import (
	"cmp"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"
)

// waitStep is how often a leaving daemon names the part that has not ended.
const waitStep = time.Second

// maxStacks bounds the stacks of goroutines in the log, in bytes.
const maxStacks = 256 << 10

// waitingClient is the connection of a client that waits for the daemon's end.
type waitingClient struct {
	*peer
	// said is the last line.
	said string
	// writing is held during a write, which takes as long as the client does not read.
	writing sync.Mutex
}

// leaving is a line to a client that waits for the daemon's end.
type leaving struct {
	WaitsFor string `json:"waitsFor"`
}

// awaitEnd waits for the end of a daemon that leaves, and gives up after the grace. It tells the waiting clients which part
// has not ended.
func (s *server) awaitEnd(ended <-chan error) error {
	var late <-chan time.Time
	if s.o.Grace > 0 {
		timer := time.NewTimer(s.o.Grace)
		defer timer.Stop()
		late = timer.C
	}
	step := time.NewTicker(waitStep)
	defer step.Stop()
	for {
		select {
		case err := <-ended:
			return err
		case <-step.C:
			s.tellLeaving(s.waitsFor())
		case <-late:
			what := s.waitsFor()
			stacks := make([]byte, maxStacks)
			stacks = stacks[:runtime.Stack(stacks, true)]
			s.o.Log.Error().Str("waitsFor", what).Bytes("goroutines", stacks).Msg("the daemon does not end in good order")
			return fmt.Errorf("%w: after %v it still waits for %s", errStays, s.o.Grace, what)
		}
	}
}

// waitsFor names what a leaving daemon waits for.
func (s *server) waitsFor() string {
	var what []string
	s.mu.Lock()
	for c := range s.present {
		if c.attached != nil {
			what = append(what, fmt.Sprintf("what process %d began", c.attached.PID))
		}
	}
	s.mu.Unlock()
	if s.o.WaitsFor != nil {
		if more := s.o.WaitsFor(); more != "" {
			what = append(what, more)
		}
	}
	return cmp.Or(strings.Join(what, ", "), "its last work")
}

// tellLeaving sends a line to each client that waits for the end, if it says something else than the line before.
func (s *server) tellLeaving(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.waiting {
		if f.said != what && f.writing.TryLock() {
			f.said = what
			go func() {
				defer f.writing.Unlock()
				_ = f.writeLine(leaving{what}) // its error says that the client no longer waits
			}()
		}
	}
}

func (s *server) tellEnd() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.waiting {
		_ = f.Close() // tells the client that the daemon has ended
	}
}
