package grant

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"assent/protocol"
	"assent/sidecar/store"
)

// ToolRules keeps which tools a model may call, and which resources it may read, without the person being
// asked each time, and which ones never. A rule is of one tool of one server, as that was when the person said
// so: another program under its name, or another description, is asked about anew. It may be used from any
// goroutine, and by several sidecars on one file.
type ToolRules struct {
	book *Book
}

// NewToolRules returns the rules that are kept beside the grants of a book.
func NewToolRules(book *Book) *ToolRules { return &ToolRules{book} }

// ToolUse is what a rule may be about: a tool as its server describes it, or a resource.
type ToolUse struct {
	TaskID, ServerName string
	// Tool is nil where a resource is read, whose URI is then set.
	Tool *protocol.Tool
	URI  string
}

// Find returns the rule that holds for a use, or nil. One that declines goes before one that allows.
func (r *ToolRules) Find(ctx context.Context, use ToolUse) (*protocol.ToolRule, error) {
	s, err := r.book.opts.Store()
	if err != nil {
		return nil, err
	}
	rules, err := s.ToolRules(ctx, use.ServerName)
	if err != nil {
		return nil, err
	}
	identity, _ := r.book.opts.Server(use.ServerName)
	digest, name := use.digest(), use.toolName()
	var found *protocol.ToolRule
	for _, rule := range rules {
		switch {
		case rule.ToolName != name || rule.ResourceURI != use.URI || rule.TaskID != "" && rule.TaskID != use.TaskID:
		case rule.Remember == protocol.RememberNever:
			return &rule, nil // whatever has taken the name
		case rule.Identity == identity && rule.Digest == digest && found == nil:
			found = &rule
		}
	}
	return found, nil
}

// Remember keeps an answer about a use, and returns the rule that this makes; by names the front end.
func (r *ToolRules) Remember(ctx context.Context, use ToolUse, remember protocol.Remember, by string) (*protocol.ToolRule, error) {
	s, err := r.book.opts.Store()
	if err != nil {
		return nil, err
	}
	identity, command := r.book.opts.Server(use.ServerName)
	rule := protocol.ToolRule{
		ID: r.book.opts.NewID(), ServerName: use.ServerName, Identity: identity, Command: command,
		ToolName: use.toolName(), ResourceURI: use.URI, Remember: remember, By: by, CreatedAt: r.book.opts.Now().UnixMilli(),
	}
	switch remember {
	case protocol.RememberTask:
		rule.TaskID, rule.Digest, rule.Described = use.TaskID, use.digest(), use.described()
	case protocol.RememberAlways:
		rule.Digest, rule.Described = use.digest(), use.described()
	case protocol.RememberNever:
	default:
		return nil, protocol.Errorf(protocol.CodeInvalidParams, "remember %q is none of %s, %s and %s", remember,
			protocol.RememberTask, protocol.RememberAlways, protocol.RememberNever)
	}
	recorded := rule
	recorded.Described = nil
	if err := s.AddToolRule(ctx, rule, r.book.opts.Journal.ToolRuleCreated(recorded)); err != nil {
		return nil, err
	}
	return &recorded, nil
}

// List returns the rules, the newest first.
func (r *ToolRules) List(ctx context.Context) ([]protocol.ToolRule, error) {
	s, err := r.book.opts.Store()
	if err != nil {
		return nil, err
	}
	rules, err := s.ToolRules(ctx, "")
	for i := range rules {
		rules[i].Described = nil
	}
	return rules, err
}

// Remove takes a rule back, in the front end that by names, and reports whether there was one.
func (r *ToolRules) Remove(ctx context.Context, id, by string) (bool, error) {
	s, err := r.book.opts.Store()
	if err != nil {
		return false, err
	}
	removed, err := s.RemoveToolRule(ctx, id, func(rule protocol.ToolRule) store.Record {
		return r.book.opts.Journal.ToolRuleRemoved(rule, by, r.now())
	})
	return removed != nil, err
}

// EndTask takes back the rules of one task, in the front end that by names.
func (r *ToolRules) EndTask(ctx context.Context, taskID, by string) error {
	rules, err := r.List(ctx)
	if err != nil {
		return err
	}
	for _, rule := range rules {
		if rule.TaskID != taskID {
			continue
		}
		if _, err := r.Remove(ctx, rule.ID, by); err != nil {
			return err
		}
	}
	return nil
}

func (r *ToolRules) now() int64 { return r.book.opts.Now().UnixMilli() }

func (u *ToolUse) toolName() string {
	if u.Tool == nil {
		return ""
	}
	return u.Tool.Name
}

// digest is over all that a tool says of itself; empty for a resource, which says nothing.
func (u *ToolUse) digest() string {
	if u.Tool == nil {
		return ""
	}
	// The form is made of the schema.
	said, err := json.Marshal([]any{u.Tool.Title, u.Tool.Description, string(u.Tool.InputSchema), u.Tool.Annotations})
	if err != nil {
		said = fmt.Appendf(nil, "%v", err) // texts and booleans can be encoded
	}
	sum := sha256.Sum256(said)
	return hex.EncodeToString(sum[:])
}
