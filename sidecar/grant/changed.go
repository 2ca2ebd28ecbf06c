package grant

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"assent/protocol"
)

// The bounds of a stored description of a tool, in bytes, and of a difference, in lines.
const (
	maxDescribed = 64 << 10
	maxDiff      = 500
)

// Changed returns the change of a tool or its server since the person last allowed a use of the tool. It returns nil
// if they never allowed it, or if nothing has changed.
func (r *ToolRules) Changed(ctx context.Context, use ToolUse) (*protocol.ToolChange, error) {
	if use.Tool == nil {
		return nil, nil
	}
	rules, identity, err := r.about(ctx, use)
	if err != nil {
		return nil, err
	}
	digest := use.digest()
	for _, rule := range rules {
		if rule.Remember == protocol.RememberNever {
			continue
		}
		change := &protocol.ToolChange{By: rule.By, At: rule.CreatedAt, Server: rule.Identity != identity, Tool: rule.Digest != digest}
		if !change.Server && !change.Tool {
			return nil, nil
		}
		if change.Tool && rule.Described != nil {
			change.Lines, change.Truncated = difference(describe(rule.Described), describe(use.described()))
		}
		return change, nil
	}
	return nil, nil
}

// described returns the description of a tool for a rule, or nil.
func (u *ToolUse) described() *protocol.Tool {
	if u.Tool == nil {
		return nil
	}
	t := *u.Tool
	t.Fields = nil
	if len(t.InputSchema) > maxDescribed {
		t.InputSchema = nil
	}
	if len(t.Description) > maxDescribed {
		t.Description = strings.ToValidUTF8(t.Description[:maxDescribed], "")
	}
	return &t
}

// describe returns a tool as lines to read and to compare.
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
	return b.String()
}

// indented returns JSON with each member on its own line, in the original order.
func indented(raw json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return string(raw)
	}
	return b.String()
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
