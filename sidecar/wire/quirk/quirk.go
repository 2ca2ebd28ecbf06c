// Package quirk holds what Assent does for the habit of one SDK or of a few servers, where MCP asks for something else. A rule
// that helps with any server belongs to the package that reads the message.
//
//	habit                                   whose                                  seen in                 reported as
//	an ask is refused in 2026-07-28         go-sdk, mcp-go, TypeScript, Python     their versions of 2026  no report: their own texts
//	another word for a status of a task     servers of adcp-client, others         2025-11-25 servers      adcontextprotocol/adcp-client#977
//	an unknown session is no login          Rust SDK                               until February 2026     modelcontextprotocol/rust-sdk#689
//	the same, with 403                      breeze                                 until August 2026       LanternOps/breeze#3744
//	initialize after server/discover pins   TypeScript SDK                         2.0 to 2.4              no report: its stdio.mjs
//	an empty object is an empty array       PHP servers, by json_encode            all versions of PHP     cristianuibar/bricks-mcp#45
//	a list with gaps is an object           PHP servers, after array_filter        all versions of PHP     no report: its json_encode
//	a call before roots/list sees no roots  server-filesystem                      since it reads roots    modelcontextprotocol/servers#3204
//	a type has another language's name      schemas that are written by hand       servers in Python       zanetworker/mcp-docling#5
package quirk

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"

	"assent/sidecar/base/jsonscan"
	"assent/sidecar/base/lazyregexp"
)

// maxRefusal bounds how much of a failure is read, in bytes. An SDK's refusal is a sentence or two. A longer text may quote
// one that is about something else.
const maxRefusal = 4 << 10

// The parts of an SDK's refusal to send a request in 2026-07-28, which has no requests of servers. It has one of each:
//
//   - go-sdk: "elicitation/create" cannot be sent while serving a request on protocol version 2026-07-28
//   - mcp-go: "elicitation/create": server-initiated requests are not supported in protocol version 2026-07-28
//   - TypeScript SDK: Server-to-client requests are not available on protocol revision 2026-07-28:
//     'elicitation/create' cannot be sent while serving a request on that revision; and: URL elicitation
//     cannot be signalled by throwing UrlElicitationRequiredError on protocol revision 2026-07-28
//   - Python SDK: Cannot send 'elicitation/create': this transport context has no back-channel for
//     server-initiated requests
var (
	refusedRequest  = lazyregexp.New(`elicitation/create|sampling/createMessage|roots/list|UrlElicitationRequired`)
	refusal         = lazyregexp.New(`(?i)cannot (?:be )?(?:sent|send|signalled)|not (?:be )?(?:supported|available|allowed|sent)`)
	refusedRevision = lazyregexp.New(`2026-07-28|(?i:back-?channel)`)
)

// IsRefusedAsk reports whether the text of an error or of a failed tool is an SDK's refusal to send a request to the client.
func IsRefusedAsk(text string) bool {
	return len(text) <= maxRefusal &&
		refusedRequest().MatchString(text) && refusal().MatchString(text) && refusedRevision().MatchString(text)
}

// IsRefusedSession reports whether the text of an HTTP 401 or 403 to a request with a session is about the session, and not
// about the person.
func IsRefusedSession(text string) bool {
	text = strings.ToLower(text[:min(len(text), maxRefusal)])
	return strings.Contains(text, "session not found") || strings.Contains(text, "mcp-session-id")
}

// statuses are words for the status of a task, each with the status of MCP that it means.
var statuses = map[string]string{
	"canceled": "cancelled", "aborted": "cancelled", "terminated": "cancelled",

	"complete": "completed", "done": "completed", "success": "completed", "successful": "completed", "succeeded": "completed",
	"finished": "completed",

	"failure": "failed", "error": "failed", "errored": "failed", "rejected": "failed", "expired": "failed",
	"timed_out": "failed", "timeout": "failed",

	"pending": "working", "queued": "working", "submitted": "working", "created": "working", "running": "working",
	"in_progress": "working", "processing": "working", "started": "working",

	"input_needed": "input_required", "requires_input": "input_required", "waiting_for_input": "input_required",
}

// Status returns MCP's status of a task for the word of a server, in any case and with any separator. Other words stay, in
// that plain form.
func Status(word string) string {
	plain := strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(strings.TrimSpace(word)))
	if status, ok := statuses[plain]; ok {
		return status
	}
	return plain
}

// IsEmptyObject reports whether JSON that must be an object is the empty array of a language that does not tell them apart.
func IsEmptyObject(raw []byte) bool { return string(raw) == "[]" }

// GappedList returns as an array what a language wrote as an object because the list has gaps: the names are numbers. For
// any other value, which must be valid JSON, it returns nil.
func GappedList(raw []byte) []byte {
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	var elements [][]byte
	for name, value := range jsonscan.Of(raw) {
		if _, err := strconv.ParseUint(name, 10, 31); err != nil {
			return nil
		}
		elements = append(elements, value)
	}
	if elements == nil {
		return nil
	}
	return slices.Concat([]byte{'['}, bytes.Join(elements, []byte{','}), []byte{']'})
}

// types are names of other languages for the types of JSON Schema. A date is a text.
var types = map[string]string{
	"int": "integer", "long": "integer", "float": "number", "double": "number", "decimal": "number", "bool": "boolean",
	"str": "string", "text": "string", "date": "string", "datetime": "string", "list": "array", "dict": "object", "map": "object",
}

// Type returns JSON Schema's name of a type. Other names stay, in lower case.
func Type(name string) string {
	name = strings.ToLower(name)
	if known, ok := types[name]; ok {
		return known
	}
	return name
}

// RootsPings is how many pings follow the answer to roots/list before the server's first call. Such a server reads the folders
// meanwhile, and does not say when it is done.
const RootsPings = 10

// RootsPause is the pause after a ping that took so long. On a busy machine both the answer and the folders take longer.
func RootsPause(ping time.Duration) time.Duration {
	return min(max(5*ping, 15*time.Millisecond), 100*time.Millisecond)
}
