package exchange

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"assent/protocol"
	"assent/sidecar/base/jsonscan"
	"assent/sidecar/base/reason"
	"assent/sidecar/config"
	"assent/sidecar/wire"
	"assent/sidecar/wire/quirk"
)

// A server can accept 2026-07-28 because its SDK does, and have tools that ask by requests, which that
// version does not have. The SDK then refuses to send the request, and the tool fails. After the first such failure, Assent
// speaks 2025-11-25 with the server.

// couldNotAsk reports whether the exchange failed because its server cannot ask in 2026-07-28: by the words of
// the failure, or because the server sent a request and was refused.
func (x *exchange) couldNotAsk(raw json.RawMessage, err error) bool {
	var refused *jsonrpc.Error
	switch {
	case !x.last.modern:
		return false
	case errors.As(err, &refused):
		return x.last.asked || quirk.IsRefusedAsk(refused.Message)
	case err != nil || x.toolName == "":
		return false
	}
	var result struct {
		IsError bool `json:"isError"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	if json.Unmarshal(raw, &result) != nil || !result.IsError {
		return false
	}
	for _, block := range result.Content {
		if quirk.IsRefusedAsk(block.Text) {
			return true
		}
	}
	return x.last.asked
}

// errNoRequests answers a request that a server sent in 2026-07-28.
var errNoRequests = &jsonrpc.Error{
	Code: jsonrpc.CodeInvalidRequest,
	Message: "servers send no requests in MCP " + wire.ModernVersion +
		": return an InputRequiredResult instead (\"Multi Round-Trip Requests\")",
}

// runOrFallBack is run. If the server could not ask in 2026-07-28, Assent speaks the version before with it from then on. The
// request is made again in that version if it changes nothing, or if the person agrees.
func (x *exchange) runOrFallBack(ctx context.Context) (json.RawMessage, error) {
	raw, err := x.run(ctx)
	if !x.couldNotAsk(raw, err) || !x.server.fallBack() {
		return raw, err
	}
	c, release, connectErr := x.server.session.Borrow(ctx, x.taskID)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if connectErr != nil {
		x.server.opts.Log.Warn().Err(connectErr).Str("server", x.server.name()).Msg("the server does not start in the version of MCP in which it could ask")
		return raw, err
	}
	defer release()
	if c.IsModern() {
		return raw, err // it has no older version
	}
	x.server.tellFallback(x.taskID)
	again, askErr := x.mayRepeat(ctx)
	if askErr != nil || !again {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return raw, err
	}
	x.hooks.Resume, x.became, x.endCall = nil, nil, nil
	return x.run(ctx)
}

// fallBack has Assent speak 2025-11-25 with the server from then on, and reports whether it does. Calls under way end in the
// version in which they began.
func (s *Exchanges) fallBack() bool {
	s.mu.Lock()
	following := len(s.followed) > 0
	s.mu.Unlock()
	older, changed := s.session.FallBack(following)
	if changed {
		s.tools.ForgetLists()
	}
	return older
}

// tellFallback tells the person, once, that Assent speaks an older version with the server.
func (s *Exchanges) tellFallback(taskID string) {
	s.mu.Lock()
	told := s.toldFallback
	s.toldFallback = true
	s.mu.Unlock()
	if told {
		return
	}
	if t, err := s.opts.Task(taskID); err == nil {
		t.Tell(protocol.Notice{Level: protocol.NoticeInfo, Text: fmt.Sprintf(
			"The MCP server %q accepts MCP %s, but its tools ask in a way that this version does not have. From now on Assent speaks MCP %s with it.",
			s.name(), wire.ModernVersion, config.LegacyProtocol)})
	}
}

// mayRepeat reports whether the request may be made once more. Reading a resource and filling in a prompt
// change nothing, nor does a tool twice that its server calls read-only or idempotent (2025-11-25,
// "ToolAnnotations"). Any other tool may have done something before it wanted to ask, so the person decides.
func (x *exchange) mayRepeat(ctx context.Context) (bool, error) {
	return x.repeats(ctx, fmt.Sprintf("The tool failed because it wanted to ask you something, in a way that MCP %s does not have. "+
		"Assent now speaks MCP %s with the server, so the tool can ask. Its actions before the failure may be repeated.",
		wire.ModernVersion, config.LegacyProtocol))
}

// mayAnswerAgain is mayRepeat for a request with answers that the server may have.
func (x *exchange) mayAnswerAgain(ctx context.Context, lost error) bool {
	why := strings.TrimSuffix(reason.Of(lost), ".")
	again, err := x.repeats(ctx, fmt.Sprintf("Your answer may not have reached the server: %s. "+
		"Assent can send the same answer again. If the server has it already, the actions of the tool may be repeated.", why))
	return again && err == nil
}

// repeats reports whether a request may be made once more. If it may have had effects, the person decides, and reads why.
func (x *exchange) repeats(ctx context.Context, why string) (bool, error) {
	if x.toolName == "" || x.isRepeatable(ctx) {
		return true, nil
	}
	t, err := x.server.opts.Task(x.taskID)
	if err != nil {
		return false, err
	}
	asking, done := untilOver(ctx)
	defer done()
	return x.server.opts.Broker.RepeatCall(asking, t, protocol.RepeatMcpCall{Origin: x.origin(), Reason: why})
}

// isRepeatable reports whether the server says that a second call of the tool changes nothing more. It returns false if the
// list of tools cannot be read.
func (x *exchange) isRepeatable(ctx context.Context) bool {
	pages, err := x.server.tools.ToolPages(ctx)
	if err != nil {
		return false
	}
	for _, page := range pages {
		var list struct {
			Tools []struct {
				Name        string                   `json:"name"`
				Annotations protocol.ToolAnnotations `json:"annotations"`
			} `json:"tools"`
		}
		if jsonscan.Unmarshal(page, &list) != nil {
			continue
		}
		for _, tool := range list.Tools {
			if tool.Name == x.toolName {
				a := tool.Annotations
				return isTrue(a.IdempotentHint) || isTrue(a.ReadOnlyHint) && !isTrue(a.DestructiveHint)
			}
		}
	}
	return false
}

func isTrue(hint *bool) bool { return hint != nil && *hint }
