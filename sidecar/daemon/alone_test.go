package daemon

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/rs/zerolog"
)

// alone runs ServeAlone with work that ends when done is closed. Result gets the result.
func alone(ctx context.Context, t *testing.T, o Options, done <-chan struct{}) (result <-chan error) {
	t.Helper()
	working, returned := make(chan struct{}), make(chan error, 1)
	go func() {
		conn, _, err := ServeAlone(ctx, ServeOptions{Options: o, Attach: echo, Log: zerolog.Nop()}, func(ctx context.Context) error {
			close(working)
			select {
			case <-done:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
		if conn != nil {
			err = errors.Join(errors.New("another process is the daemon"), conn.Close())
		}
		returned <- err
	}()
	select {
	case <-working:
	case err := <-returned:
		t.Fatalf("ServeAlone = %v", err)
	}
	return returned
}

func TestAProcessAloneIsTheDaemon(t *testing.T) {
	t.Parallel()
	o := testOptions(t)
	done := make(chan struct{})
	result := alone(t.Context(), t, o, done)
	status, err := StatusOf(t.Context(), o)
	if err != nil || len(status.Attached) != 1 || status.Log != "" {
		t.Errorf("the status is %+v, %v", status, err)
	}
	// It serves other clients, also one that calls ServeAlone.
	dialed, _, err := Dial(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := ServeAlone(t.Context(), ServeOptions{Options: o}, func(context.Context) error { return errors.New("it is no daemon") })
	if err != nil {
		t.Fatal(err)
	}
	wantEcho(t, dialed)
	wantEcho(t, second)
	close(done)
	if err := <-result; err != nil {
		t.Errorf("ServeAlone = %v", err)
	}
	for _, conn := range []net.Conn{dialed, second} {
		if _, err := conn.Read(make([]byte, 1)); err == nil {
			t.Error("the daemon has ended, and said something")
		}
		_ = conn.Close()
	}
	if _, err := StatusOf(t.Context(), o); !errors.Is(err, ErrNone) {
		t.Errorf("StatusOf = %v", err)
	}
}

func TestAProcessAloneIsStopped(t *testing.T) {
	t.Parallel()
	o := testOptions(t)
	result := alone(t.Context(), t, o, nil)
	if _, err := Stop(t.Context(), o, func(string) {}); err != nil {
		t.Fatal(err)
	}
	if err := <-result; !errors.Is(err, ErrEnded) {
		t.Errorf("ServeAlone = %v, want %v", err, ErrEnded)
	}
}
