// Package rpctest is a front end for tests and benchmarks of a sidecar. It writes and reads frames without the code
// under test, and knows no method. A [FrontEnd] is for one goroutine.
package rpctest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"os/exec"
	"strconv"

	"assent/protocol"
)

// Frame returns a message in its frame.
func Frame(body string) string {
	return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
}

// ReadFrame reads a frame and returns its message.
func ReadFrame(r *bufio.Reader) ([]byte, error) {
	header, err := textproto.NewReader(r).ReadMIMEHeader()
	if err != nil {
		return nil, err
	}
	length, err := strconv.Atoi(header.Get("Content-Length"))
	if err != nil {
		return nil, err
	}
	body := make([]byte, length)
	_, err = io.ReadFull(r, body)
	return body, err
}

// Message is a message of the sidecar: a notification without an ID, an answer without a Method, or a request with both.
type Message struct {
	ID     *int            `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *protocol.Error `json:"error"`
}

// Answers reports whether the message answers the request with an id.
func (m *Message) Answers(id int) bool { return m.Method == "" && m.ID != nil && *m.ID == id }

// FrontEnd is a front end of a sidecar that is a process.
type FrontEnd struct {
	// Cmd is the process, Stdin and Out are its pipes.
	Cmd   *exec.Cmd
	Stdin io.WriteCloser
	Out   *bufio.Reader
	// Heard gets each notification, before Next returns it.
	Heard func(method string, params json.RawMessage)
	// Serve gets each request of the sidecar, before Next returns it, and returns the result. The caller of Next answers a
	// request for which Serve returns nil.
	Serve func(method string, params json.RawMessage) (result any, err error)
	// Garbled gets the error of a message that is not JSON, before Next returns it.
	Garbled func(error)
	// Step is called before each request that is sent, and before each message that is read.
	Step func()

	last int // the id of the last request
}

// Start starts a process with the sidecar's protocol on stdin and stdout.
func Start(cmd *exec.Cmd) (*FrontEnd, error) {
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &FrontEnd{
		Cmd: cmd, Stdin: stdin, Out: bufio.NewReaderSize(stdout, 64<<10),
		Heard:   func(string, json.RawMessage) {},
		Serve:   func(string, json.RawMessage) (any, error) { return nil, nil },
		Garbled: func(error) {}, Step: func() {},
	}, cmd.Start()
}

// Close detaches, and waits until the process has ended.
func (f *FrontEnd) Close() error {
	err := f.Stdin.Close()
	_, readErr := io.Copy(io.Discard, f.Out)
	return errors.Join(err, readErr, f.Cmd.Wait())
}

// call is a request or a notification of the front end.
type call struct {
	JSONRPC string `json:"jsonrpc"`
	ID      int    `json:"id,omitempty"`
	Method  string `json:"method"`
	Params  any    `json:"params,omitempty"`
}

// Send sends a request and returns its id.
func (f *FrontEnd) Send(method string, params any) (id int, err error) {
	f.Step()
	f.last++
	return f.last, f.write(call{"2.0", f.last, method, params})
}

// Notify sends a notification.
func (f *FrontEnd) Notify(method string, params any) error {
	return f.write(call{"2.0", 0, method, params})
}

// Answer answers a request of the sidecar.
func (f *FrontEnd) Answer(id int, result any) error {
	return f.write(map[string]any{"jsonrpc": "2.0", "id": id, "result": result})
}

func (f *FrontEnd) write(message any) error {
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	_, err = f.Stdin.Write(append(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", len(body)), body...))
	return err
}

// NextBody returns the next message as it was sent. Heard and Serve do not get it.
func (f *FrontEnd) NextBody() ([]byte, error) {
	f.Step()
	return ReadFrame(f.Out)
}

// Next returns the next message.
func (f *FrontEnd) Next() (*Message, error) {
	body, err := f.NextBody()
	if err != nil {
		return nil, err
	}
	m := &Message{}
	if err := json.Unmarshal(body, m); err != nil {
		err = fmt.Errorf("the sidecar said %s: %w", body, err)
		f.Garbled(err)
		return nil, err
	}
	switch {
	case m.Method == "":
	case m.ID == nil:
		f.Heard(m.Method, m.Params)
	default:
		result, err := f.Serve(m.Method, m.Params)
		if err == nil && result != nil {
			err = f.Answer(*m.ID, result)
		}
		if err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Call sends a request and reads its result, which may be nil. An error answer is a
// [protocol.Error].
func (f *FrontEnd) Call(method string, params, result any) error {
	id, err := f.Send(method, params)
	if err != nil {
		return err
	}
	return f.Await(id, method, result)
}

// Await reads the result of a request. It also fails if an earlier request failed, because no caller waits for that
// answer.
func (f *FrontEnd) Await(id int, method string, result any) error {
	for {
		m, err := f.Next()
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", method, err)
		case m.Method == "" && m.Error != nil:
			return fmt.Errorf("%s: %w", method, m.Error)
		case m.Answers(id) && result != nil:
			return json.Unmarshal(m.Result, result)
		case m.Answers(id):
			return nil
		}
	}
}
