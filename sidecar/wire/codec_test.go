package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/sidecar/wire"
)

func id(t testing.TB, v any) jsonrpc.ID {
	t.Helper()
	id, err := jsonrpc.MakeID(v)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// written returns an encoded message.
func written(t *testing.T, m jsonrpc.Message) string {
	t.Helper()
	var out strings.Builder
	c := wire.NewLines(pipes{strings.NewReader(""), writer{&out}, nil}, func([]byte) {}, 0)
	if err := c.Write(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// writer has a Close that does nothing.
type writer struct{ io.Writer }

func (writer) Close() error { return nil }

func TestTheEncodingEqualsGoSDKs(t *testing.T) {
	refusal := &jsonrpc.Error{Code: -32602, Message: "no \"<such>\"\nthing", Data: json.RawMessage(`{"a":[1]}`)}
	for name, m := range map[string]jsonrpc.Message{
		"a request":              &jsonrpc.Request{ID: id(t, 7.0), Method: "tools/call", Params: json.RawMessage(`{"name":"<x>"}`)},
		"one with a text for id": &jsonrpc.Request{ID: id(t, "a \"b\"\n"), Method: "ping"},
		"a notification":         &jsonrpc.Request{Method: "notifications/<initialized>"},
		"a result":               &jsonrpc.Response{ID: id(t, -3.0), Result: json.RawMessage(`{}`)},
		"an error":               &jsonrpc.Response{ID: id(t, "x"), Error: refusal},
		"no answer's error":      &jsonrpc.Response{Error: refusal},
		"several lines":          &jsonrpc.Response{ID: id(t, 1.0), Result: json.RawMessage("{\n  \"a\": \"b c\",\r\n\"d\": 1}")},
	} {
		t.Run(name, func(t *testing.T) {
			theirs, err := jsonrpc.EncodeMessage(m)
			if err != nil {
				t.Fatal(err)
			}
			ours := written(t, m)
			line, rest, ok := strings.Cut(ours, "\n")
			if !ok || rest != "" || strings.Contains(line, "\r") {
				t.Fatalf("written is not one line: %q", ours)
			}
			var want, got any
			if err := errors.Join(json.Unmarshal(theirs, &want), json.Unmarshal([]byte(line), &got)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestInvalidJSONIsNotWritten(t *testing.T) {
	c := wire.NewLines(pipes{strings.NewReader(""), writer{io.Discard}, nil}, func([]byte) {}, 0)
	err := c.Write(t.Context(), &jsonrpc.Response{ID: id(t, 1.0), Result: json.RawMessage("{\nno")})
	if err == nil {
		t.Error("it was written")
	}
}

// Unusual messages are decoded, invalid ones are dropped, and the next line is always read.
func TestUnusualMessagesAreDecoded(t *testing.T) {
	ask := func(params string) string { return `{"jsonrpc":"2.0","id":1,"method":"ask","params":` + params + `}` }
	asked := func(params string) []jsonrpc.Message {
		return []jsonrpc.Message{&jsonrpc.Request{ID: id(t, 1.0), Method: "ask", Params: json.RawMessage(params)}}
	}
	answered := &jsonrpc.Response{ID: id(t, 1.0), Result: json.RawMessage("{}")}
	for name, tt := range map[string]struct {
		line string
		want []jsonrpc.Message
	}{
		"an answer with a method":    {`{"jsonrpc":"2.0","id":1,"method":"tools/call","result":{}}`, []jsonrpc.Message{answered}},
		"one with params as well":    {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{},"result":{}}`, []jsonrpc.Message{answered}},
		"an error with a method":     {`{"jsonrpc":"2.0","id":1,"method":"ask","error":{"code":1,"message":"no"}}`, []jsonrpc.Message{&jsonrpc.Response{ID: id(t, 1.0), Error: &jsonrpc.Error{Code: 1, Message: "no"}}}},
		"a request without answers":  {`{"jsonrpc":"2.0","id":1,"method":"ask","params":[],"result":null,"error":null}`, asked("[]")},
		"a notification with one":    {`{"jsonrpc":"2.0","method":"ask","result":{}}`, []jsonrpc.Message{&jsonrpc.Request{Method: "ask"}}},
		"no UTF-8":                   {ask("{\"a\":\"\xff\"}"), asked("{\"a\":\"\xff\"}")},
		"a key twice in the params":  {ask(`{"a":1,"a":2}`), asked(`{"a":1,"a":2}`)},
		"members twice":              {`{"id":9,"method":"no",` + ask("[]")[1:], asked("[]")},
		"numbers of more digits":     {ask(`[9007199254740993,0.10000000000000000001]`), asked(`[9007199254740993,0.10000000000000000001]`)},
		"999 arrays in one another":  {ask(nested(999)), asked(nested(999))},
		"many beside one another":    {ask("[" + strings.Repeat("[[]],", 2000) + "[]]"), asked("[" + strings.Repeat("[[]],", 2000) + "[]]")},
		"many in a text":             {ask(`["\"` + strings.Repeat("[", 2000) + `\\"]`), asked(`["\"` + strings.Repeat("[", 2000) + `\\"]`)},
		"arrays without end":         {strings.Repeat("[", 100_000), nil},
		"names in capitals":          {`{"jsonrpc":"2.0","ID":1,"Method":"ask"}`, nil},
		"nothing":                    {"", nil},
		"a text":                     {`"ask"`, nil},
		"neither asked nor answered": {`{"jsonrpc":"2.0"}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			const last = `{"jsonrpc":"2.0","method":"last"}`
			want := append(tt.want, &jsonrpc.Request{Method: "last"})
			got := readAll(t, tt.line+"\n"+last+"\n")
			if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b jsonrpc.ID) bool { return a == b })); diff != "" {
				t.Errorf("(-want +got):\n%.1000s", diff)
			}
		})
	}
}

func TestAnIDIsWrittenAsItWasRead(t *testing.T) {
	for _, raw := range []string{
		"0", "-1", "9007199254740991", "9007199254740993", "-9007199254740993", "123456789012345678901234567890",
		"1.5", "1.0", "-0", "1e3", "1e400", `"a \"b\""`, `""`, `"\u0000"`, `"\u00001"`, `"\ud800"`, `"1"`,
	} {
		read := readAll(t, `{"jsonrpc":"2.0","id":`+raw+`,"method":"ask"}`+"\n")
		if len(read) != 1 {
			t.Errorf("of the request %s was read %v", raw, read)
			continue
		}
		request := read[0].(*jsonrpc.Request)
		want := `{"jsonrpc":"2.0","id":` + raw + `,"result":{}}` + "\n"
		if got := written(t, &jsonrpc.Response{ID: request.ID, Result: json.RawMessage(`{}`)}); got != want {
			t.Errorf("the request %s got the answer %s", raw, got)
		}
	}
}

// nested are arrays in one another.
func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

func FuzzWhatWasReadIsWritten(f *testing.F) {
	f.Add("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{\"a\":\"\xff\"}}")
	f.Add(`{"jsonrpc":"2.0","id":9007199254740993,"method":"m"}` + "\n" + `{"jsonrpc":"2.0","id":"\u0000\ud800","method":"m"}`)
	f.Add(`{"jsonrpc":"2.0","id":1,"id":2,"method":"m","params":{"a":9007199254740993,"a":1e400}}`)
	f.Add(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"b"}}`)
	f.Add(`{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"m"}}`)
	f.Add(`[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","method":"n"}]`)
	f.Fuzz(func(t *testing.T, line string) {
		for _, m := range readAll(t, line) {
			if r, ok := m.(*jsonrpc.Response); ok && errors.As(r.Error, new(*wire.UnreadableError)) {
				continue
			}
			again := readAll(t, written(t, m))
			if diff := cmp.Diff([]jsonrpc.Message{m}, again, cmp.Comparer(func(a, b jsonrpc.ID) bool { return a == b })); diff != "" {
				t.Errorf("(-read +written and read):\n%s", diff)
			}
		}
	})
}

// readAll returns the messages of some lines.
func readAll(t *testing.T, text string) (all []jsonrpc.Message) {
	t.Helper()
	c := wire.NewLines(pipes{strings.NewReader(text), writer{io.Discard}, nil}, func([]byte) {}, 0)
	for {
		m, err := c.Read(t.Context())
		if err != nil {
			return all
		}
		all = append(all, m)
	}
}

const elicitation = `{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":{"message":"?","requestedSchema":` +
	`{"type":"object","properties":{"answer":{"type":"string","title":"Answer"}},"required":["answer"]}}}` + "\n"

// BenchmarkRead reads a server's request.
func BenchmarkRead(b *testing.B) {
	line := fmt.Sprintf(elicitation, 7)
	c := wire.NewLines(pipes{&repeated{line: line}, writer{io.Discard}, nil}, func([]byte) {}, 0)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Read(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

// repeated is a reader that repeats a line.
type repeated struct{ line, rest string }

func (r *repeated) Read(p []byte) (int, error) {
	if r.rest == "" {
		r.rest = r.line
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// BenchmarkWrite writes an answer.
func BenchmarkWrite(b *testing.B) {
	c := wire.NewLines(pipes{strings.NewReader(""), writer{io.Discard}, nil}, func([]byte) {}, 0)
	m := &jsonrpc.Response{ID: id(b, 7.0), Result: json.RawMessage(`{"action":"accept","content":{"answer":"x"}}`)}
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Write(context.Background(), m); err != nil {
			b.Fatal(err)
		}
	}
}
