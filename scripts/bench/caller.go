package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// caller is a host that calls tools and answers nothing. It writes and reads raw JSON, and is used by one goroutine.
type caller struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	last int
}

// startCaller starts an MCP server on stdio, and shakes hands with it.
func startCaller(cmd *exec.Cmd) (*caller, error) {
	c := &caller{cmd: cmd}
	cmd.Stderr = os.Stderr
	var err error
	if c.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = bufio.NewReaderSize(out, 64<<10)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if _, err := c.request("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"claude-code","version":"2"}}`); err != nil {
		return nil, errors.Join(err, c.close())
	}
	_, err = io.WriteString(c.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	return c, err
}

// close ends the server.
func (c *caller) close() error { return errors.Join(c.in.Close(), c.cmd.Wait()) }

// send sends a request.
func (c *caller) send(method, params string) error {
	c.last++
	_, err := fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", c.last, method, params)
	return err
}

// answered reads on until a request has its result.
func (c *caller) answered() (id int, result json.RawMessage, err error) {
	for {
		line, err := c.out.ReadBytes('\n')
		if err != nil {
			return 0, nil, err
		}
		var m struct {
			ID     *int
			Method string
			Result json.RawMessage
		}
		switch err := json.Unmarshal(line, &m); {
		case err != nil:
			return 0, nil, err
		case m.ID == nil || m.Method != "":
			continue
		case m.Result == nil:
			return 0, nil, fmt.Errorf("the host got %s", line)
		}
		return *m.ID, m.Result, nil
	}
}

// request sends a request and returns its result.
func (c *caller) request(method, params string) (json.RawMessage, error) {
	if err := c.send(method, params); err != nil {
		return nil, err
	}
	_, result, err := c.answered()
	return result, err
}

// calls calls a tool that answers at once, atOnce of n calls in flight.
func (c *caller) calls(tool string, n, atOnce int) (times askTimes, err error) {
	began := make(map[int]time.Time, atOnce)
	next := func() error {
		began[c.last+1] = time.Now()
		return c.send("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{"text":"number %d"}}`, tool, c.last))
	}
	start := time.Now()
	for range min(atOnce, n) {
		if err := next(); err != nil {
			return times, err
		}
	}
	for sent := min(atOnce, n); len(times.Each) < n; {
		id, _, err := c.answered()
		if err != nil {
			return times, err
		}
		times.Each = append(times.Each, time.Since(began[id]))
		delete(began, id)
		if sent == n {
			continue
		}
		if err := next(); err != nil {
			return times, err
		}
		sent++
	}
	times.All = time.Since(start)
	return times, nil
}
