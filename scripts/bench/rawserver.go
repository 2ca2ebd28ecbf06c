package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// rawServerCommand makes this program an MCP server without a library: what is measured with it is the
// client's alone, as far as a process and its pipes allow.
const rawServerCommand = "rawserver"

// rawServer has askTool and nothing else.
type rawServer struct {
	out *bufio.Writer

	call  json.RawMessage // the id of the call of the tool
	in    askInput
	began []time.Time // of each ask
	times askTimes
	asked int
}

// rawMessage is what a client says.
type rawMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result *struct {
		Action string `json:"action"`
	} `json:"result"`
}

// serveRaw reads one message a line until stdin ends.
func serveRaw(context.Context) error {
	s := &rawServer{out: bufio.NewWriter(os.Stdout)}
	in := bufio.NewReaderSize(os.Stdin, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var m rawMessage
		if err := json.Unmarshal(line, &m); err != nil {
			return err
		}
		if err := s.handle(&m); err != nil {
			return err
		}
		if in.Buffered() > 0 {
			continue
		}
		if err := s.out.Flush(); err != nil {
			return err
		}
	}
}

func (s *rawServer) handle(m *rawMessage) error {
	switch m.Method {
	case "initialize":
		return s.answer(m.ID, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"1"}}`)
	case "tools/list":
		return s.answer(m.ID, `{"tools":[{"name":"`+askTool+`","inputSchema":{"type":"object"}}]}`)
	case "tools/call":
		return s.begin(m)
	case "":
		return s.answered(m)
	}
	if m.ID != nil && m.Method != "" {
		return s.answer(m.ID, `{}`)
	}
	return nil
}

func (s *rawServer) answer(id json.RawMessage, result string) error {
	_, err := fmt.Fprintf(s.out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result)
	return err
}

func (s *rawServer) begin(m *rawMessage) error {
	var params struct {
		Arguments askInput `json:"arguments"`
	}
	if err := json.Unmarshal(m.Params, &params); err != nil {
		return err
	}
	s.call, s.in, s.asked = m.ID, params.Arguments, 0
	s.began, s.times = make([]time.Time, s.in.N), askTimes{}
	for range min(s.in.AtOnce, s.in.N) {
		if err := s.ask(); err != nil {
			return err
		}
	}
	return nil
}

func (s *rawServer) ask() error {
	s.began[s.asked] = time.Now()
	_, err := fmt.Fprintf(s.out, `{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":{"message":"?","requestedSchema":%s}}`+"\n", s.asked, schema)
	s.asked++
	return err
}

func (s *rawServer) answered(m *rawMessage) error {
	var i int
	if err := json.Unmarshal(m.ID, &i); err != nil || i < 0 || i >= s.asked || m.Result == nil || m.Result.Action != "accept" {
		return fmt.Errorf("the client answered %s with %+v", m.ID, m.Result)
	}
	s.times.Each = append(s.times.Each, time.Since(s.began[i]))
	if s.asked < s.in.N {
		return s.ask()
	}
	if len(s.times.Each) < s.in.N {
		return nil
	}
	s.times.All = time.Since(s.began[0])
	text, err := json.Marshal(s.times)
	if err != nil {
		return err
	}
	quoted, err := json.Marshal(string(text))
	if err != nil {
		return err
	}
	return s.answer(s.call, `{"content":[{"type":"text","text":`+string(quoted)+`}]}`)
}
