package workspace

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"assent/protocol"
	"assent/sidecar/workspace/rpc"
)

// storage is the secret storage of VS Code, which all windows share.
type storage map[string]*protocol.Secret

// storing is a window. While hangs is not nil, its requests wait for its end.
type storing struct {
	protocol.FrontEnd
	kept  storage
	hangs chan struct{}
	asked int
}

func (w *storing) wait(ctx context.Context) {
	w.asked++
	if w.hangs != nil {
		select {
		case <-w.hangs:
		case <-ctx.Done():
		}
	}
}

func (w *storing) GetSecret(ctx context.Context, params *protocol.GetSecretParams) (*protocol.GetSecretResult, error) {
	w.wait(ctx)
	return &protocol.GetSecretResult{Value: w.kept[params.Key]}, nil
}

func (w *storing) SetSecret(ctx context.Context, params *protocol.SetSecretParams) (*protocol.SetSecretResult, error) {
	w.wait(ctx)
	w.kept[params.Key] = params.Value
	return &protocol.SetSecretResult{}, nil
}

// attachWindow attaches a window that keeps secrets.
func attachWindow(t *testing.T, a *attached, name string, own *storing) {
	in, out := io.Pipe()
	f := &frontEnd{name: name, own: own, conn: rpc.New(context.Background(), in, out, rpc.Options{Peer: name, Log: zerolog.Nop()})}
	f.capabilities.Secrets = true
	a.add(f)
	t.Cleanup(func() {
		out.Close()
		_ = f.conn.Close()
	})
}

func TestAWindowThatHangsHoldsUpNoSecrets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, kept := t.Context(), storage{}
		a := newAttached(zerolog.Nop())
		s := newSecrets(a, zerolog.Nop())
		works, hangs := &storing{kept: kept}, &storing{kept: kept, hangs: make(chan struct{})}
		attachWindow(t, a, "works", works)
		attachWindow(t, a, "hangs", hangs) // it was used last
		within := func(what string, most time.Duration, do func() error) {
			t.Helper()
			start := time.Now()
			if err := do(); err != nil || time.Since(start) != most {
				t.Errorf("%s took %v and returned %v, want %v", what, time.Since(start), err, most)
			}
		}
		set := func(value string) func() error {
			return func() error { return s.Set(ctx, "key", &protocol.Secret{Secret: value}) }
		}
		within("the first request", secretTimeout, set("old"))
		within("the next one", 0, set("new"))
		within("reading", 0, func() error {
			value, err := s.Get(ctx, "key")
			if err == nil && value.Secret != "new" {
				t.Errorf("the value is %q", value.Secret)
			}
			return err
		})
		synctest.Wait() // the window has counted
		if hangs.asked != 1 {
			t.Errorf("the window that hangs was asked %d times", hangs.asked)
		}

		close(hangs.hangs) // it writes the old value over the new one
		synctest.Wait()
		if got := kept["key"].Secret; got != "new" {
			t.Errorf("once the window answers again, the storage has the %s value", got)
		}
		hangs.hangs = nil
		asked := hangs.asked
		within("a request after that", 0, set("newest"))
		if hangs.asked != asked+1 {
			t.Error("the window that answers again is not asked")
		}
	})
}

func TestIfEveryWindowHangsASecretSaysSoAndIsKeptLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, kept := t.Context(), storage{}
		a := newAttached(zerolog.Nop())
		s := newSecrets(a, zerolog.Nop())
		window := &storing{kept: kept, hangs: make(chan struct{})}
		attachWindow(t, a, "VS Code", window)
		_, err := s.Get(ctx, "key")
		if want := "VS Code did not answer within 5s, and no other window can help"; err == nil || err.Error() != want {
			t.Errorf("Get = %v, want %q", err, want)
		}
		if err := s.Set(ctx, "key", &protocol.Secret{Secret: "new"}); err != nil {
			t.Errorf("Set = %v", err)
		}
		if !s.wait() {
			t.Error("the secret does not wait for a window")
		}
		close(window.hangs)
		synctest.Wait()
		if kept["key"] == nil || s.wait() {
			t.Errorf("once the window answers, it keeps %v", kept)
		}
	})
}
