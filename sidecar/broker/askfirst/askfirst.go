// Package askfirst holds the person's rules about what an agent's host asks before it goes on, also where a model or a rule of
// the host would allow it.
//
// A rule only adds questions. So in doubt it applies: to a shell line that cannot be read for sure, and if the rules
// themselves cannot be read. What a program does by itself is not seen.
//
// The rules are a file. The hook of a host reads it without a daemon, by [Read], so that a rule counts while no daemon runs. The
// daemon alone changes it, by [Rules], which may be used from any goroutine.
package askfirst

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"assent/protocol"
	"assent/sidecar/base/atomicfile"
	"assent/sidecar/base/reason"
)

// The bounds of the file.
const (
	maxFile  = 1 << 20
	maxRules = 100
	maxText  = 200
)

// Rule is a rule.
type Rule struct {
	ID string `json:"id"`
	protocol.AskFirstTerms
	// By names the front end in which it was made, At is when.
	By string `json:"by"`
	At int64  `json:"at"`
}

// Sentence says in words what the rule is.
func (r *Rule) Sentence() string {
	switch {
	case r.Command != "":
		return fmt.Sprintf("ask before the command %s", r.Command)
	case r.Tool != "":
		return fmt.Sprintf("ask before the tool %s", r.Tool)
	default:
		return "ask before anything outside of the folder"
	}
}

// File returns the path of the rules in a folder.
func File(folder string) string { return filepath.Join(folder, "ask-first.json") }

// Read returns the rules of a file, the newest first. A file that is not there has none.
func Read(path string) ([]Rule, error) {
	file, err := atomicfile.Read(path, maxFile)
	if err != nil {
		return nil, err
	}
	return rulesIn(file)
}

// Why returns a sentence for the person on which rule of a file has a use asked first; "" for none. In doubt there is one: if the
// file is there and cannot be read.
func Why(path string, u *Use) string {
	rules, err := Read(path)
	if err != nil {
		return "Your rules about what to ask first cannot be read: " + reason.Of(err)
	}
	_, why := Find(rules, u)
	return why
}

// rulesIn returns the rules of a file that was read.
func rulesIn(file *atomicfile.File) ([]Rule, error) {
	if !file.Exists {
		return nil, nil
	}
	var content struct {
		Rules []Rule `json:"rules"`
	}
	if err := json.Unmarshal(file.Data, &content); err != nil {
		return nil, fmt.Errorf("%s: %w", file.Path, err)
	}
	for i := range content.Rules {
		if err := check(&content.Rules[i].AskFirstTerms); err != nil {
			return nil, fmt.Errorf("%s: %w", file.Path, err)
		}
	}
	return content.Rules, nil
}

// check returns why terms are those of no rule.
func check(t *protocol.AskFirstTerms) error {
	set := 0
	for _, is := range []bool{t.Command != "", t.Tool != "", t.Outside} {
		if is {
			set++
		}
	}
	switch {
	case set != 1:
		return errors.New("a rule is about a command, about a tool, or about anything outside of the folder")
	case len(t.Command) > maxText || len(t.Tool) > maxText:
		return fmt.Errorf("the rule has more than %d bytes", maxText)
	case t.Command != "" && !plain(t.Command):
		return fmt.Errorf("%q is not the beginning of a command, such as git push", t.Command)
	case strings.ContainsAny(strings.TrimSuffix(t.Tool, "*"), "* \t\n"):
		return fmt.Errorf("%q is not the name of a tool; a * may be at its end", t.Tool)
	}
	return nil
}

// Rules are the rules of a file, and how often they were used.
type Rules struct {
	path    string
	changed func()

	mu   sync.Mutex // guards the file, and used
	used map[string]protocol.PolicyUse
}

// New returns the rules of a file.
func New(path string) *Rules {
	return &Rules{path: path, used: map[string]protocol.PolicyUse{}}
}

// Listen has changed called after each later change of the rules and of their use. It may be called once, before all else.
func (r *Rules) Listen(changed func()) { r.changed = changed }

// tell tells the listener. The lock must not be held.
func (r *Rules) tell() {
	if r.changed != nil {
		r.changed()
	}
}

// List returns the rules as entries of the policy, the newest first.
func (r *Rules) List() ([]protocol.PolicyEntry, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rules, err := Read(r.path)
	if err != nil {
		return nil, err
	}
	var all []protocol.PolicyEntry
	for _, rule := range rules {
		head := protocol.PolicyHead{Effect: protocol.EffectAsk, By: rule.By, At: rule.At}
		if used, ok := r.used[rule.ID]; ok {
			head.Used = &used
		}
		all = append(all, protocol.PolicyAskFirst{RuleID: rule.ID, AskFirstTerms: rule.AskFirstTerms, PolicyHead: head})
	}
	return all, nil
}

// Add makes a rule, and returns it; by names the front end.
func (r *Rules) Add(terms protocol.AskFirstTerms, by string) (*Rule, error) {
	terms.Command, terms.Tool = strings.Join(strings.Fields(terms.Command), " "), strings.TrimSpace(terms.Tool)
	if err := check(&terms); err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidAnswer, "%s", err)
	}
	rule := &Rule{ID: uuid.NewString(), AskFirstTerms: terms, By: by, At: time.Now().UnixMilli()}
	err := r.change(func(rules []Rule) ([]Rule, error) {
		if slices.ContainsFunc(rules, func(other Rule) bool { return other.AskFirstTerms == terms }) {
			return nil, protocol.Errorf(protocol.CodeInvalidAnswer, "there is such a rule already")
		}
		if len(rules) >= maxRules {
			return nil, protocol.Errorf(protocol.CodeInvalidAnswer, "there are %d rules already: remove one", maxRules)
		}
		return slices.Insert(rules, 0, *rule), nil
	})
	if err != nil {
		return nil, err
	}
	return rule, nil
}

// Remove removes a rule, and returns it; nil if there was none.
func (r *Rules) Remove(id string) (*Rule, error) {
	var removed *Rule
	err := r.change(func(rules []Rule) ([]Rule, error) {
		at := slices.IndexFunc(rules, func(rule Rule) bool { return rule.ID == id })
		if at < 0 {
			return nil, errNoRule
		}
		removed = new(rules[at])
		return slices.Delete(rules, at, at+1), nil
	})
	switch {
	case errors.Is(err, errNoRule):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return removed, nil
}

// errNoRule says that there is nothing to change.
var errNoRule = errors.New("there is no such rule")

// change replaces the rules.
func (r *Rules) change(to func([]Rule) ([]Rule, error)) error {
	err := r.write(to)
	if err == nil {
		r.tell()
	}
	return err
}

func (r *Rules) write(to func([]Rule) ([]Rule, error)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(r.path), 0o700); err != nil {
		return err
	}
	file, err := atomicfile.Read(r.path, maxFile)
	if err != nil {
		return err
	}
	rules, err := rulesIn(file)
	if err != nil {
		return err
	}
	if rules, err = to(rules); err != nil {
		return err
	}
	raw, err := json.MarshalIndent(map[string]any{"rules": rules}, "", "  ")
	if err != nil {
		return err
	}
	return file.Replace(append(raw, '\n'))
}

// Why returns [Why] for these rules.
func (r *Rules) Why(u *Use) string { return Why(r.path, u) }

// Count counts a use that a rule had the host ask about; host is its name.
func (r *Rules) Count(u *Use, host string) {
	rules, err := Read(r.path)
	if err != nil {
		return // the rules are not listed either
	}
	rule, _ := Find(rules, u)
	if rule == nil {
		return
	}
	r.mu.Lock()
	used := r.used[rule.ID]
	used.Count++
	used.LastAt, used.LastServer = time.Now().UnixMilli(), host
	r.used[rule.ID] = used
	r.mu.Unlock()
	r.tell()
}
