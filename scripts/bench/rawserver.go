package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// rawServerCommand makes this program an MCP server without a library, so that measurements show only
// the client, as far as a process and its pipes allow.
const rawServerCommand = "rawserver"

// checkTool asks as askTool does, each time something else, and checks that each answer is the question's own. It returns a
// checkedAsks.
const checkTool = "check"

// checkedAsks is what a server that checks its answers returns.
type checkedAsks struct {
	Answered int `json:"answered"`
	PID      int `json:"pid"` // of the server
}

// rawServer has askTool and checkTool, and as many other tools as its first argument says. A second one is by how many bytes
// each of their descriptions is longer.
type rawServer struct {
	out   *bufio.Writer
	tools string

	call  json.RawMessage // the id of the call of the tool
	tool  string          // which it calls
	in    askInput
	began []time.Time // of each ask that is open, else zero
	start time.Time
	times askTimes
	asked int
}

// rawMessage is what a client says.
type rawMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result *struct {
		Action  string          `json:"action"`
		Content json.RawMessage `json:"content"`
	} `json:"result"`
}

// usualTool is a tool of the size that tools have.
const usualTool = `,{"name":"search_issues_%d","title":"Search issues","description":"Searches the issues of a repository by text, state, ` +
	`labels and author. Returns the newest first, with title, number, state and labels. Use get_issue for the whole text of one.%s",` +
	`"inputSchema":{"type":"object","properties":{"query":{"type":"string","description":"What the title or the text contains."},` +
	`"state":{"type":"string","enum":["open","closed","all"],"default":"open"},"labels":{"type":"array","items":{"type":"string"}},` +
	`"page":{"type":"integer","minimum":1}},"required":["query"]},"annotations":{"readOnlyHint":true}}`

func newRawServer(out io.Writer) *rawServer {
	return &rawServer{out: bufio.NewWriter(out), tools: fmt.Sprintf(
		`{"name":%q,"inputSchema":{"type":"object"}},{"name":%q,"inputSchema":{"type":"object"}}`, askTool, checkTool)}
}

// serveRaw reads one message a line until stdin ends.
func serveRaw(args []string) error {
	s := newRawServer(os.Stdout)
	if len(args) > 0 {
		n, err := strconv.Atoi(args[0])
		if err != nil {
			return err
		}
		padding := 0
		if len(args) > 1 {
			if padding, err = strconv.Atoi(args[1]); err != nil {
				return err
			}
		}
		var more strings.Builder
		for i := range n {
			fmt.Fprintf(&more, usualTool, i, strings.Repeat("x", padding))
		}
		s.tools += more.String()
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
		Name      string   `json:"name"`
		Arguments askInput `json:"arguments"`
	}
	if err := json.Unmarshal(m.Params, &params); err != nil {
		return err
	}
	if in := params.Arguments; in.N == 0 { // a call that asks nothing
		return s.answer(m.ID, largeResult(in.Bytes, in.Image))
	}
	s.call, s.tool, s.in, s.asked = m.ID, params.Name, params.Arguments, 0
	s.began, s.times, s.start = make([]time.Time, s.in.N), askTimes{}, time.Now()
	for range min(s.in.AtOnce, s.in.N) {
		if err := s.ask(); err != nil {
			return err
		}
	}
	return nil
}

func (s *rawServer) ask() error {
	s.began[s.asked] = time.Now()
	asked := schema
	if s.in.Fields > 0 {
		asked = json.RawMessage(largeForm(s.in.Fields))
	}
	_, err := fmt.Fprintf(s.out, `{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":{"message":%q,"requestedSchema":%s}}`+"\n",
		s.asked, s.question(s.asked), asked)
	s.asked++
	return err
}

// largeForm is a form of n fields, of which one is the answer.
func largeForm(n int) string {
	var fields strings.Builder
	for i := range n - 1 {
		fmt.Fprintf(&fields, `,"field%d":{"type":"string","title":"Field %d","description":"What field %d is for.","maxLength":100}`, i, i, i)
	}
	return `{"type":"object","properties":{"answer":{"type":"string"}` + fields.String() + `}}`
}

// largeResult is a result of n bytes of text, or a picture of as many.
func largeResult(n int, image bool) string {
	if image {
		// The first bytes of a PNG, and zeros.
		return `{"content":[{"type":"image","mimeType":"image/png","data":"iVBORw0KGgoA` + strings.Repeat("AAAA", n/3) + `"}]}`
	}
	text := "done"
	if n > 0 {
		text = strings.Repeat(`A line of a result, as \"servers\" return it.\n`, n/46)
	}
	return `{"content":[{"type":"text","text":"` + text + `"}]}`
}

// question returns what an ask asks. That of checkTool is another one for each ask of each server.
func (s *rawServer) question(i int) string {
	if s.tool == askTool {
		return "?"
	}
	return fmt.Sprintf("%d.%s.%d", os.Getpid(), s.call, i)
}

func (s *rawServer) answered(m *rawMessage) error {
	i, err := s.settled(m)
	if err != nil {
		if s.tool == checkTool {
			return s.end(err.Error(), true)
		}
		return err
	}
	s.times.Each = append(s.times.Each, time.Since(s.began[i]))
	s.began[i] = time.Time{}
	if s.asked < s.in.N {
		return s.ask()
	}
	if len(s.times.Each) < s.in.N {
		return nil
	}
	s.times.All = time.Since(s.start)
	var result any = s.times
	if s.tool == checkTool {
		result = checkedAsks{Answered: len(s.times.Each), PID: os.Getpid()}
	}
	text, err := json.Marshal(result)
	if err != nil {
		return err
	}
	return s.end(string(text), false)
}

// settled returns which ask a message answers. It fails if that is not open, was not accepted, or if the answer is another
// one's.
func (s *rawServer) settled(m *rawMessage) (int, error) {
	var i int
	if err := json.Unmarshal(m.ID, &i); err != nil || i < 0 || i >= s.asked || m.Result == nil || m.Result.Action != "accept" {
		return 0, fmt.Errorf("the client answered %s with %+v", m.ID, m.Result)
	}
	if s.began[i].IsZero() {
		return 0, fmt.Errorf("the client answered %d twice", i)
	}
	if s.tool == askTool {
		return i, nil
	}
	var content struct {
		Answer string `json:"answer"`
	}
	if err := json.Unmarshal(m.Result.Content, &content); err != nil || content.Answer != s.question(i) {
		return 0, fmt.Errorf("the client answered %q with %s", s.question(i), m.Result.Content)
	}
	return i, nil
}

// end answers the call.
func (s *rawServer) end(text string, failed bool) error {
	quoted, err := json.Marshal(text)
	if err != nil {
		return err
	}
	return s.answer(s.call, fmt.Sprintf(`{"content":[{"type":"text","text":%s}],"isError":%t}`, quoted, failed))
}
