package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/sidecar/base/awaited"
	"assent/sidecar/wire/quirk"
)

// Bounds of the pauses before a request is sent again that the server refused for now.
const (
	firstRetryPause = 500 * time.Millisecond
	maxRetryPause   = time.Minute
	maxRetryTime    = 90 * time.Second // all pauses of a request
	maxRefusals     = 6
)

// sendWithRetries is send. It sends a message again after a pause, while the server is not available and the message
// certainly did nothing. The body is that of a response that is not 2xx; the response still has it.
func (h *HTTP) sendWithRetries(r *http.Request, call *jsonrpc.Request) (response *http.Response, release func(), body []byte, err error) {
	pause, waited := firstRetryPause, time.Duration(0)
	for refusals := 1; ; refusals++ {
		response, release, err = h.send(r)
		if err != nil || r.Method != http.MethodPost || isOK(response) {
			return response, release, nil, err
		}
		if body, err = io.ReadAll(io.LimitReader(response.Body, maxRefusal)); err != nil {
			release()
			return nil, nil, nil, err
		}
		wait := max(pause, retryAfter(response))
		if refusals == maxRefusals || wait > maxRetryPause || waited+wait > maxRetryTime || !h.mayRepeat(r, call, response, body) {
			return response, release, body, nil
		}
		release()
		if err := h.waitToRepeat(r.Context(), response.StatusCode, wait); err != nil {
			return nil, nil, nil, err
		}
		if r.Body, err = r.GetBody(); err != nil {
			return nil, nil, nil, err
		}
		waited, pause = waited+wait, pause*2
	}
}

func isOK(response *http.Response) bool {
	return response.StatusCode >= 200 && response.StatusCode < 300
}

// waitToRepeat waits, and tells those who wait for the request.
func (h *HTTP) waitToRepeat(ctx context.Context, status int, wait time.Duration) error {
	h.opts.Log.Info().Int("status", status).Dur("pause", wait).Msg("the server is not available now, and is asked again")
	defer awaited.Begin(ctx, fmt.Sprintf("its host, which answered with HTTP %d %s and is asked again", status, http.StatusText(status)))()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-h.ctx.Done():
		return h.Err()
	}
}

// mayRepeat reports whether a refused message can be sent again: the server may be available later, and the message did
// nothing. A server has done nothing if it says when to come back (RFC 9110, 15.6.4), if it gets too many requests (RFC
// 6585), or if it refuses a message before it knows the message's id. The answer of a proxy proves nothing about a call
// of a tool: the call is sent again only if it is repeatable. An answer of ours, for which call is nil, may arrive twice.
func (h *HTTP) mayRepeat(r *http.Request, call *jsonrpc.Request, response *http.Response, body []byte) bool {
	switch response.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
	case http.StatusInternalServerError:
		if call != nil {
			return false
		}
	default:
		return false
	}
	if r.Header.Get(sessionHeader) != "" && isLost(response.StatusCode, body, h.known.Load()) {
		return false
	}
	if call == nil {
		return true
	}
	if response.Header.Get("Retry-After") != "" && response.StatusCode != http.StatusBadGateway && response.StatusCode != http.StatusGatewayTimeout {
		return true
	}
	switch refusal := refusalIn(body); {
	case refusal == nil:
	case refusal.id != nil:
		return false // the server's own answer
	case response.StatusCode == http.StatusServiceUnavailable:
		return true
	}
	return response.StatusCode == http.StatusTooManyRequests || !slices.Contains(effective, call.Method) || isRepeatable(r.Context())
}

type repeatableKey struct{}

// WithRepeatable returns a context for one call of a tool. is reports whether a second call changes nothing more; it is
// asked only once the server was not available.
func WithRepeatable(ctx context.Context, is func() bool) context.Context {
	return context.WithValue(ctx, repeatableKey{}, is)
}

func isRepeatable(ctx context.Context) bool {
	is, ok := ctx.Value(repeatableKey{}).(func() bool)
	return ok && is()
}

// effective are the requests that may change something each time.
var effective = []string{"tools/call", "tasks/update", "tasks/result"}

// retryAfter returns how long the server wants to be left alone: a number of seconds, or a date. It is 0 if the server
// does not say.
func retryAfter(response *http.Response) time.Duration {
	text := strings.TrimSpace(response.Header.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		return time.Duration(min(max(seconds, 0), (2*maxRetryTime).Seconds()) * float64(time.Second))
	}
	if at, err := http.ParseTime(text); err == nil {
		now := time.Now()
		if theirs, err := http.ParseTime(response.Header.Get("Date")); err == nil {
			now = theirs // the clocks may differ
		}
		return max(at.Sub(now), 0)
	}
	return 0
}

// refusal is a JSON-RPC error in the body of a response that is not 2xx.
type refusal struct {
	id  json.RawMessage // nil for null and for none
	err *jsonrpc.Error
}

// refusalIn returns the JSON-RPC error of a body, or nil.
func refusalIn(body []byte) *refusal {
	var m struct {
		ID    json.RawMessage `json:"id"`
		Error *jsonrpc.Error  `json:"error"`
	}
	if json.Unmarshal(body, &m) != nil || m.Error == nil || m.Error.Message == "" {
		return nil
	}
	if string(m.ID) == "null" {
		m.ID = nil
	}
	return &refusal{m.ID, m.Error}
}

// sessionWords are those of servers that no longer know a session, beside the word "session".
var sessionWords = []string{
	"not found", "not find", "no transport", "unknown", "invalid", "expired", "no valid", "not valid", "not exist", "doesn't exist", "no longer", "terminated", "closed",
	"missing", "no such", "not recogni", "unrecogni", "not initialized", "no active", "inactive", "lost", "stale", "ended", "timed out",
}

// isLost reports whether the refusal of a request with a session says that the server no longer knows the session. The
// specification wants 404 (2025-11-25, "Session Management"). Servers also say it with 410, or in the text of another
// status. A 400 with a JSON-RPC error without an id refuses the request before its message was read; the session of
// that is lost if the server knew it before.
func isLost(status int, body []byte, known bool) bool {
	switch {
	case status < 400:
		return false
	case status == http.StatusUnauthorized, status == http.StatusForbidden: // of the person, but with some servers
		return quirk.IsRefusedSession(string(body))
	case status == http.StatusNotFound, status == http.StatusGone:
		return true
	}
	text := body
	refused := refusalIn(body)
	if refused != nil {
		text = []byte(refused.err.Message)
	}
	return saysLost(text) || status == http.StatusBadRequest && refused != nil && refused.id == nil && known
}

// saysLost reports whether a text says that a session is unknown.
func saysLost(text []byte) bool {
	text = bytes.ReplaceAll(bytes.ToLower(text[:min(len(text), 1000)]), []byte("_"), []byte(" ")) // SESSION_NOT_FOUND
	return bytes.Contains(text, []byte("session")) &&
		slices.ContainsFunc(sessionWords, func(word string) bool { return bytes.Contains(text, []byte(word)) })
}

// sessionPing is how long a server may take for the ping of [HTTP.checkSession].
const sessionPing = 5 * time.Second

// checkSession ends a known session if the server answers with an error which says that it is lost. The error of a call may
// be about a session of the tool's own, and the call may have run: it is not sent again, and a ping has to get such an error
// as well.
func (h *HTTP) checkSession(r *http.Request, call *jsonrpc.Request, answer *jsonrpc.Response) {
	if call == nil || r.Header.Get(sessionHeader) == "" {
		return
	}
	var refused *jsonrpc.Error
	switch {
	case !errors.As(answer.Error, &refused),
		!saysLost([]byte(refused.Message)) && !strings.Contains(strings.ToLower(refused.Message), "not initialized"):
		h.known.Store(true)
	case !h.known.Load(): // perhaps the server is not ready yet
	case call.Method == "ping":
		h.Lose(ErrSessionLost)
	default:
		ctx, cancel := context.WithTimeout(h.ctx, sessionPing)
		defer cancel()
		_, err := h.Call(ctx, "ping", struct{}{}) // its answer is checked in the same way
		h.opts.Log.Debug().AnErr("ping", err).Msg("the server said that the session is lost")
	}
}

// answersLost reports whether a message with an error and without an id, in place of an answer, says that the session is
// unknown.
func answersLost(data []byte) bool {
	if len(data) > maxRefusal {
		return false
	}
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method json.RawMessage `json:"method"`
		Error  json.RawMessage `json:"error"`
	}
	if json.Unmarshal(data, &m) != nil || m.Method != nil || m.ID != nil && string(m.ID) != "null" {
		return false
	}
	return m.Error != nil && saysLost(m.Error)
}
