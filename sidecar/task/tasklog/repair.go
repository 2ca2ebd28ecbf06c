package tasklog

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
)

const (
	// checkEvery is how often Maintain checks that the store's file still exists.
	checkEvery = 30 * time.Second
	// retryAfter is the first pause after a failure of the store. Each pause is twice as long as the last, up to checkEvery.
	retryAfter = 2 * time.Second
)

// Maintain looks after the store until ctx ends. It saves refused changes when the disk works again, writes a new file if
// the file was deleted, and removes overwritten secrets from the write-ahead log.
func (s *Storage) Maintain(ctx context.Context) {
	timer := time.NewTimer(checkEvery)
	defer timer.Stop()
	pause := retryAfter
	unscrubbed := true // an earlier sidecar may have been killed before it emptied the store's log
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.failing:
			pause = retryAfter
			timer.Reset(pause)
			continue
		case <-s.scrubbing:
			unscrubbed = !s.scrub(ctx)
			continue
		case <-timer.C:
		}
		s.opening.Lock()
		opened := s.store != nil && !s.closed
		s.opening.Unlock()
		if opened && unscrubbed {
			unscrubbed = !s.scrub(ctx)
		}
		if opened && !s.repair(ctx) {
			pause = min(2*pause, checkEvery)
			timer.Reset(pause)
		} else {
			timer.Reset(checkEvery)
		}
	}
}

// scrub empties the store's log, which may have overwritten secrets, and reports whether that worked.
func (s *Storage) scrub(ctx context.Context) bool {
	err := s.store.Scrub(ctx)
	if err != nil && ctx.Err() == nil {
		s.opts.Log.Warn().Err(err).Msg("a secret that was deleted may be in the store's log for a while")
	}
	return err == nil
}

// repair moves the store to its file and saves the dirty logs, and reports whether all is saved. No log's lock may be held.
func (s *Storage) repair(ctx context.Context) bool {
	if !s.relocate(ctx) {
		return false
	}
	o := &s.outage
	if s.isFailing() {
		if err := s.store.Probe(ctx); err != nil {
			return false
		}
	}
	o.mu.Lock()
	dirty := slices.Collect(maps.Keys(o.dirty))
	o.mu.Unlock()
	for _, l := range dirty {
		l.Lock()
		saved := l.flush()
		l.Unlock()
		if !saved {
			return false
		}
	}
	if s.isFailing() {
		s.reportRecovery("Tasks are saved on disk again, including all changes in memory.")
	}
	return true
}

// relocate moves the store to a file at its path if it is in memory or its file was deleted, and reports whether it is
// there now. A log's lock may be held.
func (s *Storage) relocate(ctx context.Context) bool {
	o := &s.outage
	o.mu.Lock()
	inMemory, unrecoverable := o.inMemory, o.unrecoverable || o.damaged
	o.mu.Unlock()
	if unrecoverable {
		return false
	}
	if !inMemory && !s.store.Replaced() {
		o.mu.Lock()
		o.deleted = false
		o.mu.Unlock()
		return true
	}
	o.relocating.Lock()
	defer o.relocating.Unlock()
	o.mu.Lock()
	done, unrecoverable := o.inMemory != inMemory, o.unrecoverable
	o.mu.Unlock()
	if done || !inMemory && !s.store.Replaced() {
		return true // another goroutine has moved it
	}
	if unrecoverable {
		return false
	}
	path := s.store.Path()
	if err := s.store.Relocate(ctx, s.opts.OpenStore); err != nil {
		if !inMemory {
			o.mu.Lock()
			o.deleted = true
			o.mu.Unlock()
			s.Report(fmt.Errorf("%s was deleted or moved away, and cannot be created again: %w", path, err))
		}
		return false
	}
	o.mu.Lock()
	o.inMemory, o.deleted = false, false
	o.mu.Unlock()
	message := fmt.Sprintf("%s was deleted or moved away while Assent ran. It was created again, with all its contents.", path)
	if inMemory {
		message = "Tasks are saved on disk again, including all changes in memory. Earlier ones are shown after the next start."
	}
	if note := s.store.SetAsideNote(); note != "" {
		message += " " + note
	}
	s.reportRecovery(message)
	return true
}
