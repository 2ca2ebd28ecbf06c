package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// inquiries are the tools of [inquirer] that ask: what for, as a method and its params with a name in them.
var inquiries = map[string]struct{ method, params string }{
	"form":   {"elicitation/create", `{"message":%q,"requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}`},
	"url":    {"elicitation/create", `{"mode":"url","message":%q,"url":"https://example.com/login"}`},
	"sample": {"sampling/createMessage", `{"messages":[{"role":"user","content":{"type":"text","text":%q}}],"maxTokens":2}`},
	"tools":  {"sampling/createMessage", `{"messages":[{"role":"user","content":{"type":"text","text":%q}}],"maxTokens":2,"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`},
	"roots":  {"roots/list", `{"_meta":{"x":%q}}`},
}

// given is a line of the file LOG: an answer that an inquirer received, with the name of its
// question.
type given struct {
	Name string
	What json.RawMessage
}

// inquirer is an MCP server without an SDK. ERA is the only version that it speaks: 2025-06-18 or 2026-07-28. The names
// of its questions are unique over all its processes. It writes every answer to the file LOG, every start of a process
// to LOG.starts, and every call that asks to LOG.runs. A resource changes as soon as a client subscribes to it.
func inquirer() {
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
	for m := range hears() {
		switch {
		case m.Method == "server/discover" && modern:
			result(m.ID, `"supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"resources":{"subscribe":true}}`)
		case m.Method == "initialize" && !modern:
			result(m.ID, `"protocolVersion":"2025-06-18","capabilities":{"tools":{},"resources":{"subscribe":true}},"serverInfo":{"name":"inquirer","version":"1"}`)
		case m.Method == "tools/list":
			tools := []string{`{"name":"find_users","inputSchema":{"type":"object"}}`}
			for name := range inquiries {
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
			result(m.ID, `"content":[]`)
		case m.Method == "tools/call" && inquiries[m.Params.Name].method != "":
			asks := inquiries[m.Params.Name]
			name := fmt.Sprintf("%s %d", m.Params.Name, time.Now().UnixNano()*100000+int64(os.Getpid())%100000)
			params := fmt.Sprintf(asks.params, name)
			count("runs", name)
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
		case m.Method == "notifications/cancelled":
			note("cancelled", m.Params.Arguments)
		case m.Method == "tools/call":
			result(m.ID, `"content":[]`)
		case m.Method == "":
			var name string
			if json.Unmarshal(m.ID, &name) == nil && calls[name] != nil {
				note(name, m.Result)
				result(calls[name], `"content":[]`)
			}
		default:
			m.unknown()
		}
	}
}
