package wire_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/sidecar/wire"
)

// Text around a message, or line ends in it, do not hide it. Only answers are read out of other text.
func TestMessagesInOtherText(t *testing.T) {
	const (
		answer = `{"jsonrpc":"2.0","id":1000000007,"result":{"a":"b"}}`
		ask    = `{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{}}`
		pretty = "{\n  \"jsonrpc\": \"2.0\",\n\n  \"id\": 1000000007,\n  \"result\": {\n    \"a\": \"b\"\n  }\n}"
		is     = `1000000007 {"a":"b"}`
	)
	for _, tt := range []struct {
		name, text string
		want       []string // the messages
		stray      []string
	}{
		{"behind a log", "Loading... " + answer, []string{is}, []string{"Loading... " + answer}},
		{"behind a log with brackets", `[x] {"a":1} ` + answer, []string{is}, []string{`[x] {"a":1} ` + answer}},
		{"before a log", answer + " done", []string{is}, []string{answer + " done"}},
		{"behind a log in JSON", `{"level":"info"}` + answer, []string{is}, []string{`{"level":"info"}` + answer}},
		{"two on a line", answer + answer, []string{is, is}, []string{answer + answer}},
		{"in colours", "\x1b[32m" + answer + "\x1b[0m", []string{is}, []string{"\x1b[32m" + answer + "\x1b[0m"}},
		{"an id of another", "log " + strings.Replace(answer, "1000000007", "7", 1), nil, []string{"log " + strings.Replace(answer, "1000000007", "7", 1)}},
		{"a list with an id of another", `log {"jsonrpc":"2.0","id":2,"result":{"tools":[]}}`, nil, []string{`log {"jsonrpc":"2.0","id":2,"result":{"tools":[]}}`}},
		{"another order behind a log", `log { "result": {"a":"b"}, "id": 1000000007, "jsonrpc": "2.0" }`, []string{is}, []string{`log { "result": {"a":"b"}, "id": 1000000007, "jsonrpc": "2.0" }`}},
		{"without a version behind a log", `log {"id":1000000007,"result":{"a":"b"}}`, []string{is}, []string{`log {"id":1000000007,"result":{"a":"b"}}`}},
		{"in a record of a log", `{"level":"info","sent":` + answer + `}`, []string{is}, []string{`{"level":"info","sent":` + answer + `}`}},
		{"behind a byte order mark", "\ufeff" + answer, []string{is}, nil},
		{"on several lines behind a byte order mark", "\ufeff" + pretty, []string{is}, nil},
		{"a request behind a byte order mark", "\ufeff" + ask, []string{`7 elicitation/create`}, nil},
		{"a request in a log", "sent: " + ask, nil, []string{"sent: " + ask}},
		{"on several lines", pretty, []string{is}, nil},
		{"on several lines, with other line ends", strings.ReplaceAll(pretty, "\n", "\r\n"), []string{is}, nil},
		{"a request on several lines", strings.Replace(ask, ",", ",\n", 3), []string{`7 elicitation/create`}, nil},
		{"behind a log that leaves a bracket open", "{ starting\nx " + answer, []string{is}, []string{"{ starting", "x " + answer}},
		{"a log on several lines", "{\n  a: 1,\n}", nil, []string{"{", "a: 1,", "}"}},
		{"a bracket before a message", "{\n" + answer, []string{is}, []string{"{"}},
		{"a bracket before the end", "{", nil, []string{"{"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var stray []string
			text := tt.text + "\n"
			c := wire.NewLines(pipes{strings.NewReader(text), writer{io.Discard}, nil}, func(line []byte) {
				stray = append(stray, strings.ReplaceAll(string(line), "  ", " "))
			}, 0)
			var got []string
			for {
				m, err := c.Read(t.Context())
				if err != nil {
					break
				}
				got = append(got, summary(m))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.stray, stray); diff != "" {
				t.Errorf("stray (-want +got):\n%s", diff)
			}
		})
	}
}

// A message without its end is told of, and read when its end comes.
func TestAMessageThatDoesNotEndIsToldOf(t *testing.T) {
	const head, tail = `{"jsonrpc":"2.0","id":1000000007,`, `"result":{"a":"b"}}`
	for _, tt := range []struct{ name, head, told, tail string }{
		{"a line", head, "(without an end) " + head, tail + "\n"},
		{"several lines", head + "\n", "(without an end) " + head + "\n", tail + "\n"},
		{"the line end alone is missing", head + tail, "(without an end) " + head + tail, "\n"},
		{"a carriage return alone", head + tail + "\r", "(without an end) " + head + tail + "\r", "\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in, out := io.Pipe()
				told := make(chan string, 10)
				c := wire.NewLines(pipes{in, writer{io.Discard}, in.Close}, func(line []byte) { told <- string(line) }, 0)
				got := make(chan string, 1)
				go func() {
					m, err := c.Read(t.Context())
					if err != nil {
						got <- err.Error()
						return
					}
					got <- summary(m)
				}()
				write := func(text string) {
					if _, err := io.WriteString(out, text); err != nil {
						t.Error(err)
					}
				}
				write(tt.head)
				time.Sleep(time.Second) // of the bubble
				synctest.Wait()
				if len(told) > 0 {
					t.Errorf("told at once: %q", <-told)
				}
				if diff := cmp.Diff(tt.told, <-told); diff != "" {
					t.Errorf("told (-want +got):\n%s", diff)
				}
				time.Sleep(10 * time.Second)
				synctest.Wait()
				write(tt.tail)
				if m := <-got; m != `1000000007 {"a":"b"}` {
					t.Errorf("the message is %s", m)
				}
				time.Sleep(10 * time.Second)
				synctest.Wait()
				if len(told) > 0 {
					t.Errorf("told again: %q", <-told)
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A message is read with any version of JSON-RPC, and without one. A record of a log is no message.
func TestMessagesWithoutTheRightVersion(t *testing.T) {
	for _, tt := range []struct{ name, line, want string }{
		{"an answer without one", `{"id":5,"result":{"a":1}}`, `5 {"a":1}`},
		{"an answer of JSON-RPC 1.0", `{"jsonrpc":"1.0","id":5,"result":{"a":1},"error":null}`, `5 {"a":1}`},
		{"a number", `{"jsonrpc":2.0,"id":5,"result":{"a":1}}`, `5 {"a":1}`},
		{"null", `{"jsonrpc":null,"id":5,"result":{"a":1}}`, `5 {"a":1}`},
		{"a request without one", `{"id":5,"method":"elicitation/create","params":{}}`, `5 elicitation/create`},
		{"a notification without one", `{"method":"notifications/message","params":{}}`, `<nil> notifications/message`},
		{"a ping without one", `{"id":5,"method":"ping"}`, `5 ping`},
		{"an echo of a request of Assent", `{"id":5,"method":"tools/call","params":{}}`, ""},
		{"a record with a method of HTTP", `{"id":5,"method":"GET"}`, ""},
		{"a record with a request", `{"level":"info","id":5,"method":"elicitation/create","params":{}}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := wire.NewLines(pipes{strings.NewReader(tt.line + "\n"), writer{io.Discard}, nil}, func([]byte) {}, 0)
			got := ""
			if m, err := c.Read(t.Context()); err == nil {
				got = summary(m)
			}
			if got != tt.want {
				t.Errorf("read %q, want %q", got, tt.want)
			}
		})
	}
}

// summary returns what a message is about.
func summary(m jsonrpc.Message) string {
	switch m := m.(type) {
	case *jsonrpc.Request:
		return fmt.Sprintf("%v %s", m.ID.Raw(), m.Method)
	case *jsonrpc.Response:
		return fmt.Sprintf("%v %s", m.ID.Raw(), strings.Join(strings.Fields(string(m.Result)), ""))
	}
	return fmt.Sprint(m)
}
