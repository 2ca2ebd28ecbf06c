package test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

type askAllTool struct{ name, schema, method, params string }

// askAllTools are the tools of [asksAll]: what each of them asks for, as a method and its params. One that asks
// for nothing returns its arguments.
var askAllTools = []askAllTool{
	{"echo", `{"type":"object","properties":{"text":{"type":"string"},"count":{"type":"integer"},"tags":{"type":"array"},"any":{}},"additionalProperties":false}`, "", ""},
	{"book", `{"type":"object","properties":{"name":{"type":"string"},"nights":{"type":"integer","minimum":1,"description":"How long"},"note":{"type":"string"}},"required":["name","nights"]}`, "", ""},
	{"fail", `{"type":"object"}`, "", ""},
	{"wrong", `{"type":"object"}`, "", ""},
	{"slow", `{"type":"object"}`, "", ""},
	{"leave", `{"type":"object"}`, "", ""},
	{"paint", `{"type":"object"}`, "", ""},
	{"survey", `{"type":"object"}`, "elicitation/create", `{"message":"Tell me everything","requestedSchema":{"type":"object","properties":{
		"name":{"type":"string","title":"Your name","minLength":2},
		"mail":{"type":"string","format":"email"},
		"age":{"type":"integer","minimum":18},
		"sure":{"type":"boolean","default":true},
		"colour":{"type":"string","enum":["red","green"]},
		"sizes":{"type":"array","items":{"type":"string","enum":["S","M","L"]}}},"required":["name","age"]}}`},
	{"sample", `{"type":"object"}`, "sampling/createMessage", `{"messages":[{"role":"user","content":{"type":"text","text":"Say hello"}}],"maxTokens":20}`},
	{"strange", `{"type":"object"}`, "elicitation/create", `{"message":"\u001b[2J\u202ego\r away","requestedSchema":{"type":"object","properties":{
		"password":{"type":"string","title":"Your \u001b[31mpassword"},
		"note":{"type":"string","maxLength":1000,"default":"one\ntwo"},
		"hidden":{"type":"string","default":"a\u202eb"},
		"same":{"type":"array","items":{"anyOf":[{"const":"1","title":"One"},{"const":"2","title":"Two"}]},"default":["2"]},
		"left":{"type":"boolean"},
		"much":{"type":"number","default":1.5}}}}`},
	{"when", `{"type":"object"}`, "elicitation/create", `{"message":"When","requestedSchema":{"type":"object","properties":{
		"at":{"type":"string","format":"date-time"},
		"days":{"type":"array","minItems":1,"items":{"type":"string","enum":["Mon","Tue"]}}},"required":["at","days"]}}`},
	{"odd", `{"type":"object"}`, "elicitation/create", `{"message":"What an SDK sends","requestedSchema":{"type":"object","$defs":{"Size":{"enum":["S","M"]}},"properties":{
		"age":{"anyOf":[{"type":"integer"},{"type":"null"}],"default":null},
		"tags":{"type":"array","items":{"type":"string"}},
		"ports":{"type":"array","items":{"type":"integer"},"minItems":1},
		"size":{"$ref":"#/$defs/Size"},
		"level":{"enum":[10,20]},
		"note":{"type":["string","null"]}},"required":["tags","ports","level","note"]}}`},
	{"nested", `{"type":"object"}`, "elicitation/create", `{"message":"Where?","requestedSchema":{"type":"object","properties":{"address":{"type":"object"}}}}`},
	{"stuck", `{"type":"object"}`, "elicitation/create", `{"message":"Anything","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}`},
	{"count", `{"type":"object"}`, "elicitation/create", `{"message":"Go on","requestedSchema":{"type":"object","properties":{}}}`},
	{"token", `{"type":"object"}`, "", ""},
	{"given", `{"type":"object"}`, "", ""},
	{"roots", `{"type":"object"}`, "roots/list", `{}`},
	{"page", `{"type":"object"}`, "elicitation/create", `{"mode":"url","elicitationId":"p1","message":"Log in","url":"https://example.com/login?state=1"}`},
}

// asksAll is an MCP server of 2025-11-25 without an SDK. Its tools ask for everything that a server can ask for, and return
// the answer. It writes the client's capabilities into capabilities.json. Its environment can have it DIE at once, be SHY of
// anything but initialize at first, have WORDY descriptions, and STAY: then it does so until something is written into
// the pipe of that name.
func asksAll() {
	if os.Getenv("DIE") != "" {
		fmt.Fprintln(os.Stderr, "starting up\nError: the key is wrong\nbye")
		os.Exit(4)
	}
	if pipe := os.Getenv("STAY"); pipe != "" {
		signal.Ignore(syscall.SIGTERM)
		defer os.ReadFile(pipe)
	}
	first := true
	text := func(id, text string, failed bool) {
		say(`"id":%s,"result":{"content":[{"type":"text","text":%s}],"isError":%v}`, id, strconv.Quote(text), failed)
	}
	for m := range hears() {
		if first && m.Method != "initialize" && os.Getenv("SHY") != "" {
			return
		}
		first = false
		switch m.Method {
		case "notifications/cancelled":
			if err := os.WriteFile("cancelled.json", m.line, 0o600); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		case "initialize":
			if err := os.WriteFile("capabilities.json", m.Params.Capabilities, 0o600); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
			m.initialized("asks-all", `{"tools":{},"resources":{},"prompts":{}}`)
		case "tools/list":
			var tools []string
			for _, t := range askAllTools {
				more := strings.Repeat(" with a long description", len(os.Getenv("WORDY")))
				tools = append(tools, fmt.Sprintf(`{"name":%q,"description":"The tool %s%s","inputSchema":%s}`, t.name, t.name, more, t.schema))
			}
			say(`"id":%s,"result":{"tools":[%s]}`, m.ID, strings.Join(tools, ","))
		case "resources/list":
			say(`"id":%s,"result":{"resources":[{"uri":"memo://note","name":"note"}]}`, m.ID)
		case "resources/templates/list":
			say(`"id":%s,"result":{"resourceTemplates":[{"uriTemplate":"memo://{id}","name":"notes"}]}`, m.ID)
		case "prompts/list":
			say(`"id":%s,"result":{"prompts":[{"name":"greet","description":"Greets","arguments":[{"name":"name","description":"Whom","required":true},{"name":"tone"}]}]}`, m.ID)
		case "prompts/get":
			if m.Params.Name != "greet" {
				say(`"id":%s,"error":{"code":-32602,"message":"Unknown prompt"}`, m.ID)
				continue
			}
			say(`"id":%s,"result":{"messages":[{"role":"user","content":{"type":"text","text":%s}},{"role":"assistant","content":{"type":"text","text":"Hello\u001b[2J"}}]}`, m.ID, strconv.Quote(string(m.Params.Arguments)))
		case "resources/read":
			if m.Params.URI != "memo://note" {
				say(`"id":%s,"error":{"code":-32002,"message":"Resource not found"}`, m.ID)
				continue
			}
			say(`"id":%s,"result":{"contents":[{"uri":"memo://note","text":"remember\u202e the milk"},{"uri":"memo://raw","blob":"QUJD","mimeType":"image/png"}]}`, m.ID)
		case "tools/call":
			if !slices.ContainsFunc(askAllTools, func(t askAllTool) bool { return t.name == m.Params.Name }) {
				say(`"id":%s,"error":{"code":-32602,"message":"Unknown tool"}`, m.ID)
			}
			for _, t := range askAllTools {
				switch {
				case t.name != m.Params.Name:
				case t.name == "stuck": // it never returns
					say(`"id":"stuck","method":%q,"params":%s`, t.method, t.params)
				case t.method != "":
					if t.name == "count" {
						say(`"method":"notifications/progress","params":{"progressToken":%s,"progress":1,"total":4,"message":"counting"}`, m.Params.Meta.ProgressToken)
					}
					say(`"id":%s,"method":%q,"params":%s`, strconv.Quote("asks "+string(m.ID)), t.method, t.params)
				case t.name == "fail":
					text(string(m.ID), "the disk is full", true)
				case t.name == "token": // what its environment has
					text(string(m.ID), os.Getenv("TOKEN"), false)
				case t.name == "given": // the members of a response that given.json has
					data, err := os.ReadFile("given.json")
					if err != nil {
						fmt.Fprintln(os.Stderr, err)
					}
					say(`"id":%s,%s`, m.ID, data)
				case t.name == "wrong":
					say(`"id":%s,"error":{"code":-32000,"message":"not today"}`, m.ID)
				case t.name == "slow": // it says that it has begun, and nothing more
					if err := os.WriteFile("started", nil, 0o600); err != nil {
						fmt.Fprintln(os.Stderr, err)
					}
				case t.name == "leave":
					fmt.Fprintln(os.Stderr, "out of memory")
					return
				case t.name == "paint":
					say(`"id":%s,"result":{"content":[{"type":"image","data":"QUJD","mimeType":"image/png"}],"structuredContent":{"a":1}}`, m.ID)
				case t.name == "echo", t.name == "book":
					text(string(m.ID), string(m.Params.Arguments), false)
				}
			}
		case "":
			var question string
			if json.Unmarshal(m.ID, &question) == nil && question != "stuck" {
				text(strings.TrimPrefix(question, "asks "), string(m.Result)+string(m.Error), false)
			}
		default:
			m.unknown()
		}
	}
}
