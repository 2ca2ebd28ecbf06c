package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"assent/protocol"
)

// token is what a chunk of an answer says; a larger chunk says it more than once.
const token = "token "

// shape is an answer's. Its text is the name of the model that writes it.
type shape struct{ chunks, tokens int }

func (s shape) String() string { return fmt.Sprintf("%d-tokens-in-%d", s.tokens, s.chunks) }

func shapeOf(model string) (shape, error) {
	var s shape
	if _, err := fmt.Sscanf(model, "%d-tokens-in-%d", &s.tokens, &s.chunks); err != nil || s.chunks < 1 || s.tokens%s.chunks != 0 {
		return s, fmt.Errorf("there is no model %q", model)
	}
	return s, nil
}

// modelEndpoint speaks OpenAI's chat completions on loopback, and answers in the shape that the name of
// the model says, as fast as it can.
type modelEndpoint struct {
	base   string
	server *http.Server
	done   chan error // of one: why it ended
}

func startEndpoint() (*modelEndpoint, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	e := &modelEndpoint{
		base:   "http://" + listener.Addr().String() + "/v1",
		server: &http.Server{Handler: http.HandlerFunc(answer)},
		done:   make(chan error, 1),
	}
	go func() { e.done <- e.server.Serve(listener) }()
	return e, nil
}

func (e *modelEndpoint) close() error {
	err := e.server.Close()
	if ended := <-e.done; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}

func modelSettings(base, name string) protocol.ModelSettings {
	return protocol.ModelSettings{Endpoints: []protocol.EndpointSettings{{Provider: protocol.ProviderOpenAI, BaseURL: base, Models: []string{name}}}}
}

func answer(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Model string `json:"model"`
	}
	err := json.NewDecoder(r.Body).Decode(&request)
	s, shapeErr := shapeOf(request.Model)
	if err := errors.Join(err, shapeErr); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	chunk := func(delta, finish string) []byte {
		return fmt.Appendf(nil, `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":%q,"choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`+"\n\n",
			request.Model, delta, finish)
	}
	piece := chunk(fmt.Sprintf(`{"content":%q}`, strings.Repeat(token, s.tokens/s.chunks)), "null")
	for range s.chunks {
		if _, err := w.Write(piece); err != nil {
			return // who reads it says so
		}
	}
	_, _ = w.Write(append(chunk("{}", `"stop"`), "data: [DONE]\n\n"...)) // the same
}
