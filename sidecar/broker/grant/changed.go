package grant

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"assent/protocol"
	"assent/sidecar/task/store"
)

// The bounds of what is stored of a tool, in bytes, and of a difference, in lines.
const (
	maxDescribed = 64 << 10
	maxDiff      = 500
)

// Allowed saves a tool as the person has let it run, once or by a rule; by names the front end. It is a no-op for a
// resource.
func (r *ToolRules) Allowed(ctx context.Context, use ToolUse, by string) error {
	return r.allowed(ctx, use, by, true)
}

func (r *ToolRules) allowed(ctx context.Context, use ToolUse, by string, person bool) error {
	if use.Tool == nil {
		return nil
	}
	s, err := r.book.opts.Store()
	if err != nil {
		return err
	}
	identity, _ := r.book.opts.Server(use.ServerName)
	return s.ApproveTool(ctx, store.ToolApproval{
		ServerName: use.ServerName, ToolName: use.Tool.Name, At: r.now(), By: by, Identity: identity,
		Digest: use.digest(), Described: bounded(describe(use.Tool)),
	}, person)
}

// Changed returns the change of a tool or its server since the person, or a host, last let the tool run. It returns nil if
// that never was, or if nothing has changed.
func (r *ToolRules) Changed(ctx context.Context, use ToolUse) (*protocol.ToolChange, error) {
	change, _, err := r.change(ctx, use)
	return change, err
}

// CalledByHost returns the change of a tool that a host calls, since the person or a host last let it run. If that never
// was, the tool is saved as it is: the host shows it to the person. The server's definition is the person's own, so that
// a change of that alone is none.
func (r *ToolRules) CalledByHost(ctx context.Context, use ToolUse, hostName string) (*protocol.ToolChange, error) {
	change, known, err := r.change(ctx, use)
	switch {
	case err != nil:
		return nil, err
	case !known:
		return nil, r.allowed(ctx, use, hostName, false)
	case change == nil || !change.Tool:
		return nil, nil
	default:
		return change, nil
	}
}

// change returns the change of a tool, and whether it was let run before.
func (r *ToolRules) change(ctx context.Context, use ToolUse) (change *protocol.ToolChange, known bool, err error) {
	if use.Tool == nil {
		return nil, false, nil
	}
	rules, identity, err := r.about(ctx, use)
	if err != nil {
		return nil, false, err
	}
	s, err := r.book.opts.Store()
	if err != nil {
		return nil, false, err
	}
	last, err := s.ToolApproval(ctx, use.ServerName, use.Tool.Name)
	if err != nil {
		return nil, false, err
	}
	at := slices.IndexFunc(rules, func(rule protocol.ToolRule) bool { return rule.Remember != protocol.RememberNever })
	switch {
	case at >= 0 && (last == nil || last.At < rules[at].CreatedAt): // the rule was saved after the tool last ran
		rule := rules[at]
		change = &protocol.ToolChange{By: rule.By, At: rule.CreatedAt, Server: rule.Identity != identity, Tool: rule.Digest != use.digest()}
		if before := rule.Described; change.Tool && before != nil {
			now := *use.Tool
			now.OutputSchema = nil
			change.Lines, change.Truncated = difference(bounded(describe(before)), bounded(describe(&now)))
		}
	case last != nil:
		change = &protocol.ToolChange{By: last.By, At: last.At, Server: last.Identity != identity, Tool: last.Digest != use.digest()}
		if change.Tool {
			change.Lines, change.Truncated = difference(last.Described, bounded(describe(use.Tool)))
		}
	default:
		return nil, false, nil
	}
	if !change.Server && !change.Tool {
		change = nil
	}
	return change, true, nil
}

// bounded cuts a text that is too long to be stored.
func bounded(text string) string {
	if len(text) > maxDescribed {
		text = strings.ToValidUTF8(text[:maxDescribed], "")
	}
	return text
}

// describe returns a tool as lines to read and to compare: all that its server says of it and a model or a person relies
// on. JSON is canonical, so that the order of members makes no difference.
func describe(t *protocol.Tool) string {
	var b strings.Builder
	if t.Title != "" {
		fmt.Fprintf(&b, "Title: %s\n", t.Title)
	}
	fmt.Fprintf(&b, "Description:\n%s\n", t.Description)
	if t.Annotations != nil {
		claims, err := json.Marshal(t.Annotations)
		if err != nil {
			claims = fmt.Appendf(nil, "%q", err.Error()) // texts and booleans can always be encoded
		}
		fmt.Fprintf(&b, "Claims:\n%s\n", indented(claims))
	}
	if t.InputSchema != nil {
		fmt.Fprintf(&b, "Arguments:\n%s\n", indented(t.InputSchema))
	}
	if t.OutputSchema != nil {
		fmt.Fprintf(&b, "Results:\n%s\n", indented(t.OutputSchema))
	}
	return b.String()
}

// indented returns JSON with each member on its own line, in the order of the names.
func indented(raw json.RawMessage) string {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return string(raw)
	}
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return string(raw)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// difference returns the lines that differ, with the lines around them.
func difference(before, after string) (lines []protocol.DiffLine, truncated bool) {
	if before == after { // only spaces differ, or text that is not stored
		return []protocol.DiffLine{{Kind: protocol.DiffGap}}, false
	}
	unified := string(diff.Diff("before", []byte(before), "after", []byte(after)))
	_, hunks, _ := strings.Cut(unified, "\n@@")
	for i, line := range strings.Split("@@"+strings.TrimSuffix(hunks, "\n"), "\n") {
		if len(lines) == maxDiff {
			return lines, true
		}
		switch {
		case line == "" || i == 0: // the first hunk's header
		case line[0] == '@':
			lines = append(lines, protocol.DiffLine{Kind: protocol.DiffGap})
		case line[0] == '-':
			lines = append(lines, protocol.DiffLine{Kind: protocol.DiffRemoved, Text: line[1:]})
		case line[0] == '+':
			lines = append(lines, protocol.DiffLine{Kind: protocol.DiffAdded, Text: line[1:]})
		case line[0] == ' ':
			lines = append(lines, protocol.DiffLine{Kind: protocol.DiffSame, Text: line[1:]})
		}
	}
	return lines, false
}
