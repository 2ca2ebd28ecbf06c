package setup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"assent/sidecar/base/atomicfile"
	"assent/sidecar/config/orgpolicy"
	"assent/sidecar/setup/hostfile"
	"assent/sidecar/setup/vault"
)

// hookTimeout is how long Claude Code waits for an answer to a question, in seconds.
const hookTimeout = 86400

// hookEvents are the events of Claude Code for which its hook runs. The first are questions. Claude Code's own prompt is hidden during
// an Elicitation, of which the hook makes an end long before Claude Code would.
var hookEvents = []string{"PermissionRequest", "Elicitation", "PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop", "SubagentStop", "UserPromptSubmit", "SessionEnd"}

// HookPlan is the change that has the host of an agent show its own questions in Assent.
type HookPlan struct {
	// Host is the name of the host for a person.
	Host string `json:"host"`
	// Path is the file with the settings of Claude Code, or the plugin of opencode.
	Path string `json:"path"`
	// Hooks are the entries to add to settings, by their event; empty if the file has them.
	Hooks map[string]any `json:"hooks,omitempty"`
	// Plugin is the whole text of a plugin; empty if the file has it.
	Plugin string `json:"plugin,omitempty"`
	// Renews: the file has hooks of an earlier Assent, which the change renews.
	Renews bool `json:"renews,omitempty"`
	// Forbidden says in a sentence why Claude Code does not run such hooks; empty if nothing is known to forbid them.
	Forbidden string `json:"forbidden,omitempty"`

	options Options
	command string
	file    *atomicfile.File
	after   []byte
}

// hookGroup is an entry of Claude Code's settings for an event.
type hookGroup struct {
	Matcher string        `json:"matcher,omitempty"`
	Hooks   []hookCommand `json:"hooks"`
}

type hookCommand struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout,omitempty"`
}

// FindHooks plans the hooks of the hosts that are installed. Those that it cannot plan are in the error alone.
func FindHooks(o Options) (plans []*HookPlan, err error) {
	for _, find := range []func(Options) (*HookPlan, error){findClaudeHooks, findOpencodePlugin} {
		p, problem := find(o)
		if problem == nil && p != nil {
			plans = append(plans, p)
		}
		err = errors.Join(err, problem)
	}
	return plans, err
}

// Complete reports whether there is nothing to change.
func (p *HookPlan) Complete() bool { return len(p.Hooks) == 0 && p.Plugin == "" }

// findClaudeHooks plans Claude Code's hooks. It returns nil if Claude Code is not installed.
func findClaudeHooks(o Options) (*HookPlan, error) {
	folder := filepath.Join(o.Places.Home, ".claude")
	if named := o.Places.Env("CLAUDE_CONFIG_DIR"); named != "" {
		folder = named
	}
	if _, err := os.Stat(folder); err != nil && (o.Installed == nil || !o.Installed("claude")) {
		return nil, nil
	}
	p := &HookPlan{Host: "Claude Code", Path: filepath.Join(folder, "settings.json"), options: o, command: hookLine(o.Command), Hooks: map[string]any{}}
	var err error
	if p.file, err = atomicfile.Read(p.Path, maxFile); err != nil {
		return nil, err
	}
	if err := p.file.Writable(); err != nil {
		return nil, err
	}
	doc, err := hostfile.Parse(hostfile.JSON, p.file.Data)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", p.Path, err)
	}
	if p.Forbidden = forbidsHooks(p.Path, doc.Value); p.Forbidden == "" {
		p.Forbidden = o.managedHooks()
	}
	for _, event := range hookEvents {
		var groups []json.RawMessage
		if raw := doc.Value("hooks", event); raw != nil && json.Unmarshal(raw, &groups) != nil {
			return nil, fmt.Errorf("%s has no list for %s", p.Path, event)
		}
		if slices.ContainsFunc(groups, func(raw json.RawMessage) bool { return isHook(raw, "") }) {
			p.Renews = true
			if !slices.ContainsFunc(groups, func(raw json.RawMessage) bool { return p.isEarlier(raw, event) }) {
				continue
			}
			if err := doc.Drop(hostfile.Path{"hooks", event}, func(raw json.RawMessage) bool { return p.isEarlier(raw, event) }); err != nil {
				return nil, fmt.Errorf("%s cannot be changed: %w", p.Path, err)
			}
		}
		group := hookGroup{Hooks: []hookCommand{{Type: "command", Command: p.command}}}
		if strings.HasPrefix(event, "P") {
			group.Matcher = "*" // for every tool
		}
		if event == hookEvents[0] {
			group.Hooks[0].Timeout = hookTimeout
		}
		if err := doc.Append(hostfile.Path{"hooks", event}, group); err != nil {
			return nil, fmt.Errorf("%s cannot be changed: %w", p.Path, err)
		}
		p.Hooks[event] = []any{group}
	}
	p.after = doc.Bytes()
	p.Renews = p.Renews && len(p.Hooks) > 0
	return p, nil
}

// hookEnd ends the command of a hook. Claude Code takes an exit with 2 as a refusal, and an older Assent, which does not know the
// command, exits with that.
const hookEnd = " hook claude || exit 0"

// hookLine is the command of the hook in the shell that Claude Code starts.
func hookLine(program string) string {
	if strings.ContainsFunc(program, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+", r))
	}) {
		program = "'" + strings.ReplaceAll(program, "'", `'\''`) + "'"
	}
	return program + hookEnd
}

// isHook reports whether an entry of Claude Code's settings runs only this command, or with "" any hook of Assent.
func isHook(raw json.RawMessage, command string) bool {
	var group hookGroup
	if json.Unmarshal(raw, &group) != nil {
		return false
	}
	runs := func(h hookCommand) bool {
		return h.Command == command || command == "" && strings.Contains(h.Command, " hook claude") && strings.Contains(h.Command, "assent")
	}
	return len(group.Hooks) == 1 && runs(group.Hooks[0]) || command == "" && slices.ContainsFunc(group.Hooks, runs)
}

// isEarlier reports whether an entry for an event is one that an earlier setup wrote and that serves no longer: its command may
// refuse, its program is gone, or Claude Code does not wait for an answer.
func (p *HookPlan) isEarlier(raw json.RawMessage, event string) bool {
	var group hookGroup
	if json.Unmarshal(raw, &group) != nil || len(group.Hooks) != 1 || !isHook(raw, "") {
		return false
	}
	h := group.Hooks[0]
	program, current := strings.CutSuffix(h.Command, hookEnd)
	if !current {
		program = strings.TrimSuffix(h.Command, " hook claude")
	}
	if quoted, ok := strings.CutPrefix(program, "'"); ok {
		program = strings.ReplaceAll(strings.TrimSuffix(quoted, "'"), `'\''`, "'")
	}
	if !filepath.IsAbs(program) {
		return false // a person wrote it
	}
	_, err := os.Stat(program)
	isGone := errors.Is(err, fs.ErrNotExist) && h.Command != p.command
	return !current || isGone || event == hookEvents[0] && h.Timeout == 0
}

// forbidsHooks says which member of some settings keeps the person's hooks from running.
func forbidsHooks(path string, value func(...string) json.RawMessage) string {
	for _, name := range []string{"disableAllHooks", "allowManagedHooksOnly"} {
		if string(value(name)) == "true" {
			return fmt.Sprintf("Claude Code does not run the hook, because %s has %q.", path, name)
		}
	}
	return ""
}

// managedHooks says which file of an organisation keeps the person's hooks from running.
func (o Options) managedHooks() string {
	for _, f := range o.Policy.Read() {
		if f.Kind != orgpolicy.ClaudeCode || f.Err != nil {
			continue
		}
		doc, err := hostfile.Parse(hostfile.JSON, f.Data)
		if err != nil {
			continue
		}
		if why := forbidsHooks(f.Path, doc.Value); why != "" {
			return why
		}
	}
	return ""
}

// Apply adds the hooks. [Restore] removes them.
func (p *HookPlan) Apply() (err error) {
	o := p.options
	if ofNPX().MatchString(o.Command) {
		return fmt.Errorf("nothing was changed: this program is in npm's cache, and %s could not start it when npm has emptied that. Run npm install --global @assent/cli, and then assent setup", p.Host)
	}
	unlock, err := o.lock()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	r, err := o.newRun()
	if err != nil {
		return err
	}
	c, err := r.keep(vault.Open(o.Folder), p.file, p.after, nil)
	if err == nil {
		c.Hook, c.Plugin = p.command, p.Plugin != ""
		r.Files = []*change{c}
		err = r.save()
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(p.file.Path), 0o700)
	}
	if err == nil {
		err = p.file.Replace(p.after)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("nothing was changed: %w", err), os.RemoveAll(r.dir))
	}
	return nil
}

// withoutHook returns a file that was changed since without the hooks of Assent.
func withoutHook(c *change, data []byte) (text []byte, notes []string, err error) {
	doc, err := hostfile.Parse(hostfile.JSON, data)
	if err != nil {
		return nil, nil, fmt.Errorf("it cannot be read: %w. Repair it", err)
	}
	for _, event := range hookEvents {
		err := doc.Drop(hostfile.Path{"hooks", event}, func(raw json.RawMessage) bool { return isHook(raw, c.Hook) })
		if err != nil && !errors.Is(err, hostfile.ErrNoEntry) {
			return nil, nil, fmt.Errorf("the hook for %s cannot be removed: %w", event, err)
		}
	}
	return doc.Bytes(), nil, nil
}
