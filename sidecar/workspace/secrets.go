package workspace

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/wire/auth"
)

// secrets are stored by front ends. While no front end with a secret storage is attached, they are in memory only. The
// next such front end, of any workspace, gets the secrets that were set in the meantime.
type secrets struct {
	attached *attached
	log      zerolog.Logger
	// passing has a value while a secret is passed on: an older value must not overtake a newer one.
	passing chan struct{}

	mu      sync.Mutex // guards the fields below
	known   map[string]*protocol.Secret
	pending map[string]*protocol.Secret // not passed on yet; nil removes
	// refused are the pending ones that a front end did not keep. The next front end may.
	refused map[string]bool
}

var _ auth.Secrets = (*secrets)(nil)

func newSecrets(attached *attached, log zerolog.Logger) *secrets {
	s := &secrets{
		attached: attached, log: log, passing: make(chan struct{}, 1),
		known: map[string]*protocol.Secret{}, pending: map[string]*protocol.Secret{},
		refused: map[string]bool{},
	}
	attached.answered = func() { s.flush(context.Background()) }
	return s
}

// isAway reports whether a request failed because no window serves it now.
func isAway(err error) bool {
	return errors.Is(err, errNobodyAttached) || errors.As(err, new(*silentError))
}

// Get implements [auth.Secrets].
func (s *secrets) Get(ctx context.Context, key string) (*protocol.Secret, error) {
	s.mu.Lock()
	value, waits := s.pending[key]
	before := s.known[key]
	s.mu.Unlock()
	if waits || !s.attached.capabilities().Secrets {
		return value, nil
	}
	result, err := lend(ctx, s.attached, needsSecrets, func(ctx context.Context, f *frontEnd) (*protocol.GetSecretResult, error) {
		return f.own.GetSecret(ctx, &protocol.GetSecretParams{Key: key})
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		if value, ok := s.known[key]; ok {
			return value, nil
		}
		return nil, err
	}
	if s.known[key] != before { // it was set during the read, so the read value may be older
		return s.known[key], nil
	}
	s.known[key] = result.Value
	return result.Value, nil
}

// Set implements [auth.Secrets]. If no window is open, or none answers, the next one that does keeps the value.
func (s *secrets) Set(ctx context.Context, key string, value *protocol.Secret) error {
	s.mu.Lock()
	s.known[key], s.pending[key] = value, value
	delete(s.refused, key)
	s.mu.Unlock()
	if !s.attached.capabilities().Secrets {
		return auth.ErrNotKept
	}
	if err := s.pass(ctx, key); !isAway(err) {
		return err
	}
	return nil
}

// wrote notes that a window has written a value. If that took so long that another window wrote a newer one, the newer one
// is to be passed on once more.
func (s *secrets) wrote(key string, value *protocol.Secret) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if newest := s.known[key]; newest != value {
		s.pending[key] = newest
	}
}

// pass passes on the present value of a secret, unless another goroutine has done that.
func (s *secrets) pass(ctx context.Context, key string) error {
	select {
	case s.passing <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-s.passing }()
	s.mu.Lock()
	value, waits := s.pending[key]
	s.mu.Unlock()
	if !waits {
		return nil
	}
	_, err := lend(ctx, s.attached, needsSecrets, func(ctx context.Context, f *frontEnd) (*protocol.SetSecretResult, error) {
		defer s.wrote(key, value)
		return f.own.SetSecret(ctx, &protocol.SetSecretParams{Key: key, Value: value})
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.pending[key] != value: // there is a newer one
	case err == nil:
		delete(s.pending, key)
		delete(s.refused, key)
	case !isAway(err) && ctx.Err() == nil:
		s.refused[key] = true
	}
	return err
}

// wait reports whether a secret waits for a front end that keeps it. There is none to wait for if none ever could. A secret
// that was refused lasts as long as this process, and does not wait: the storage may refuse for ever.
func (s *secrets) wait() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pending) > len(s.refused) && s.attached.capabilities().Secrets
}

// unkept reports whether a secret is in memory only.
func (s *secrets) unkept() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pending) > 0 && s.attached.capabilities().Secrets
}

// forget removes every secret that was read or set, also where front ends keep it.
func (s *secrets) forget(ctx context.Context) {
	s.mu.Lock()
	for key, value := range s.known {
		if _, waits := s.pending[key]; value != nil || waits {
			s.known[key], s.pending[key] = nil, nil
			delete(s.refused, key)
		}
	}
	s.mu.Unlock()
	if s.attached.capabilities().Secrets {
		s.flush(ctx)
	}
}

// flush passes on the secrets that were set while no front end had a secret storage.
func (s *secrets) flush(ctx context.Context) {
	s.mu.Lock()
	pending := slices.Collect(maps.Keys(s.pending))
	s.mu.Unlock()
	for _, key := range pending {
		if err := s.pass(ctx, key); err != nil && !isAway(err) {
			s.log.Warn().Err(err).Msg("cannot store a login: it lasts until Assent ends")
		}
	}
}
