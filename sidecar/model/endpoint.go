package model

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"assent/protocol"
)

// The bounds of an endpoint's data. Endpoints are less hostile than servers, but any program may
// listen at an address on the person's network.
const (
	mostBody    = 64 << 20 // bytes of a whole answer
	mostList    = 16 << 20 // bytes of a list of models; OpenRouter's has half a megabyte
	mostModels  = 1000
	mostProblem = 64 << 10 // bytes of an error that are read
	mostMessage = 500      // characters of an error that are shown
)

// listAge is how long a list of an endpoint's models is cached.
const listAge = time.Minute

// endpoint is a network address with models. It may be used from any goroutine.
type endpoint struct {
	provider protocol.ModelProvider
	// base is its address without a trailing slash.
	base string
	// label distinguishes its models from others of the same name; empty if that is not needed.
	label  string
	models []string // as configured
	key    string
	// authorize puts the key into a request's header.
	authorize func(header http.Header, key string)
	// free: the model has no price per token.
	free bool
	// cannot returns the parts of a request that the model does not support.
	cannot func(name string) []protocol.RequestPart
	client *http.Client

	mu       sync.Mutex // guards the fields below, and is held while the list is read
	listed   []protocol.Model
	listedAt time.Time
}

// notFollowing returns a client like the given one that does not follow redirects, because the key
// and the conversation are meant for this endpoint.
func notFollowing(client *http.Client) *http.Client {
	own := *client
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// Models implements [Provider]. It returns configured models without a check: an endpoint that is
// down fails with a better error at the first request.
func (e *endpoint) Models(ctx context.Context) ([]protocol.Model, error) {
	if len(e.models) > 0 {
		var models []protocol.Model
		for _, name := range e.models {
			models = append(models, e.model(name, name))
		}
		return models, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.listedAt.IsZero() || time.Since(e.listedAt) > listAge {
		models, err := e.list(ctx)
		if err != nil {
			return nil, err
		}
		e.listed, e.listedAt = models, time.Now()
	}
	return e.listed, nil
}

func (e *endpoint) model(id, name string) protocol.Model {
	m := protocol.Model{ID: string(e.provider) + ":" + id, Name: name, Provider: e.provider, Cannot: e.cannot(id)}
	if e.label != "" {
		m.Name += " (" + e.label + ")"
	}
	if e.free {
		m.InputCost, m.OutputCost = new(0.0), new(0.0)
	}
	return m
}

// listing has the members that endpoints use in a list of models; most have only the id.
type listing struct {
	ID string `json:"id"`
	// OpenRouter has Name, and Anthropic DisplayName.
	Name        string `json:"name"`
	DisplayName string `json:"display_name"`
	// OpenRouter has ContextLength, and vLLM MaxModelLen.
	ContextLength int64 `json:"context_length"`
	MaxModelLen   int64 `json:"max_model_len"`
	// OpenRouter has Pricing, in dollars per token.
	Pricing struct {
		Prompt     string `json:"prompt"`
		Completion string `json:"completion"`
	} `json:"pricing"`
}

// list asks the endpoint for its models.
func (e *endpoint) list(ctx context.Context) ([]protocol.Model, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.base+"/models?limit=1000", nil)
	if err != nil {
		return nil, err
	}
	resp, err := e.Do(req)
	if err != nil {
		return nil, e.failure(err)
	}
	defer resp.Body.Close()
	var found struct {
		Data []listing `json:"data"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, mostList)).Decode(&found); err != nil {
		return nil, fmt.Errorf("%s gave a list of models that cannot be read: %w", e.base, err)
	}
	var models []protocol.Model
	for _, l := range found.Data {
		id := strings.TrimPrefix(l.ID, "models/") // Gemini's prefix, which is optional in requests
		if id == "" || strings.Contains(id, "embed") || len(models) == mostModels {
			continue // embedding models do not write text
		}
		m := e.model(id, cmp.Or(l.Name, l.DisplayName, id))
		m.ContextTokens = max(0, l.ContextLength, l.MaxModelLen)
		if in, out, ok := l.cost(); ok {
			m.InputCost, m.OutputCost = &in, &out
		}
		models = append(models, m)
	}
	return models, nil
}

// cost is in dollars per million tokens. OpenRouter's routers have a price of -1, because it
// varies.
func (l *listing) cost() (in, out float64, known bool) {
	in, err := strconv.ParseFloat(l.Pricing.Prompt, 64)
	out, err2 := strconv.ParseFloat(l.Pricing.Completion, 64)
	const million = 1e6
	return in * million, out * million, errors.Join(err, err2) == nil && in >= 0 && out >= 0
}

// IsRefusedRequest reports whether an endpoint refused the request itself: sent again, it is refused again.
func IsRefusedRequest(err error) bool {
	var no *refused
	return errors.As(err, &no) && slices.Contains([]int{
		http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity,
	}, no.code)
}

// WithoutImages returns a request with words in place of its images, and how many there were.
func WithoutImages(request *protocol.McpSamplingRequest) (*protocol.McpSamplingRequest, int) {
	const words = "[an image, which the model's provider did not accept]"
	r, left := *request, 0
	r.Messages = slices.Clone(request.Messages)
	for i, m := range r.Messages {
		content := slices.Clone(m.Content)
		for j, block := range content {
			switch block := block.(type) {
			case protocol.ImageContent:
				content[j] = protocol.TextContent{Text: words}
				left++
			case protocol.ToolResultContent:
				block.Content = slices.Clone(block.Content)
				for k, part := range block.Content {
					if _, ok := part.(protocol.ImageContent); ok {
						block.Content[k] = protocol.TextContent{Text: words}
						left++
					}
				}
				content[j] = block
			}
		}
		r.Messages[i].Content = content
	}
	return &r, left
}

// refused is an error status of an endpoint.
type refused struct {
	code    int
	status  string
	message string        // empty if the endpoint gave none
	after   time.Duration // the endpoint's time to try again; 0 if it gave none
}

// Error implements error.
func (r *refused) Error() string {
	text := "it answered " + r.status
	if r.message != "" {
		text = r.message
	}
	if r.after > 0 {
		text += " (try again in " + r.after.String() + ")"
	}
	return text
}

// TryAgain reports whether an endpoint's failure may be temporary: it is overloaded, or had an internal
// error. After is the endpoint's time to try again, or 0.
func TryAgain(err error) (after time.Duration, soon bool) {
	var no *refused
	if !errors.As(err, &no) {
		return 0, false
	}
	return no.after, no.code == http.StatusTooManyRequests || no.code >= 500
}

// Do sends a request with the key. A status other than 2xx is an error. Otherwise, reading the body
// fails when it gets too long.
func (e *endpoint) Do(req *http.Request) (*http.Response, error) {
	if e.key != "" {
		e.authorize(req.Header, e.key)
	}
	// Many servers close a connection after five idle seconds, which a request can coincide with. An empty key is not
	// sent, but it makes net/http repeat the request on another connection if the first one had served a request
	// before and returns nothing.
	req.Header["Idempotency-Key"] = nil
	resp, err := e.client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		defer resp.Body.Close()
		body, err := io.ReadAll(io.LimitReader(resp.Body, mostProblem))
		if err != nil {
			body = nil // the status is enough
		}
		return nil, &refused{
			code: resp.StatusCode, status: resp.Status,
			message: e.presentable(problem(body)), after: retryAfter(resp.Header),
		}
	}
	resp.Body = &boundedBody{ReadCloser: resp.Body, left: mostBody}
	return resp, nil
}

// post sends a JSON body and returns the stream that answers it.
func (e *endpoint) post(ctx context.Context, path string, body any, header http.Header) (*http.Response, error) {
	encoded, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.base+path, bytes.NewReader(encoded))
	if err != nil {
		return nil, err
	}
	req.Header = header
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	return e.Do(req)
}

// failure returns an error as a sentence for the person, with what to do if that is known.
func (e *endpoint) failure(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		err = at.Err // the rest repeats the address
	}
	var no *refused
	switch {
	case errors.As(err, &no):
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: %s ended its answer in the middle", ErrFailed, e.base)
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%w: %s closed the connection without an answer", ErrFailed, e.base)
	case errors.As(err, new(*json.SyntaxError)), errors.As(err, new(*json.UnmarshalTypeError)):
		return fmt.Errorf("%w: %s sent what cannot be read: %w", ErrFailed, e.base, err)
	default:
		return fmt.Errorf("%w: %s: %w", ErrFailed, e.base, err)
	}
	switch {
	case no.code == http.StatusUnauthorized || no.code == http.StatusForbidden:
		return fmt.Errorf("%w: %s did not accept the API key: %w. The command Assent: Choose a Model changes it", ErrFailed, e.base, no)
	case no.code == http.StatusTooManyRequests:
		return fmt.Errorf("%w: %s takes no more requests for now: %w", ErrFailed, e.base, no)
	case no.code < 400:
		return fmt.Errorf("%w: %s sends elsewhere (%s), which is not followed: check the base URL in the settings", ErrFailed, e.base, no.status)
	default:
		return fmt.Errorf("%w: %s: %w", ErrFailed, e.base, no)
	}
}

// presentable shortens an endpoint's text, and removes the key from it.
func (e *endpoint) presentable(message string) string {
	if e.key != "" {
		message = strings.ReplaceAll(message, e.key, "***")
	}
	message = strings.Join(strings.Fields(message), " ")
	if runes := []rune(message); len(runes) > mostMessage {
		message = string(runes[:mostMessage]) + "…"
	}
	return message
}

// problem finds the sentence in an error's body. OpenAI, Anthropic and most others have it in
// error.message, Gemini in an array of those, LM Studio in error, vLLM in message.
func problem(body []byte) string {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var outer struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
	}
	if json.Unmarshal(body, &outer) != nil {
		return ""
	}
	var inner struct {
		Message string `json:"message"`
	}
	var text string
	if json.Unmarshal(outer.Error, &inner) != nil && json.Unmarshal(outer.Error, &text) != nil {
		return outer.Message
	}
	return cmp.Or(inner.Message, text, outer.Message)
}

// retryAfter returns the time until the next attempt: seconds or a date (RFC 9110, 10.2.3). It is 0 if the
// header is missing.
func retryAfter(header http.Header) time.Duration {
	value := header.Get("Retry-After")
	if seconds, err := strconv.Atoi(value); err == nil && seconds > 0 {
		return time.Duration(min(seconds, 1<<20)) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil && time.Until(at) > 0 {
		return time.Until(at).Round(time.Second)
	}
	return 0
}

// boundedBody is a body that fails when it gets too long.
type boundedBody struct {
	io.ReadCloser
	left int64
}

// Read implements [io.Reader].
func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("the answer is longer than %d MiB", mostBody>>20)
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}
