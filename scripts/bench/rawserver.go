package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"
)

// rawServerCommand makes this program an MCP server without a library, so that measurements show only
// the client, as far as a process and its pipes allow.
const rawServerCommand = "rawserver"

// rawServer has askTool, and as many other tools as its argument says.
type rawServer struct {
	out   *bufio.Writer
	tools string

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

// usualTool is a tool of the size that tools have.
const usualTool = `,{"name":"search_issues_%d","title":"Search issues","description":"Searches the issues of a repository by text, state, ` +
	`labels and author. Returns the newest first, with title, number, state and labels. Use get_issue for the whole text of one.",` +
	`"inputSchema":{"type":"object","properties":{"query":{"type":"string","description":"What the title or the text contains."},` +
	`"state":{"type":"string","enum":["open","closed","all"],"default":"open"},"labels":{"type":"array","items":{"type":"string"}},` +
	`"page":{"type":"integer","minimum":1}},"required":["query"]},"annotations":{"readOnlyHint":true}}`

// serveRaw reads one message a line until stdin ends.
func serveRaw(args []string) error {
	s := &rawServer{out: bufio.NewWriter(os.Stdout), tools: `{"name":"` + askTool + `","inputSchema":{"type":"object"}}`}
	if len(args) > 0 {
		n, err := strconv.Atoi(args[0])
		if err != nil {
			return err
		}
		for i := range n {
			s.tools += fmt.Sprintf(usualTool, i)
		}
	}
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
		return s.answer(m.ID, `{"tools":[`+s.tools+`]}`)
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
	if params.Arguments.N == 0 { // a call that asks nothing
		return s.answer(m.ID, `{"content":[{"type":"text","text":"done"}]}`)
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
