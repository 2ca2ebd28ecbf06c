package grant

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"assent/protocol"
	"assent/sidecar/task/store"
)

// ToolRules holds the person's remembered answers: which tools a model may call and which resources it may read, and
// which it may not. A rule that allows applies to one tool of one server, as both were when the person answered. If the
// server's definition or what it says of the tool has changed, the person is asked again. ToolRules may be used from any
// goroutine, and by several sidecars on one file.
type ToolRules struct {
	book *Book
}

// NewToolRules returns the rules that are stored beside the grants of a book.
func NewToolRules(book *Book) *ToolRules { return &ToolRules{book} }

// ToolUse is a model's use of a tool, as its server describes it, or of a resource.
type ToolUse struct {
	TaskID, ServerName string
	// Tool is nil if the model reads a resource. URI is then set.
	Tool *protocol.Tool
	URI  string
}

// Find returns the rule for a use, or nil. A rule that declines precedes one that allows.
func (r *ToolRules) Find(ctx context.Context, use ToolUse) (*protocol.ToolRule, error) {
	rules, identity, err := r.about(ctx, use)
	if err != nil {
		return nil, err
	}
	digest := use.digest()
	var found *protocol.ToolRule
	for _, rule := range rules {
		switch {
		case rule.Remember == protocol.RememberNever:
			return &rule, nil // even if another tool has the name now
		case rule.Identity == identity && rule.Digest == digest && found == nil:
			found = &rule
		}
	}
	return found, nil
}

// about returns the rules for the names of a use, the newest first, and the identity of the server as it is now.
func (r *ToolRules) about(ctx context.Context, use ToolUse) (rules []protocol.ToolRule, identity string, err error) {
	s, err := r.book.opts.Store()
	if err != nil {
		return nil, "", err
	}
	rules, err = s.ToolRules(ctx, use.ServerName)
	if err != nil {
		return nil, "", err
	}
	identity, _ = r.book.opts.Server(use.ServerName)
	name := use.toolName()
	return slices.DeleteFunc(rules, func(rule protocol.ToolRule) bool {
		return rule.ToolName != name || rule.ResourceURI != use.URI || rule.TaskID != "" && rule.TaskID != use.TaskID
	}), identity, nil
}

// Remember saves an answer about a use as a rule, and returns the rule; by names the front end.
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
		rule.TaskID, rule.Digest = use.TaskID, use.digest()
	case protocol.RememberAlways:
		rule.Digest = use.digest()
	case protocol.RememberNever:
	default:
		return nil, protocol.Errorf(protocol.CodeInvalidParams, "remember %q is none of %s, %s and %s", remember,
			protocol.RememberTask, protocol.RememberAlways, protocol.RememberNever)
	}
	if err := s.AddToolRule(ctx, rule, r.book.opts.Journal.ToolRuleCreated(rule)); err != nil {
		return nil, err
	}
	if remember != protocol.RememberNever {
		err = r.Allowed(ctx, use, by)
	}
	return &rule, err
}

// FindDomains returns the rule about an app's domains, which are sorted, or nil.
func (r *ToolRules) FindDomains(ctx context.Context, serverName string, domains []string) (*protocol.ToolRule, error) {
	s, err := r.book.opts.Store()
	if err != nil {
		return nil, err
	}
	rules, err := s.ToolRules(ctx, serverName)
	if err != nil {
		return nil, err
	}
	identity, _ := r.book.opts.Server(serverName)
	for _, rule := range rules {
		if slices.Equal(rule.AppDomains, domains) && (rule.Identity == identity || rule.Remember == protocol.RememberNever) {
			return &rule, nil
		}
	}
	return nil, nil
}

// RememberDomains saves an answer about an app's domains, which are sorted: [protocol.RememberAlways] or
// [protocol.RememberNever]. It replaces an earlier answer about the same ones. By names the front end.
func (r *ToolRules) RememberDomains(ctx context.Context, serverName string, domains []string, remember protocol.Remember, by string) error {
	s, err := r.book.opts.Store()
	if err != nil {
		return err
	}
	identity, command := r.book.opts.Server(serverName)
	rule := protocol.ToolRule{
		ID: r.book.opts.NewID(), ServerName: serverName, Identity: identity, Command: command,
		AppDomains: domains, Remember: remember, By: by, CreatedAt: r.now(),
	}
	return s.AddToolRule(ctx, rule, r.book.opts.Journal.ToolRuleCreated(rule))
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

// Remove removes a rule, for the front end that by names, and reports whether there was one.
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

// EndTask removes the rules of one task, for the front end that by names.
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

// digest returns the SHA-256 of what a server says of a tool, in hexadecimal: all that a model or a person relies on, so
// not the icons. It is empty for a resource.
func (u *ToolUse) digest() string {
	if u.Tool == nil {
		return ""
	}
	t := u.Tool
	said, err := json.Marshal([]any{t.Title, t.Description, indented(t.InputSchema), t.Annotations, indented(t.OutputSchema)})
	if err != nil {
		said = fmt.Appendf(nil, "%v", err) // texts and booleans can always be encoded
	}
	sum := sha256.Sum256(said)
	return hex.EncodeToString(sum[:])
}
