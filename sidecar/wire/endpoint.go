package wire

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"

	"assent/sidecar/base/visible"
)

// Endpoint is a server's address and the transport to it. It is the [http.RoundTripper] of every
// connection that begins with HTTP.
type Endpoint struct {
	URL *url.URL
	// Header is added to every request.
	Header http.Header
	// Base makes the requests.
	Base http.RoundTripper
}

var _ http.RoundTripper = Endpoint{}

// maxRedirects bounds how often a request is redirected.
const maxRedirects = 10

// RoundTrip implements [http.RoundTripper]. It sends the configured headers only to the configured host: a redirect to
// another host is an error. Within the host it follows redirects and keeps the method, because a GET in place of a POST
// means something else in MCP. A 303 asks for a GET, so that a POST does not follow it.
func (e Endpoint) RoundTrip(r *http.Request) (*http.Response, error) {
	for range maxRedirects {
		if !sameScheme(r.URL.Scheme, e.URL.Scheme) || r.URL.Host != e.URL.Host {
			return nil, fmt.Errorf("it leads to %s://%s: configure that URL, if you trust it", r.URL.Scheme, r.URL.Host)
		}
		r = r.Clone(r.Context())
		maps.Copy(r.Header, e.Header)
		response, err := e.Base.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		next, err := redirected(r, response)
		if next == nil && err == nil {
			return response, nil
		}
		_ = response.Body.Close() // a redirect has nothing to read
		if err != nil {
			return nil, err
		}
		r = next
	}
	return nil, fmt.Errorf("it redirects more than %d times, at last to %s: see that the URL is right", maxRedirects, placeOf(r.URL))
}

// redirected returns the request that follows a response, or nil if that is no redirect.
func redirected(r *http.Request, response *http.Response) (*http.Request, error) {
	switch response.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, nil
	}
	where := response.Header.Get("Location")
	to, err := r.URL.Parse(where)
	if err != nil || where == "" {
		return nil, fmt.Errorf("it redirects (HTTP %d) and does not say where", response.StatusCode)
	}
	again := fmt.Errorf("it redirects (HTTP %d) to %s: configure that URL, if you trust it", response.StatusCode, placeOf(to))
	if response.StatusCode == http.StatusSeeOther && r.Method == http.MethodPost {
		return nil, again
	}
	next := r.Clone(r.Context())
	next.URL, next.Host = to, ""
	if r.Body != nil && r.Body != http.NoBody {
		if r.GetBody == nil {
			return nil, again
		}
		if next.Body, err = r.GetBody(); err != nil {
			return nil, err
		}
	}
	return next, nil
}

// Place is the URL for logs and errors, without the parts that may hold a secret.
func (e Endpoint) Place() string { return placeOf(e.URL) }

func placeOf(u *url.URL) string {
	place := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return place.String()
}

// withoutURL returns an error without the URL of the request, which net/http puts before it.
func withoutURL(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// sameScheme treats a WebSocket and the HTTP that it begins with as the same.
func sameScheme(a, b string) bool {
	return strings.Replace(a, "ws", "http", 1) == strings.Replace(b, "ws", "http", 1)
}

// StatusError is an HTTP error status without a JSON-RPC message.
type StatusError struct {
	Code int
	// Text is the beginning of the response's body, on one line.
	Text string
	// RetryAfter is the server's own text for the time of the next request; empty if it does not say.
	RetryAfter string
}

func newStatusError(response *http.Response, body []byte) *StatusError {
	return &StatusError{Code: response.StatusCode, Text: firstLine(body), RetryAfter: visible.Text(firstLine([]byte(response.Header.Get("Retry-After"))))}
}

// Error implements error.
func (e *StatusError) Error() string {
	text := strings.TrimSpace(fmt.Sprintf("it answered with HTTP %d %s", e.Code, http.StatusText(e.Code)))
	if e.Text != "" {
		text += ": " + e.Text
	}
	if e.RetryAfter != "" {
		text += fmt.Sprintf(" (Retry-After: %s)", e.RetryAfter)
	}
	return text
}

// firstLine returns the first line of a plain text, and "" for HTML.
func firstLine(body []byte) string {
	text, _, _ := strings.Cut(strings.TrimSpace(string(body)), "\n")
	if strings.HasPrefix(text, "<") {
		return ""
	}
	return strings.ToValidUTF8(text[:min(len(text), 200)], "")
}

// errNoAnswer is the error of a call that the server took without an answer.
var errNoAnswer = errors.New("it took the request and gave no answer")

func noAnswer(status int) error { return fmt.Errorf("%w (HTTP %d)", errNoAnswer, status) }

// unexpected returns the error of an answer that is not MCP.
func unexpected(response *http.Response) error {
	switch kind := kindOf(response); kind {
	case "text/html":
		return notMCP("it answered with a web page, not with MCP: check the URL")
	case "":
		return notMCP("its answer has no Content-Type and is not MCP: check the URL")
	default:
		return notMCP(fmt.Sprintf("it answered with %s, not with MCP: check the URL", visible.Text(kind)))
	}
}

// notMCP is the error of an answer of another content type.
type notMCP string

// Error implements error.
func (e notMCP) Error() string { return string(e) }

// isDialError reports whether a request was never sent.
func isDialError(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}
