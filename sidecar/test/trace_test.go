package test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
)

const (
	hostsTrace  = "4bf92f3577b34da6a3ce929d0e0e4736"
	hostsParent = "00-" + hostsTrace + "-00f067aa0ba902b7-00"
	// foreign is a span of another trace.
	foreign = "00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-01"
)

// traced is a daemon with a model, and with a collector of traces or none.
type traced struct {
	daemonHome
	config, told string
	// endpoint is that of the model.
	endpoint string

	mu sync.Mutex // guards the fields below
	// exports are the bodies that the collector got, with the key in front.
	exports []string
	// model are the traceparents that the model's endpoint got, "" for none.
	model []string
}

// newTraced has the member "tracing" in the person's own file, unless it is empty. ADDRESS stands for the collector's address.
func newTraced(t *testing.T, tracing string) *traced {
	t.Helper()
	h := &traced{daemonHome: newDaemonHome(t)}
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("the collector got %s %s: %v", r.Header.Get("Content-Type"), r.URL, err)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.exports = append(h.exports, r.Header.Get("X-Key")+"\n"+string(body))
	}))
	t.Cleanup(collector.Close)
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if r.Method == http.MethodPost {
			h.mu.Lock()
			h.model = append(h.model, r.Header.Get("Traceparent"))
			h.mu.Unlock()
		}
		w.Header().Set("Content-Type", "text/event-stream")
		if bytes.Contains(body, []byte(`"tools":`)) && !bytes.Contains(body, []byte(`"role":"tool"`)) {
			fmt.Fprint(w, `data: {"model":"m-1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"1","type":"function","function":{"name":"demo__echo","arguments":"{\"text\":\"a secret argument\"}"}}]},"finish_reason":"tool_calls"}]}`+"\n\ndata: [DONE]\n\n")
			return
		}
		fmt.Fprint(w, `data: {"model":"m-1","choices":[{"index":0,"delta":{"content":"a secret answer"},"finish_reason":"stop"}]}`+"\n\n"+
			`data: {"model":"m-1","choices":[],"usage":{"prompt_tokens":11,"completion_tokens":5}}`+"\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(endpoint.Close)
	h.endpoint = endpoint.URL
	h.config, h.told = filepath.Join(h.folder, "config"), filepath.Join(h.folder, "told")
	file := filepath.Join(h.config, "assent", "mcp.json")
	if tracing != "" {
		text := `{"tracing":` + strings.ReplaceAll(tracing, "ADDRESS", collector.URL) + "}"
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// in has a command read the person's own file.
func (h *traced) in(c *exec.Cmd) *exec.Cmd {
	c.Env = append(c.Env, "XDG_CONFIG_HOME="+h.config, "HOME="+h.config, "AppData="+h.config, "COLLECTOR_KEY=key-of-the-collector")
	return c
}

// call has a host call the tool of a [tracker], which names a span, and returns what the server and the host got. A person approves
// what the server asks, unless the flags say that the host answers.
func (h *traced) call(meta, names string, flags ...string) string {
	h.t.Helper()
	window := startTalk(h.t, h.in(h.command("serve", "--data-dir", filepath.Join(h.folder, "data"))))
	if err := window.shakeHands(); err != nil {
		h.t.Fatal(err)
	}
	gateway := h.in(h.command(append([]string{
		"gateway", "--trust", "--data-dir", filepath.Join(h.folder, "host"), "--model-url", h.endpoint, "--model", "m", "tracker",
	}, flags...)...))
	gateway.Dir = folderWith(h.t, fmt.Sprintf(`{"servers":{"tracker":{"command":"tracker","env":{"LOG":%q,"NAMES":%q}}}}`, h.told, names))
	host := startHost(h.t, "2025-11-25", gateway)
	host.answer = func(string) string {
		return `{"role":"assistant","content":{"type":"text","text":"a secret answer"},"model":"m"}`
	}
	id := host.send("tools/call", `{"name":"sample","arguments":{"pin":"a secret argument"},"_meta":`+meta+`}`)
	if !slices.Contains(flags, "host") {
		for range 2 { // the request, and the answer of the model
			ask := awaitAsk(h.t, window)
			params := map[string]any{"taskId": ask.TaskID, "askId": ask.AskID, "askResponse": protocol.YesButtonClicked}
			if err := window.Call("askResponse", params, &struct{}{}); err != nil {
				h.t.Fatal(err)
			}
		}
	}
	if got := host.await(id); !strings.Contains(got, "done") {
		h.t.Fatalf("the host got %s", got)
	}
	told, err := os.ReadFile(h.told)
	if err != nil {
		h.t.Fatal(err)
	}
	host.leave()            // its shim would start another daemon
	h.run("daemon", "stop") // which sends the last spans
	return string(told) + strings.Join(host.asked, "\n")
}

// exported returns the spans that the collector got, each as the one that caused it, its name, and its attributes; and the ids of
// the spans by name.
func (h *traced) exported() (lines []string, ids map[string]string) {
	h.t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	type span struct {
		TraceID, SpanID, ParentSpanID, Name string
		Kind                                int
		Attributes                          []struct {
			Key   string
			Value struct{ StringValue, IntValue string }
		}
		Links []struct{ TraceID string }
	}
	var all []span
	for _, export := range h.exports {
		key, body, _ := strings.Cut(export, "\n")
		if key != "Bearer key-of-the-collector" {
			h.t.Errorf("the collector got the key %q", key)
		}
		for _, secret := range []string{"secret", "business", "done", "key-of"} {
			if strings.Contains(body, secret) {
				h.t.Errorf("the collector got %q: %s", secret, body)
			}
		}
		var request struct {
			ResourceSpans []struct{ ScopeSpans []struct{ Spans []span } }
		}
		if err := json.Unmarshal([]byte(body), &request); err != nil {
			h.t.Fatal(err)
		}
		all = append(all, request.ResourceSpans[0].ScopeSpans[0].Spans...)
	}
	ids = map[string]string{}
	names := map[string]string{"00f067aa0ba902b7": "the host", trackersSpan: "the server", "": "nobody", "bbbbbbbbbbbbbbbb": "a stranger"}
	for _, s := range all {
		name := fmt.Sprintf("%d %s", s.Kind, s.Name)
		names[s.SpanID], ids[name] = name, s.SpanID
	}
	task := regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)
	for _, s := range all {
		line := names[s.ParentSpanID] + " > " + names[s.SpanID]
		if s.TraceID != hostsTrace {
			line = "another trace: " + line
		}
		for _, a := range s.Attributes {
			line += " " + a.Key + "=" + task.ReplaceAllString(a.Value.StringValue, "ID") + a.Value.IntValue
		}
		for _, l := range s.Links {
			line += " linked to " + l.TraceID[:4]
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines, ids
}

// withKey is the setting for a collector that wants a key.
const withKey = `{"endpoint":"ADDRESS/v1/traces","headers":{"X-Key":"Bearer ${env:COLLECTOR_KEY}"}`

func TestAHostsTraceGoesToTheServerThePersonAndTheModel(t *testing.T) {
	t.Parallel()
	meta := `{"traceparent":"` + hostsParent + `","tracestate":"a=1","baggage":"k=v","x":{"n":1.50}}`
	client := "3 tools/call sample"
	common := " mcp.method.name=tools/call gen_ai.conversation.id=ID assent.server.name=tracker"
	call := func(parent string) []string {
		return []string{
			parent + " > 2 tools/call sample" + common + " assent.host.name=Claude Code gen_ai.operation.name=execute_tool gen_ai.tool.name=sample",
			"2 tools/call sample > " + client + common + " network.transport=pipe gen_ai.operation.name=execute_tool gen_ai.tool.name=sample",
		}
	}
	request := " > 2 sampling/createMessage mcp.method.name=sampling/createMessage gen_ai.conversation.id=ID assent.server.name=tracker network.transport=pipe"
	asked := []string{
		"2 sampling/createMessage > 1 ask assent.ask.wants=mcp_sampling assent.ask.outcome=answered",
		"2 sampling/createMessage > 1 ask assent.ask.wants=mcp_sampling_review assent.ask.outcome=answered",
		"2 sampling/createMessage > 3 chat m gen_ai.operation.name=chat gen_ai.provider.name=openai gen_ai.request.model=m gen_ai.response.model=m-1 gen_ai.usage.input_tokens=11 gen_ai.usage.output_tokens=5",
	}
	for _, test := range []struct {
		name, tracing, meta, names string
		want                       []string
	}{
		{"and the server goes on with it", withKey + "}", meta, "", slices.Concat(call("the host"), asked, []string{"the server" + request})},
		{"and the model is told", withKey + `,"models":true}`, meta, "", slices.Concat(call("the host"), asked, []string{"the server" + request})},
		{"and the server names none", withKey + "}", meta, "none", slices.Concat(call("the host"), asked, []string{client + request})},
		{"and the server names another", withKey + "}", meta, foreign, slices.Concat(call("the host"), asked, []string{client + request + " linked to aaaa"})},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := newTraced(t, test.tracing)
			told := h.call(test.meta, test.names)
			lines, ids := h.exported()
			slices.Sort(test.want)
			if diff := cmp.Diff(test.want, lines); diff != "" {
				t.Fatalf("the spans (-want +got):\n%s", diff)
			}
			for _, want := range []string{
				`"traceparent":"00-` + hostsTrace + "-" + ids[client] + `-01"`, `"tracestate":"a=1"`, `"baggage":"k=v"`, `"x":{"n":1.50}`,
			} {
				if !strings.Contains(told, want) {
					t.Errorf("the server got %s, want %s", told, want)
				}
			}
			want := []string{""}
			if strings.Contains(test.tracing, "models") {
				want = []string{"00-" + hostsTrace + "-" + ids["3 chat m"] + "-01"}
			}
			if diff := cmp.Diff(want, h.model); diff != "" {
				t.Errorf("the model's endpoint got the traceparents (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("unless it is malformed", func(t *testing.T) {
		t.Parallel()
		h := newTraced(t, withKey+"}")
		told := h.call(`{"traceparent":"00-`+hostsTrace+`-0-01","tracestate":"a=1"}`, "")
		lines, ids := h.exported()
		for _, line := range lines {
			if !strings.HasPrefix(line, "another trace: ") {
				t.Errorf("a span is %s", line)
			}
		}
		if len(lines) != 6 || !strings.Contains(lines[4], "nobody > 2 tools/call sample") {
			t.Errorf("the spans are %q", lines)
		}
		if !strings.Contains(told, ids[client]) || strings.Contains(told, "tracestate") {
			t.Errorf("the server got %s", told)
		}
	})
}

func TestNothingIsTracedByDefault(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, tracing string }{
		{"no setting", ""},
		{"no endpoint", `{"headers":{}}`},
		{"a key in the file", `{"endpoint":"ADDRESS/v1/traces","headers":{"X-Key":"secret"}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := newTraced(t, test.tracing)
			members := []string{`"traceparent":"malformed"`, `"tracestate":"a=1"`, `"baggage":"k=v"`, `"x":{"n":1.50}`}
			told := h.call("{"+strings.Join(members, ",")+"}", "")
			for _, want := range members {
				if !strings.Contains(told, want) {
					t.Errorf("the server got %s, want %s", told, want)
				}
			}
			if lines, _ := h.exported(); len(lines) > 0 {
				t.Errorf("spans were exported: %q", lines)
			}
			if diff := cmp.Diff([]string{""}, h.model); diff != "" {
				t.Errorf("the model's endpoint got the traceparents (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAPersonsCallAndATurnAreTraces(t *testing.T) {
	t.Parallel()
	common := " mcp.method.name=tools/call gen_ai.conversation.id=ID assent.server.name=demo network.transport=pipe gen_ai.operation.name=execute_tool gen_ai.tool.name="
	chat := "1 invoke_agent Assent > 3 chat m gen_ai.operation.name=chat gen_ai.provider.name=openai gen_ai.request.model=m gen_ai.response.model=m-1"
	for _, test := range []struct {
		name string
		args []string
		want []string
	}{
		{"a call", []string{"call", "demo", "echo", "--arg", "text=a secret argument"}, []string{"nobody > 3 tools/call echo" + common + "echo"}},
		{"a call that fails", []string{"call", "demo", "fail"}, []string{"nobody > 3 tools/call fail" + common + "fail error.type=tool_error"}},
		{"a call that the server refuses", []string{"call", "demo", "wrong"}, []string{"nobody > 3 tools/call wrong" + common + "wrong rpc.response.status_code=-32000 error.type=-32000"}},
		{"a turn", []string{"chat", "a secret question", "--model", "m", "--model-url", "ENDPOINT", "--answers", "yes.yaml"}, []string{
			"1 invoke_agent Assent > 1 ask assent.ask.wants=use_mcp_tool assent.ask.outcome=answered",
			"1 invoke_agent Assent > 3 tools/call echo" + common + "echo",
			chat, chat + " gen_ai.usage.input_tokens=11 gen_ai.usage.output_tokens=5",
			"nobody > 1 invoke_agent Assent gen_ai.operation.name=invoke_agent gen_ai.agent.name=Assent gen_ai.conversation.id=ID",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := newTraced(t, withKey+"}")
			for i, arg := range test.args {
				test.args[i] = strings.Replace(arg, "ENDPOINT", h.endpoint, 1)
			}
			c := h.in(h.command(append(test.args, "--trust")...))
			c.Dir = folderWith(t, `{"servers":{"demo":{"command":"surveyor"}}}`)
			if err := os.WriteFile(filepath.Join(c.Dir, "yes.yaml"), []byte("answers: [{match: {kind: tool}, approve: true}]"), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := c.CombinedOutput()
			if strings.HasPrefix(test.name, "a turn") && err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			h.run("daemon", "stop")
			lines, _ := h.exported()
			for i, line := range lines {
				lines[i] = strings.TrimPrefix(line, "another trace: ") // a new one
			}
			slices.Sort(test.want)
			if diff := cmp.Diff(test.want, lines); diff != "" {
				t.Errorf("the spans (-want +got):\n%s\n%s", diff, out)
			}
		})
	}
}

// A host that answers gets the span of the question.
func TestAHostThatAnswersIsToldTheTrace(t *testing.T) {
	t.Parallel()
	h := newTraced(t, withKey+"}")
	told := h.call(`{"traceparent":"`+hostsParent+`"}`, "none", "--answer-in", "host")
	_, ids := h.exported()
	if !strings.Contains(told, "00-"+hostsTrace+"-"+ids["2 sampling/createMessage"]+"-01") {
		t.Errorf("the host and the server were told %s", told)
	}
}
