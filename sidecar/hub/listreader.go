package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"assent/protocol"
	"assent/sidecar/base/jsonscan"
	"assent/sidecar/base/reason"
	"assent/sidecar/hub/session"
	"assent/sidecar/hub/shape"
	"assent/sidecar/wire"
)

// The bounds of a list. A server may return cursors for ever, and a list is in the memory of all. Each byte of it costs about
// ten while it is read and passed on. A single page may be as long as a frame. The time for all pages is that of any other
// request, except for templates: the resources wait for these, and servers that have none may not answer.
const (
	maxPages      = 1000
	maxItems      = 10_000
	maxListBytes  = 4 << 20
	templatesTime = 10 * time.Second
	// maxProblems bounds how many problems of a list are told.
	maxProblems = 20
)

// emptyCursor stands for the cursor "" in the pages that the hub returns: for a host of an older revision, that would be the
// end of the list.
const emptyCursor = `"the empty cursor"`

// listReader reads one list of a server, page by page. An item that is odd never takes its neighbours away: it is repaired, or
// left out, and the person hears why.
type listReader struct {
	kind   protocol.ListKind
	modern bool
	pages  []json.RawMessage
	ttl    time.Duration
	// items and bytes count the read part, and untold the problems beyond maxProblems.
	items, bytes, untold int
	problems             []string
	// full reports that the person hears of maxItems.
	full bool
	// keys are those of the items so far, and cursors those that were asked for.
	keys, cursors map[string]bool
}

// say notes a problem.
func (r *listReader) say(format string, args ...any) {
	if len(r.problems) == maxProblems {
		r.untold++
		return
	}
	r.problems = append(r.problems, fmt.Sprintf(format, args...)+".")
}

// told returns the problems.
func (r *listReader) told() []string {
	if r.untold > 0 {
		return append(r.problems, fmt.Sprintf("And %d more problems of this kind.", r.untold))
	}
	return r.problems
}

// read reads the pages until the list or a bound of it ends. A list that breaks off stays as far as it was read.
func (r *listReader) read(ctx context.Context, c *session.Conn, ask lister) error {
	var shorter []time.Duration
	if r.kind == ListTemplates {
		shorter = append(shorter, templatesTime)
	}
	within, done := c.Within(ctx, "the list of "+r.name(), shorter...)
	defer done()
	var cursor json.RawMessage
	for {
		next, err := r.page(within, c, ask, cursor)
		switch {
		case err == nil:
		case ctx.Err() != nil, len(r.pages) == 0, errors.Is(err, session.ErrUnsent), errors.As(err, new(session.LostError)):
			return err
		default:
			r.say("The list breaks off after %d items: %s", r.items, reason.Of(err))
			next = nil
		}
		switch {
		case next == nil:
			r.end()
			return nil
		case r.cursors[string(next)]:
			r.say("The list ends where the server gives the cursor %s again", shape.Clip(string(next)))
			next = nil
		case r.items >= maxItems:
			r.tooMany()
			next = nil
		case len(r.pages) == maxPages:
			r.say("The list has no end: %d pages were read", maxPages)
			next = nil
		}
		if next == nil {
			r.end()
			return nil
		}
		r.cursors[string(next)] = true
		cursor = next
	}
}

// tooMany says that the list has more than maxItems.
func (r *listReader) tooMany() {
	if !r.full {
		r.full = true
		r.say("The list has more than %d items: the others are left out", maxItems)
	}
}

// end takes the cursor out of the last page, if the list ends before the server's does.
func (r *listReader) end() {
	if len(r.pages) == 0 {
		return
	}
	last := &r.pages[len(r.pages)-1]
	*last = jsonscan.Edit(*last, func(name string, value json.RawMessage) json.RawMessage {
		if name == "nextCursor" && string(value) != `""` {
			return nil
		}
		return value
	})
}

// name names the list for a person.
func (r *listReader) name() string {
	if r.kind == ListTemplates {
		return "resource templates"
	}
	return string(r.kind)
}

// page reads the page at a cursor; nil is the first page. It returns the cursor of the next page, or nil.
func (r *listReader) page(ctx context.Context, c *session.Conn, ask lister, cursor json.RawMessage) (json.RawMessage, error) {
	askedFor := ""
	if cursor != nil {
		// go-sdk would leave out the cursor "", and keeps its own list of tools by the cursors.
		ctx, askedFor = wire.WithParams(ctx, map[string]json.RawMessage{"cursor": cursor}), string(cursor)
	}
	ctx, capture := wire.WithCapture(ctx)
	capture.InPlace(r.forSDK)
	known, err := ask(ctx, c.Session(), askedFor)
	if err != nil {
		return nil, c.Failure(ctx, capture, err)
	}
	result := json.RawMessage(bytes.TrimSpace(capture.Answer().Result))
	if shape.KindOf(result) == "array" {
		r.say("The list is an array and must be an object")
		result = append(jsonscan.AppendMember([]byte{'{'}, string(r.kind), result), '}')
	}
	if kind := shape.KindOf(result); kind != "object" {
		return nil, session.BadAnswerError{Reason: fmt.Sprintf("its list of %s is %s and must be an object", r.name(), shape.Article(kind))}
	}
	list := jsonscan.Member(result, string(r.kind))
	switch kind := shape.KindOf(list); kind {
	case "array", "null": // some languages write an empty list as null
	case "object":
		r.say(`"%s" is an object and must be an array`, r.kind)
	case "missing":
		r.say(`A page of the list has no "%s"`, r.kind)
	default:
		return nil, session.BadAnswerError{Reason: fmt.Sprintf(`"%s" is %s and must be an array`, r.kind, shape.Article(kind))}
	}
	if r.bytes += len(result); r.bytes > maxListBytes && len(r.pages) > 0 {
		r.say("The list has more than %d MB: the rest is left out", maxListBytes>>20)
		return nil, nil
	}
	var ttl float64
	_ = json.Unmarshal(jsonscan.Member(result, "ttlMs"), &ttl) // a text or an object gives no time
	if page := time.Duration(ttl) * time.Millisecond; len(r.pages) == 0 || page < r.ttl {
		r.ttl = max(page, 0)
	}
	next := r.next(jsonscan.Member(result, "nextCursor"))
	r.pages = append(r.pages, jsonscan.Edit(result, func(name string, value json.RawMessage) json.RawMessage {
		switch {
		case name == string(r.kind):
			return r.itemsOf(value, known)
		case name == "_meta":
			return shape.AnyObject(name, value, r.say)
		case name != "nextCursor" || next == nil && string(value) == `""`:
			return value
		case string(next) == `""`:
			return json.RawMessage(emptyCursor)
		}
		return next
	}))
	return next, nil
}

// next returns the cursor of the next page, or nil. The empty text is a cursor since 2026-07-28 ("Pagination"). Before,
// clients took it for the end, and servers send it so. A number is taken for its text, and one below 1 for the end.
func (r *listReader) next(cursor json.RawMessage) json.RawMessage {
	if shape.KindOf(cursor) == "number" {
		const problem = "nextCursor is a number and must be a string"
		if !slices.Contains(r.problems, problem+".") {
			r.say(problem)
		}
		if cursor[0] == '-' || cursor[0] == '0' {
			return nil
		}
		cursor = jsonscan.Quote(string(cursor))
	}
	if cursor = shape.Text("nextCursor", cursor, r.say); cursor == nil || string(cursor) == `""` && !r.modern {
		return nil
	}
	return cursor
}

// forSDK returns a page as go-sdk gets it: with the tools for which it has to set headers (2026-07-28, "Transports: Custom
// Headers from Tool Parameters").
func (r *listReader) forSDK(result json.RawMessage) json.RawMessage {
	var kept []json.RawMessage
	if r.kind == protocol.ListTools {
		for _, tool := range elements(jsonscan.Member(bytes.TrimSpace(result), "tools")) {
			if schema := jsonscan.Member(tool, "inputSchema"); mentionsHeader(schema) && jsonscan.Text(tool, "name") != "" {
				name := append([]byte(`{"name":`), jsonscan.Member(tool, "name")...)
				kept = append(kept, append(jsonscan.AppendMember(name, "inputSchema", schema), '}'))
			}
		}
	}
	page := jsonscan.AppendMember([]byte(`{"resultType":"complete"`), string(r.kind), jsonscan.Array(kept))
	return append(page, '}')
}

// mentionsHeader reports whether a schema may have an x-mcp-header.
func mentionsHeader(schema json.RawMessage) bool {
	return shape.KindOf(schema) == "object" && (bytes.Contains(schema, []byte("x-mcp-header")) || bytes.Contains(schema, []byte(`\u`)))
}

// values returns the items of an object in place of a list. PHP writes a list with gaps so, and others write the names of the
// items as its members.
func values(object json.RawMessage, key string) (all []json.RawMessage) {
	for name, item := range jsonscan.Of(object) {
		if shape.KindOf(item) == "object" && jsonscan.Member(item, key) == nil {
			quoted, _ := json.Marshal(name) // a string can be encoded
			item = jsonscan.With(item, key, quoted)
		}
		all = append(all, item)
	}
	return all
}

// elements returns those of a list, or nil. They are parts of it.
func elements(list json.RawMessage) []json.RawMessage {
	if shape.KindOf(list) != "array" {
		return nil
	}
	return slices.Collect(jsonscan.Elements(list))
}

// itemsOf returns the usable items of a page. Known are the tools of forSDK that go-sdk did not refuse.
func (r *listReader) itemsOf(list json.RawMessage, known []*mcp.Tool) json.RawMessage {
	if shape.KindOf(list) == "null" {
		return json.RawMessage("[]")
	}
	all, same := elements(list), true
	if shape.KindOf(list) == "object" {
		all, same = values(list, iconKeys[r.kind]), false
	}
	if rest := maxItems - r.items; len(all) > rest {
		r.tooMany()
		all, same = all[:rest], false
	}
	taken := map[string]bool{}
	for _, tool := range known {
		taken[tool.Name] = true
	}
	var kept []json.RawMessage
	for _, was := range all {
		is := r.item(was, taken)
		same = same && string(is) == string(was)
		if is != nil {
			kept = append(kept, is)
		}
	}
	r.items += len(all)
	if same {
		return list
	}
	return jsonscan.Array(kept)
}

// item returns an item as it can be used, or nil to leave it out. Only tools with headers that go-sdk can set are taken.
func (r *listReader) item(item json.RawMessage, taken map[string]bool) json.RawMessage {
	noun, key := nouns[r.kind], iconKeys[r.kind]
	if kind := shape.KindOf(item); kind != "object" {
		r.say("A %s is left out: it is %s and must be an object", noun, shape.Article(kind))
		return nil
	}
	value := jsonscan.Member(item, key)
	id := jsonscan.Text(item, key)
	switch {
	case shape.KindOf(value) != "string":
		r.say("A %s is left out: its %s is %s", noun, key, shape.Article(shape.KindOf(value)))
		return nil
	case id == "":
		r.say("A %s is left out: its %s is empty", noun, key)
		return nil
	case r.keys[id]:
		r.say("A second %s %s is left out", noun, shape.Clipped(id))
		return nil
	case r.kind == protocol.ListTools && mentionsHeader(jsonscan.Member(item, "inputSchema")) && !taken[id]:
		r.say("The tool %s is left out: its x-mcp-header is not valid", shape.Clipped(id))
		return nil
	}
	r.keys[id] = true
	say := func(format string, args ...any) {
		r.say("The %s %s: %s", noun, shape.Clipped(id), fmt.Sprintf(format, args...))
	}
	item = itemShapes[r.kind]("", item, say)
	if r.kind == protocol.ListTools {
		return withSchemas(item, r.modern, say)
	}
	if key != "name" && jsonscan.Text(item, "name") == "" {
		say("name is missing")
		item = jsonscan.With(jsonscan.Edit(item, func(name string, value json.RawMessage) json.RawMessage {
			if name == "name" {
				return nil
			}
			return value
		}), "name", value)
	}
	return item
}

// nouns name an item of each list.
var nouns = map[protocol.ListKind]string{
	protocol.ListTools: "tool", protocol.ListResources: "resource", ListTemplates: "resource template", protocol.ListPrompts: "prompt",
}
