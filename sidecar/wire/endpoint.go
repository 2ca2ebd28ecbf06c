package wire

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// Endpoint is a server's address and the way there. It is the [http.RoundTripper] of every connection
// that begins with HTTP.
type Endpoint struct {
	URL *url.URL
	// Header is added to every request.
	Header http.Header
	// Base makes the requests.
	Base http.RoundTripper
}

var _ http.RoundTripper = Endpoint{}

// RoundTrip implements [http.RoundTripper]. What the person configured for one host is sent to no
// other: a redirect to elsewhere is an error.
func (e Endpoint) RoundTrip(r *http.Request) (*http.Response, error) {
	if !sameScheme(r.URL.Scheme, e.URL.Scheme) || r.URL.Host != e.URL.Host {
		return nil, fmt.Errorf("it leads to %s://%s: configure that URL, if you trust it", r.URL.Scheme, r.URL.Host)
	}
	r = r.Clone(r.Context())
	maps.Copy(r.Header, e.Header)
	return e.Base.RoundTrip(r)
}

// Place is the URL as logs and errors may show it: without what a person may have put a secret into.
func (e Endpoint) Place() string {
	place := url.URL{Scheme: e.URL.Scheme, Host: e.URL.Host, Path: e.URL.Path}
	return place.String()
}

// withoutURL returns what went wrong without the URL of the request, which net/http puts before it.
func withoutURL(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// sameScheme holds for a WebSocket and the HTTP that it begins with, too.
func sameScheme(a, b string) bool {
	return strings.Replace(a, "ws", "http", 1) == strings.Replace(b, "ws", "http", 1)
}

// StatusError is an HTTP response that says no and is not JSON-RPC.
type StatusError struct {
	Code int
	// Text is the beginning of what the server said, on one line.
	Text string
}

func newStatusError(code int, body []byte) *StatusError {
	return &StatusError{Code: code, Text: firstLine(body)}
}

// Error implements error.
func (e *StatusError) Error() string {
	text := strings.TrimSpace(fmt.Sprintf("it answered with HTTP %d %s", e.Code, http.StatusText(e.Code)))
	if e.Text != "" {
		text += ": " + e.Text
	}
	return text
}

// firstLine returns the beginning of a plain text; nobody wants to read the source of a page.
func firstLine(body []byte) string {
	text, _, _ := strings.Cut(strings.TrimSpace(string(body)), "\n")
	if strings.HasPrefix(text, "<") {
		return ""
	}
	return strings.ToValidUTF8(text[:min(len(text), 200)], "")
}

// unexpected says what is wrong with an answer that is not MCP's.
func unexpected(status int, kind string) error {
	switch kind {
	case "text/html":
		return errors.New("it answered with a web page, not with MCP: check the URL")
	case "":
		return fmt.Errorf("it took the request and gave no answer (HTTP %d)", status)
	default:
		return fmt.Errorf("it answered with %s, not with MCP: check the URL", kind)
	}
}

// isDialError reports whether a request never left.
func isDialError(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}
