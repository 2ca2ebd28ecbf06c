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

// RoundTrip implements [http.RoundTripper]. It sends the configured headers only to the configured
// host: a redirect to another host is an error.
func (e Endpoint) RoundTrip(r *http.Request) (*http.Response, error) {
	if !sameScheme(r.URL.Scheme, e.URL.Scheme) || r.URL.Host != e.URL.Host {
		return nil, fmt.Errorf("it leads to %s://%s: configure that URL, if you trust it", r.URL.Scheme, r.URL.Host)
	}
	r = r.Clone(r.Context())
	maps.Copy(r.Header, e.Header)
	return e.Base.RoundTrip(r)
}

// Place is the URL for logs and errors, without the parts that may hold a secret.
func (e Endpoint) Place() string {
	place := url.URL{Scheme: e.URL.Scheme, Host: e.URL.Host, Path: e.URL.Path}
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

// firstLine returns the first line of a plain text, and "" for HTML.
func firstLine(body []byte) string {
	text, _, _ := strings.Cut(strings.TrimSpace(string(body)), "\n")
	if strings.HasPrefix(text, "<") {
		return ""
	}
	return strings.ToValidUTF8(text[:min(len(text), 200)], "")
}

// unexpected returns the error of an answer that is not MCP.
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

// isDialError reports whether a request was never sent.
func isDialError(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}
