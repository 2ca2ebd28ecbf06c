package wire_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"assent/sidecar/wire"
)

// roundTripper is a server as a function.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// The end of a session is the server's to hear, and not to hold up.
func TestAServerThatIsSilentOnTheEndOfItsSessionIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := roundTripper(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		h := wire.NewHTTP(wire.HTTPOptions{Endpoint: wire.Endpoint{URL: &url.URL{Scheme: "http", Host: "silent"}, Base: silent}})
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
		// As go-sdk ends its session, with a context that nothing ends.
		r, err := http.NewRequestWithContext(context.Background(), http.MethodDelete, "http://silent", nil)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := h.RoundTrip(r); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the end was taken: %v", err)
		}
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("it was waited for %v", took)
		}
	})
}
