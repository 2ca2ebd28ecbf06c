package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// gatewayHTTP measures calls of a host over Streamable HTTP: through Assent, and through two gateways from npm that start the
// same server on stdio.
func (b *bench) gatewayHTTP() ([]row, error) {
	names := []string{"supergateway", "mcp-proxy"}
	figures := make([]comparison, len(names))
	for range b.rounds {
		err := b.withGateway(b.usualServers(), func(h *home) (err error) {
			ours, err := h.httpHost("raw0")
			if err != nil {
				return fmt.Errorf("assent: %w", err)
			}
			for i, name := range names {
				theirs, stop, err := b.npmGateway(name)
				if err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				err = b.compareHTTP(&figures[i], ours, theirs)
				if err = errors.Join(err, stop()); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	var rows []row
	for i, name := range names {
		rows = append(rows, row{what: "a call of a host over HTTP, p50", unit: "us", figure: figures[i].figure, reference: figures[i].reference, referenceIs: name})
	}
	return rows, nil
}

// compareHTTP has two hosts take turns with blocks of calls.
func (b *bench) compareHTTP(c *comparison, ours, theirs *httpCaller) error {
	var micros [2]sample
	for block := range max(b.asks/askBlock, 2) + 1 {
		for i, host := range []*httpCaller{ours, theirs} {
			times, err := host.calls(askTool, askBlock)
			if err != nil {
				return err
			}
			if block > 0 { // the first block has the one-time work
				micros[i] = append(micros[i], times.micros()...)
			}
		}
	}
	c.add(micros[0].median(), micros[1].median())
	return nil
}

// npmGateway starts a gateway from npm in front of the raw server.
func (b *bench) npmGateway(name string) (c *httpCaller, stop func() error, err error) {
	port, err := freePort(b.ctx)
	if err != nil {
		return nil, nil, err
	}
	args := map[string][]string{
		"supergateway": {"supergateway/dist/index.js", "--stdio", fmt.Sprintf("%q %s", b.self, rawServerCommand), "--port", port, "--outputTransport", "streamableHttp", "--stateful", "--logLevel", "none"},
		"mcp-proxy":    {"mcp-proxy/dist/bin/mcp-proxy.mjs", "--port", port, "--host", "127.0.0.1", "--server", "stream", "--", b.self, rawServerCommand},
	}[name]
	args[0] = filepath.Join("node_modules", args[0])
	cmd := exec.CommandContext(b.ctx, b.node, args...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	stop = func() error {
		err := cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		return err
	}
	c = &httpCaller{url: "http://127.0.0.1:" + port + "/mcp"}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		err := c.initialize()
		if err == nil {
			return c, stop, nil
		}
		if time.Now().After(deadline) {
			return nil, nil, errors.Join(err, stop())
		}
	}
}

func freePort(ctx context.Context) (string, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, errors.Join(err, l.Close())
}

// httpHost adds a host over HTTP to the daemon, and shakes hands with it.
func (h *home) httpHost(server string) (*httpCaller, error) {
	out, err := h.run("hosts", "add", "bench", "--server", server, "--config", filepath.Join(h.folder, "mcp.json"), "--data-dir", filepath.Join(h.folder, "data"), "--trust")
	if err != nil {
		return nil, err
	}
	c := &httpCaller{}
	for line := range strings.Lines(string(out)) {
		if url, ok := strings.CutPrefix(line, "URL"); ok {
			c.url = strings.TrimSpace(url)
		}
		if _, token, ok := strings.Cut(line, "Bearer "); ok {
			c.token = strings.TrimSpace(token)
		}
	}
	return c, c.initialize()
}

// httpCaller is a host over Streamable HTTP that calls tools. One goroutine uses it.
type httpCaller struct {
	url, token, session string
	last                int
}

func (c *httpCaller) initialize() error {
	if _, err := c.post(`"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"claude-code","version":"2"}}`); err != nil {
		return err
	}
	_, err := c.post(`"method":"notifications/initialized"`)
	return err
}

// post sends a message, of which the members besides the version are given, and returns the body of its response.
func (c *httpCaller) post(members string) ([]byte, error) {
	request, err := http.NewRequest(http.MethodPost, c.url, strings.NewReader(`{"jsonrpc":"2.0",`+members+`}`))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	request.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	if c.session != "" {
		request.Header.Set("Mcp-Session-Id", c.session)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return nil, err
	}
	if response.StatusCode >= 300 {
		return nil, fmt.Errorf("%s: %s", response.Status, body)
	}
	if session := response.Header.Get("Mcp-Session-Id"); session != "" {
		c.session = session
	}
	return body, nil
}

// calls calls a tool n times, one call after the other.
func (c *httpCaller) calls(tool string, n int) (times askTimes, err error) {
	start := time.Now()
	for range n {
		c.last++
		began := time.Now()
		body, err := c.post(fmt.Sprintf(`"id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"text":"number %d"}}`, c.last, tool, c.last))
		if err != nil {
			return times, err
		}
		times.Each = append(times.Each, time.Since(began))
		if !hasResult(body) {
			return times, fmt.Errorf("the host got %s", body)
		}
	}
	times.All = time.Since(start)
	return times, nil
}

// hasResult reports whether a body, of JSON or of events, has a result.
func hasResult(body []byte) bool {
	for line := range bytes.Lines(body) {
		line = bytes.TrimPrefix(line, []byte("data:"))
		var message struct{ Result json.RawMessage }
		if json.Unmarshal(line, &message) == nil && message.Result != nil {
			return true
		}
	}
	return false
}
