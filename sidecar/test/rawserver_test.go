package test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"strings"
)

// heard is a message of the client to one of the MCP servers without an SDK that these tests run.
type heard struct {
	ID     json.RawMessage
	Method string // empty in an answer
	Params struct {
		ProtocolVersion, Name, URI, TaskID, RequestState string
		Notifications                                    struct{ ResourceSubscriptions []string }
		Capabilities, Arguments                          json.RawMessage
		InputResponses                                   map[string]json.RawMessage
		Task                                             struct{ TTL int64 }
		Meta                                             struct {
			ProgressToken json.RawMessage
			Capabilities  json.RawMessage `json:"io.modelcontextprotocol/clientCapabilities"`
		} `json:"_meta"`
	}
	Result, Error json.RawMessage
	line          []byte
}

// hears yields what the client says, until stdin ends or has a line that is no JSON.
func hears() iter.Seq[*heard] {
	return func(yield func(*heard) bool) {
		in := bufio.NewScanner(os.Stdin)
		in.Buffer(nil, 1<<20)
		for in.Scan() {
			m := &heard{line: in.Bytes()}
			if err := json.Unmarshal(m.line, m); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return
			}
			if !yield(m) {
				return
			}
		}
	}
}

// say sends the members of a message.
func say(format string, v ...any) {
	fmt.Println(strings.ReplaceAll(fmt.Sprintf(`{"jsonrpc":"2.0",`+format+"}", v...), "\n", " "))
}

// initialized answers a handshake in the version that the client wants.
func (m *heard) initialized(name, capabilities string) {
	say(`"id":%s,"result":{"protocolVersion":%q,"capabilities":%s,"serverInfo":{"name":%q,"version":"1"}}`, m.ID, m.Params.ProtocolVersion, capabilities, name)
}

// unknown refuses a request that the server does not know.
func (m *heard) unknown() {
	if m.ID != nil {
		say(`"id":%s,"error":{"code":-32601,"message":"Method not found"}`, m.ID)
	}
}
