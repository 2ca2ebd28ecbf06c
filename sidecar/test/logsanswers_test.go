package test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
)

// loggedAsks are the tools of [logsAnswers] that ask: what for, as a method and its params with a name in them.
var loggedAsks = map[string]struct{ method, params string }{
	"form":   {"elicitation/create", `{"message":%q,"requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}`},
	"url":    {"elicitation/create", `{"mode":"url","message":%q,"url":"https://example.com/login"}`},
	"sample": {"sampling/createMessage", `{"messages":[{"role":"user","content":{"type":"text","text":%q}}],"maxTokens":2}`},
	"tools":  {"sampling/createMessage", `{"messages":[{"role":"user","content":{"type":"text","text":%q}}],"maxTokens":2,"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`},
	"roots":  {"roots/list", `{"_meta":{"x":%q}}`},
	"traced": {"elicitation/create", `{"message":%q,"requestedSchema":{"type":"object","properties":{}},"_meta":{"traceparent":"00-b-2-01"}}`},
}

// given is a line of the file LOG: an answer that a logsAnswers received, with the name of its
// question.
type given struct {
	Name string
	What json.RawMessage
}

// logsAnswers is an MCP server without an SDK. ERA is the only version that it speaks: a legacy one or 2026-07-28. The names
// of its questions are unique over all its processes. It writes every answer to the file LOG, every start of a process
// to LOG.starts, and every call that asks to LOG.runs and LOG.calls. A resource changes as soon as a client subscribes to it. The tool
// job is an MCP task, in which it asks what form asks. The tool stuck never ends. The tool told ends once a call or an MCP
// task was cancelled.
func logsAnswers() {
	modern := os.Getenv("ERA") == "2026-07-28"
	log, err := os.OpenFile(os.Getenv("LOG"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	count := func(what, name string) {
		f, err := os.OpenFile(os.Getenv("LOG")+"."+what, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = fmt.Fprintln(f, name)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	count("starts", fmt.Sprint(os.Getpid()))
	if address := os.Getenv("GATE"); address != "" {
		if conn, err := net.Dial("tcp", address); err == nil {
			_, _ = conn.Read(make([]byte, 1)) // until it ends
		}
	}
	result := func(id json.RawMessage, members string) {
		if modern {
			members = `"resultType":"complete",` + members
		}
		say(`"id":%s,"result":{%s}`, id, members)
	}
	note := func(name string, what json.RawMessage) {
		line, err := json.Marshal(given{name, what})
		if err == nil {
			_, err = log.Write(append(line, '\n'))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	calls := map[string]json.RawMessage{} // by the name of their question
	jobs := map[string]*loggedJob{}       // by the id of the MCP task, also of those that an earlier process began
	jobOf := func(id string) *loggedJob {
		if jobs[id] == nil {
			jobs[id] = &loggedJob{modern: modern, name: id}
		}
		return jobs[id]
	}
	var cancelled []string      // that the tool told has not told yet
	var waiting json.RawMessage // the call of told
	tell := func() {
		if len(cancelled) > 0 && waiting != nil {
			result(waiting, `"content":[]`)
			cancelled, waiting = cancelled[1:], nil
		}
	}
	for m := range hears() {
		switch {
		case m.Method == "server/discover" && modern:
			result(m.ID, `"supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"resources":{"subscribe":true},"extensions":{"io.modelcontextprotocol/tasks":{}}}`)
		case m.Method == "initialize" && !modern:
			result(m.ID, fmt.Sprintf(`"protocolVersion":%q,"capabilities":{"tools":{},"resources":{"subscribe":true},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}},"serverInfo":{"name":"logs-answers","version":"1"}`, os.Getenv("ERA")))
		case m.Method == "tools/list":
			tools := []string{`{"name":"find_users","inputSchema":{"type":"object"}}`, `{"name":"job","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}`}
			for name := range loggedAsks {
				tools = append(tools, fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, name))
			}
			result(m.ID, `"tools":[`+strings.Join(tools, ",")+`]`)
		case m.Method == "resources/subscribe":
			result(m.ID, "")
			say(`"method":"notifications/resources/updated","params":{"uri":%q}`, m.Params.URI)
		case m.Method == "subscriptions/listen" && m.Params.Notifications.ResourceSubscriptions != nil:
			say(`"method":"notifications/resources/updated","params":{"uri":%q,"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}`,
				m.Params.Notifications.ResourceSubscriptions[0], m.ID)
		case m.Method == "tools/call" && m.Params.RequestState != "":
			note(m.Params.RequestState, m.Params.InputResponses["q"])
			result(m.ID, fmt.Sprintf(`"content":[],"answer":%s`, cmp.Or(string(m.Params.InputResponses["q"]), "null")))
		case m.Method == "tools/call" && loggedAsks[m.Params.Name].method != "":
			asks := loggedAsks[m.Params.Name]
			name := fmt.Sprintf("%s %d", m.Params.Name, time.Now().UnixNano()*100000+int64(os.Getpid())%100000)
			params := fmt.Sprintf(asks.params, name)
			count("runs", name)
			count("calls", string(m.line))
			if modern {
				say(`"id":%s,"result":{"resultType":"input_required","inputRequests":{"q":{"method":%q,"params":%s}},"requestState":%q}`, m.ID, asks.method, params, name)
			} else {
				calls[name] = m.ID
				say(`"id":%q,"method":%q,"params":%s`, name, asks.method, params)
			}
		case m.Method == "tools/call" && m.Params.Name == "progress":
			say(`"method":"notifications/progress","params":{"progressToken":%s,"progress":1,"note":"half"}`, m.Params.Meta.ProgressToken)
			result(m.ID, `"content":[]`)
		case m.Method == "tools/call" && m.Params.Name == "stuck":
			say(`"method":"notifications/progress","params":{"progressToken":%s,"progress":1}`, m.Params.Meta.ProgressToken)
		case m.Method == "tools/call" && m.Params.Name == "told":
			waiting = m.ID
			tell()
		case m.Method == "notifications/cancelled":
			cancelled = append(cancelled, "a call")
			tell()
		case m.Method == "tasks/cancel":
			job := jobOf(m.Params.TaskID)
			job.isCancelled = true
			result(m.ID, job.state())
			cancelled = append(cancelled, job.name)
			tell()
		case m.Method == "tools/call" && m.Params.Name == "job":
			job := jobOf(fmt.Sprintf("job %d", time.Now().UnixNano()))
			count("runs", job.name)
			job.begin(m.ID)
		case m.Method == "tasks/get":
			result(m.ID, jobOf(m.Params.TaskID).state())
		case m.Method == "tasks/result":
			jobOf(m.Params.TaskID).await(m.ID)
		case m.Method == "tasks/update":
			job := jobOf(m.Params.TaskID)
			result(m.ID, "")
			note(job.name, m.Params.InputResponses["q"])
			job.end()
		case m.Method == "tools/call":
			result(m.ID, `"content":[]`)
		case m.Method == "":
			var name string
			switch {
			case json.Unmarshal(m.ID, &name) != nil:
			case jobs[name] != nil:
				note(name, m.Result)
				jobs[name].end()
			case calls[name] != nil:
				note(name, m.Result)
				result(calls[name], fmt.Sprintf(`"content":[],"answer":%s`, cmp.Or(string(m.Result), "null")))
			}
		default:
			m.unknown()
		}
	}
}

// loggedJob is the MCP task of a [logsAnswers].
type loggedJob struct {
	modern              bool
	name                string
	isDone, isCancelled bool
	waiting             json.RawMessage // tasks/result
}

func (j *loggedJob) asks() string {
	return fmt.Sprintf(`"method":"elicitation/create","params":{"message":%q,"requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}`, j.name)
}

// state returns the members of the task.
func (j *loggedJob) state() string {
	status := "input_required"
	switch {
	case j.isCancelled:
		status = "cancelled"
	case j.isDone:
		status = "completed"
	}
	members := fmt.Sprintf(`"taskId":%q,"status":%q,"createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":null,"ttlMs":null`, j.name, status)
	switch {
	case j.modern && status == "input_required":
		members += `,"inputRequests":{"q":{` + j.asks() + `}}}`
	case j.modern && j.isDone:
		members += `,"result":{"content":[]}`
	}
	return members
}

// begin answers the call.
func (j *loggedJob) begin(id json.RawMessage) {
	if j.modern {
		say(`"id":%s,"result":{"resultType":"task",%s}`, id, j.state())
	} else {
		say(`"id":%s,"result":{"task":{%s}}`, id, j.state())
	}
}

// await answers tasks/result, when the question that it asks first has an answer.
func (j *loggedJob) await(id json.RawMessage) {
	if j.isDone {
		say(`"id":%s,"result":{"content":[]}`, id)
		return
	}
	j.waiting = id
	say(`"id":%q,%s,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":%q}}}`, j.name, j.asks(), j.name)
}

// end ends the task, and tells the client.
func (j *loggedJob) end() {
	j.isDone = true
	method := "notifications/tasks/status"
	if j.modern {
		method = "notifications/tasks"
	}
	say(`"method":%q,"params":{%s}`, method, j.state())
	if j.waiting != nil {
		say(`"id":%s,"result":{"content":[]}`, j.waiting)
		j.waiting = nil
	}
}
