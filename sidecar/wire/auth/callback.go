package auth

import (
	"context"
	"crypto/subtle"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"assent/sidecar/base/loopback"
)

// callbackPath is the path of the redirect URI.
const callbackPath = "/callback"

// closeTimeout bounds how long a browser may take to read the page that ends a login.
const closeTimeout = 2 * time.Second

// page is the page that ends a login in the browser. It does not say whether the login succeeded, because Assent knows
// that only after it has exchanged the code. The front end shows the result.
const page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Assent</title><p>You can close this window and go back to your editor.</p></html>`

// callback listens on this machine for the redirect that ends a login (RFC 8252, section 7.3).
type callback struct {
	redirectURI string
	host        string
	server      *http.Server
	served      sync.WaitGroup
	// answer receives the query of the first redirect with the expected state.
	answer chan url.Values

	mu    sync.Mutex // guards the field below
	state string     // empty while no redirect is expected
}

// listen starts to listen on a port; 0 means any free port. Another user of the machine, who may know the state from the
// browser's arguments, cannot connect.
func listen(ctx context.Context, port int, log zerolog.Logger) (*callback, error) {
	listener, err := loopback.Listen(ctx, port, log)
	if err != nil {
		return nil, fmt.Errorf("the login's answer cannot be received at port %d, see oauth.callbackPort: %w", port, err)
	}
	c := &callback{host: listener.Addr().String(), answer: make(chan url.Values, 1)}
	c.redirectURI = "http://" + c.host + callbackPath
	c.server = loopback.NewServer(c, 32<<10)
	c.served.Go(func() { _ = c.server.Serve(listener) }) // it always ends with an error
	return c, nil
}

// expect sets the state that the redirect must have.
func (c *callback) expect(state string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = state
}

// ServeHTTP implements [http.Handler]. It rejects a request that does not have the expected state; such a request
// changes nothing.
func (c *callback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cache-Control", "no-store")
	if r.Host != c.host || r.URL.Path != callbackPath {
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	if r.Method != http.MethodGet {
		http.Error(w, "only GET", http.StatusMethodNotAllowed)
		return
	}
	query := r.URL.Query()
	c.mu.Lock()
	expected := c.state != "" && subtle.ConstantTimeCompare([]byte(c.state), []byte(query.Get("state"))) == 1
	if expected {
		c.state = ""
	}
	c.mu.Unlock()
	if !expected {
		http.Error(w, "This is not the login that Assent waits for.", http.StatusBadRequest)
		return
	}
	_, _ = io.WriteString(w, page) // the browser may be gone
	c.answer <- query
}

// close stops listening, after the browser has read the page or [closeTimeout] is over.
func (c *callback) close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if err := c.server.Shutdown(ctx); err != nil {
		_ = c.server.Close()
	}
	c.served.Wait()
}
