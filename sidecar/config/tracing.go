package config

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"assent/protocol"
	"assent/sidecar/base/reason"
)

// Tracing says where traces are exported, from the member "tracing" of the person's own file. Files of a workspace have none.
type Tracing struct {
	// Models: endpoints of models get the trace context in a header.
	Models bool
	// collector is the address with its headers, whose variables are those of a server.
	collector Server
	text      string
}

// tracingName is [Server.Name] for [Environment.Note].
const tracingName = "the collector of traces"

// Collector returns the server that stands for the collector in [Environment.Note].
func (t *Tracing) Collector() Server { return t.collector }

// Text is the member as it is written. It has no secrets.
func (t *Tracing) Text() string { return t.text }

// Endpoint puts the variables into the URL and the headers of the collector.
func (t *Tracing) Endpoint(ctx context.Context, e Environment) (*url.URL, http.Header, error) {
	return t.collector.Endpoint(ctx, e)
}

// check finds errors that do not depend on the values of variables.
func (t *Tracing) check() error {
	c := t.collector
	if strings.HasPrefix(c.URL, "${") {
		c.URL = "http://collector" // all of it, or its beginning, is a value
	}
	c.URL = variable().ReplaceAllString(c.URL, "value")
	_, _, err := c.Endpoint(context.Background(), Environment{Secret: func(string) (string, error) { return "", nil }})
	return err
}

// tracing reads the member "tracing" of the person's own file, and reports whether there is one.
func (l *loader) tracing(path string, data []byte) bool {
	root, err := Parse(data)
	if err != nil {
		return false // the reader of the servers says so
	}
	member := root.Find("/tracing")
	if member == nil {
		return false
	}
	raw := standard(*member)
	var c struct {
		Endpoint string            `json:"endpoint"`
		Headers  map[string]string `json:"headers"`
		Models   bool              `json:"models"`
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&c); err != nil {
		l.problem(path, data, member.StartOffset, `"tracing" must be an object with the members "endpoint", "headers" and "models": %s. Nothing is exported`, reason.Of(err))
		return true
	}
	if c.Endpoint == "" {
		l.problem(path, data, member.StartOffset, `"tracing" has no "endpoint", so nothing is exported: for a collector on this machine it is http://localhost:4318/v1/traces`)
		return true
	}
	for name, value := range c.Headers {
		if !variable().MatchString(value) {
			l.problem(path, data, member.StartOffset, `"tracing": the header %q must take its value from ${secret:NAME} or ${env:NAME}, so that no key is in a file. Nothing is exported`, name)
			return true
		}
	}
	l.result.Tracing = &Tracing{Models: c.Models, text: string(raw), collector: Server{
		Name: tracingName, Source: path, Transport: protocol.TransportHTTP, URL: c.Endpoint, Headers: c.Headers,
		SourceRights: SourceRights{KeptSecrets: true},
	}}
	if err := l.result.Tracing.check(); err != nil {
		l.problem(path, data, member.StartOffset, `"tracing": %s. Nothing is exported`, reason.Of(err))
		l.result.Tracing = nil
	}
	return true
}
