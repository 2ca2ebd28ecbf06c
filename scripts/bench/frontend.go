package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"assent/protocol"
)

// frontEnd is a front end that answers every ask at once. It is used by one goroutine.
type frontEnd struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	out   *bufio.Reader
	next  int64
	// bytes and messages count what the sidecar said.
	bytes, messages int64
}

func (b *bench) command(name string, args ...string) *exec.Cmd {
	return exec.CommandContext(b.ctx, name, args...)
}

// attach starts a program that speaks on stdout as the sidecar does.
func attach(cmd *exec.Cmd) (*frontEnd, error) {
	f := &frontEnd{cmd: cmd}
	var err error
	if f.stdin, err = f.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := f.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	f.out = bufio.NewReaderSize(stdout, 64<<10)
	return f, f.cmd.Start()
}

// startSidecar starts the real binary and shakes hands.
func (b *bench) startSidecar(dataDir string, servers map[string]any, model protocol.ModelSettings) (*frontEnd, error) {
	cmd := b.command(b.sidecar, "serve", "--standalone", "--data-dir", dataDir, "--log-level", "error")
	cmd.Env = append(os.Environ(), "ASSENT_DAEMON_DIR="+filepath.Join(dataDir, "daemon"))
	f, err := attach(cmd)
	if err != nil {
		return nil, err
	}
	return f, f.shakeHands(servers, model)
}

func (f *frontEnd) shakeHands(servers map[string]any, model protocol.ModelSettings) error {
	configured, err := json.Marshal(servers)
	if err != nil {
		return err
	}
	return f.call("initialize", protocol.InitializeParams{
		ProtocolVersion: protocol.Version,
		ClientInfo:      protocol.Implementation{Name: "bench", Version: "1"},
		Capabilities:    protocol.FrontEndCapabilities{Elicitation: true, Sampling: true},
		Configuration: protocol.Configuration{
			Servers: configured, Model: model, Sampling: &protocol.SamplingSettings{Review: protocol.ReviewNever},
			Elicitation: &protocol.ElicitationSettings{MaxOpen: new(int64(1 << 20))},
		},
	}, nil)
}

// close ends the sidecar.
func (f *frontEnd) close() error {
	return errors.Join(f.stdin.Close(), drain(f.out), f.cmd.Wait())
}

func drain(r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	return err
}

func (f *frontEnd) send(method string, id int64, params any) error {
	body, err := json.Marshal(struct {
		JSONRPC string `json:"jsonrpc"`
		ID      int64  `json:"id"`
		Method  string `json:"method"`
		Params  any    `json:"params,omitempty"`
	}{"2.0", id, method, params})
	if err != nil {
		return err
	}
	frame := append(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", len(body)), body...)
	_, err = f.stdin.Write(frame)
	return err
}

// message is what the sidecar says.
type message struct {
	ID     *int64          `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// readBody returns the next message, encoded.
func (f *frontEnd) readBody() ([]byte, error) {
	header, err := textproto.NewReader(f.out).ReadMIMEHeader()
	if err != nil {
		return nil, err
	}
	length, err := strconv.Atoi(header.Get("Content-Length"))
	if err != nil {
		return nil, err
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(f.out, body); err != nil {
		return nil, err
	}
	f.bytes += int64(length)
	f.messages++
	return body, nil
}

func (f *frontEnd) read() (*message, error) {
	body, err := f.readBody()
	if err != nil {
		return nil, err
	}
	var m message
	if err := json.Unmarshal(body, &m); err != nil {
		return nil, err
	}
	if m.Error != nil {
		return nil, errors.New(m.Error.Message)
	}
	return &m, nil
}

// call sends a request and waits for its result.
func (f *frontEnd) call(method string, params, result any) error {
	f.next++
	id := f.next
	if err := f.send(method, id, params); err != nil {
		return err
	}
	for {
		m, err := f.read()
		if err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
		if m.ID != nil && *m.ID == id {
			if result == nil {
				return nil
			}
			return json.Unmarshal(m.Result, result)
		}
	}
}

// answerAll runs the tool that asks, answers every ask at once, and returns what the tool returned.
func (f *frontEnd) answerAll(taskID, serverName string, n int) (sample, error) {
	if err := f.runTool(taskID, serverName, elicitTool, elicitInput{n}); err != nil {
		return nil, err
	}
	for {
		h, err := f.happens()
		if err != nil {
			return nil, err
		}
		if h.askID != "" {
			if err := f.answer(h, "x"); err != nil {
				return nil, err
			}
			continue
		}
		text, err := h.text()
		if err != nil {
			return nil, err
		}
		return durations(text)
	}
}

// timed is a call, and how long it took in microseconds.
func (f *frontEnd) timed(method string, params, result any) (float64, error) {
	began := time.Now()
	err := f.call(method, params, result)
	return float64(time.Since(began)) / float64(time.Microsecond), err
}
