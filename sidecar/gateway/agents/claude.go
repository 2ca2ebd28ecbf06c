package agents

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"assent/protocol"
	"assent/sidecar/base/jsonscan"
	"assent/sidecar/broker/askfirst"
	"assent/sidecar/broker/form"
	"assent/sidecar/gateway/mcpserver"
	"assent/sidecar/task"
)

var claude = &host{client: mcpserver.Client{Name: "claude-code"}, title: "Claude Code"}

// errNoQuestion is the error for a frame that is nothing for Assent.
var errNoQuestion = errors.New("it is nothing that Assent asks about")

// claudeFrame is what a hook of Claude Code reads from stdin.
type claudeFrame struct {
	Event       string            `json:"hook_event_name"`
	Session     string            `json:"session_id"`
	Turn        string            `json:"prompt_id"`
	OtherTurn   json.RawMessage   `json:"turn_id"`
	Cwd         string            `json:"cwd"`
	Agent       string            `json:"agent_id"`
	AgentType   string            `json:"agent_type"`
	Tool        string            `json:"tool_name"`
	Input       json.RawMessage   `json:"tool_input"`
	Suggestions []json.RawMessage `json:"permission_suggestions"`
	claudeForm
}

// claudeForm is the form of a server that Claude Code starts itself.
type claudeForm struct {
	Server  string          `json:"mcp_server_name"`
	Message string          `json:"message"`
	Mode    string          `json:"mode"`
	Schema  json.RawMessage `json:"requested_schema"`
}

// readClaude reads what Claude Code says to its hook.
func readClaude(raw []byte) (*Event, error) {
	var f claudeFrame
	if err := jsonscan.Unmarshal(raw, &f); err != nil {
		return nil, err
	}
	switch {
	case f.Session == "":
		return nil, errors.New("session_id is missing")
	case f.OtherTurn != nil:
		return nil, errors.New("turn_id is not of Claude Code")
	}
	e := &Event{host: claude, session: f.Session, agent: f.Agent}
	switch f.Event {
	case "PermissionRequest":
		e.kind = asks
	case "PostToolUse", "PostToolUseFailure":
		e.kind = ran
	case "PreToolUse":
		e.kind = uses
		readClaudeUse(e, &f)
		return e, nil
	case "Elicitation":
		e.kind = asks
		return e, readClaudeForm(e, f.claudeForm)
	case "Stop", "SubagentStop":
		e.kind = turnEnded
		return e, nil
	case "UserPromptSubmit":
		e.kind = turnBegan
		return e, nil
	case "SessionEnd":
		e.kind = sessionEnded
		return e, nil
	default:
		return nil, fmt.Errorf("%w: the event %q", errNoQuestion, f.Event)
	}
	var err error
	if e.use, err = useOf(f.Turn, f.Tool, f.Input); err != nil || e.kind != asks {
		return e, err
	}
	origin := protocol.Origin{ServerName: claude.title}
	if f.Tool == askUserQuestion {
		return e, readClaudeQuestions(e, origin, f.Input)
	}
	q := protocol.HostPermission{
		Origin: origin, SessionID: f.Session, Folder: f.Cwd, Agent: cmp.Or(f.AgentType, f.Agent),
		Tool: f.Tool, Input: string(f.Input), Options: claudeOptions(f.Suggestions),
	}
	readClaudeUse(e, &f)
	err = readClaudeTool(&q, f.Input)
	e.question = q
	e.decide = func(a *task.Answer) (json.RawMessage, error) { return claudePermission(q, a) }
	return e, err
}

// useOf identifies a use of a tool. The order of the members of its input does not matter.
func useOf(turn, tool string, input json.RawMessage) (use, error) {
	var members map[string]any
	d := json.NewDecoder(bytes.NewReader(input))
	d.UseNumber()
	if err := d.Decode(&members); err != nil || members == nil || tool == "" {
		return use{}, errors.New("tool_name or tool_input is missing, or has another shape")
	}
	switch tool {
	case askUserQuestion:
		delete(members, "answers") // which Claude Code adds to the questions
	case exitPlanMode:
		clear(members) // an agent has one plan at a time, and may change its file in its own prompt
	}
	canonical, err := json.Marshal(members)
	return use{turn, tool, sha256.Sum256(canonical)}, err
}

// readClaudeTool fills in what a person sees first. A tool that is known and has an input of another shape is not shown: it may
// do something else by now. Any other tool is shown by its input.
func readClaudeTool(q *protocol.HostPermission, input json.RawMessage) error {
	var in struct {
		Command     *string `json:"command"`
		Description string  `json:"description"`
		Path        *string `json:"file_path"`
		Content     *string `json:"content"`
		Plan        string  `json:"plan"`
		change
		Edits []change `json:"edits"`
	}
	switch q.Tool {
	case exitPlanMode, "Bash", "Edit", "MultiEdit", "Write":
		if err := jsonscan.Unmarshal(input, &in); err != nil {
			return err
		}
	default:
		return nil
	}
	shape := fmt.Errorf("the input of %s has another shape", q.Tool)
	switch {
	case q.Tool == exitPlanMode:
		if strings.TrimSpace(in.Plan) == "" {
			return shape
		}
		q.Plan = in.Plan
		q.Options[0].Means = "Claude Code leaves plan mode, and does what the plan says."
		return nil
	case q.Tool == "Bash":
		if in.Command == nil {
			return shape
		}
		q.Command, q.Claim = *in.Command, in.Description
		if strings.ContainsRune(q.Command, '\uFFFD') { // it may stand for what JSON can write and a text cannot have
			q.Command = ""
		}
		return nil
	case in.Path == nil:
		return shape
	case q.Tool == "Write":
		if in.Content == nil {
			return shape
		}
		q.Changes = []protocol.FileChange{{Path: *in.Path, New: *in.Content}}
		return nil
	case q.Tool == "Edit":
		in.Edits = []change{in.change}
	}
	for _, c := range in.Edits {
		if c.Old == nil || c.New == nil {
			return shape
		}
		q.Changes = append(q.Changes, protocol.FileChange{Path: *in.Path, Old: c.Old, New: *c.New, All: c.All})
	}
	if len(q.Changes) == 0 {
		return shape
	}
	return nil
}

// change is a replacement in a file.
type change struct {
	Old *string `json:"old_string"`
	New *string `json:"new_string"`
	All bool    `json:"replace_all"`
}

// claudeOptions are the ways to allow it: once, and with each of the rules that Claude Code suggests. A suggestion that is not
// understood is not offered, nor is one that ends all questions.
func claudeOptions(suggestions []json.RawMessage) []protocol.PermissionOption {
	options := []protocol.PermissionOption{{
		ID: "once", Name: "Allow", Means: "It may do this once.", Scope: protocol.ScopeOnce,
	}}
	for i, raw := range suggestions {
		if o, ok := claudeOption(raw); ok {
			o.ID, o.Rule = fmt.Sprintf("suggestion-%d", i+1), raw
			options = append(options, o)
		}
	}
	return options
}

// claudeScopes are where Claude Code keeps a rule.
var claudeScopes = map[string]struct {
	scope protocol.PermissionScope
	where string
}{
	"session":         {protocol.ScopeSession, "until its session ends"},
	"localSettings":   {protocol.ScopeProject, "in this project, by its file .claude/settings.local.json"},
	"projectSettings": {protocol.ScopeProject, "in this project, also for others, by its file .claude/settings.json"},
	"userSettings":    {protocol.ScopeUser, "in all your projects, by ~/.claude/settings.json"},
}

func claudeOption(raw json.RawMessage) (o protocol.PermissionOption, ok bool) {
	var s struct {
		Type        string   `json:"type"`
		Destination string   `json:"destination"`
		Behavior    string   `json:"behavior"`
		Mode        string   `json:"mode"`
		Directories []string `json:"directories"`
		Rules       []struct {
			Tool    string  `json:"toolName"`
			Content *string `json:"ruleContent"`
		} `json:"rules"`
	}
	if jsonscan.Unmarshal(raw, &s) != nil {
		return o, false
	}
	kept, known := claudeScopes[s.Destination]
	o.Scope = kept.scope
	switch {
	case !known:
		return o, false
	case s.Type == "addRules" && s.Behavior == "allow" && len(s.Rules) > 0:
		var names []string
		for _, r := range s.Rules {
			name := r.Tool
			if r.Content != nil {
				name += "(" + *r.Content + ")"
			}
			names = append(names, name)
		}
		o.Name = "Allow, and do not ask again"
		o.Means = fmt.Sprintf("Claude Code then allows %s without asking, %s.", strings.Join(names, ", "), kept.where)
	case s.Type == "addDirectories" && len(s.Directories) > 0:
		o.Name = "Allow, and add the folder"
		o.Means = fmt.Sprintf("Claude Code may then work in %s as in its own folder, %s.", strings.Join(s.Directories, ", "), kept.where)
	case s.Type == "setMode" && s.Mode == "acceptEdits":
		o.Name = "Allow, and accept edits"
		o.Means = fmt.Sprintf("Claude Code then changes files without asking, %s.", kept.where)
	default:
		return o, false
	}
	return o, true
}

// claudeDecision is a decision of a hook.
type claudeDecision struct {
	Behavior    string            `json:"behavior"`
	Message     string            `json:"message,omitempty"`
	Permissions []json.RawMessage `json:"updatedPermissions,omitempty"`
	Input       any               `json:"updatedInput,omitempty"`
}

// printed is what a hook prints for a decision.
func (d claudeDecision) printed() (json.RawMessage, error) {
	return json.Marshal(map[string]any{"hookSpecificOutput": map[string]any{"hookEventName": "PermissionRequest", "decision": d}})
}

// claudePermission is what a hook prints after an answer about a permission; nil for no decision.
func claudePermission(q protocol.HostPermission, a *task.Answer) (json.RawMessage, error) {
	var said protocol.PermissionAnswer
	if a.Permission != nil {
		said = *a.Permission
	}
	switch a.Response {
	case protocol.YesButtonClicked:
		d := claudeDecision{Behavior: "allow"}
		if q.Plan != "" {
			d.Input = json.RawMessage(q.Input) // as it is: without it, Claude Code ignores a yes to a plan
		}
		for _, o := range q.Options {
			if o.ID == said.OptionID && o.Rule != nil {
				d.Permissions = []json.RawMessage{o.Rule}
			}
		}
		return d.printed()
	case protocol.NoButtonClicked:
		return claudeDecision{Behavior: "deny", Message: cmp.Or(said.Message, "The user does not allow this.")}.printed()
	default:
		return nil, nil
	}
}

// exitPlanMode is the tool of Claude Code with which a model asks to follow its plan.
const exitPlanMode = "ExitPlanMode"

// askUserQuestion is the tool of Claude Code with which a model asks questions with choices. A yes alone would not answer them.
const askUserQuestion = "AskUserQuestion"

// readClaudeQuestions reads questions with choices as a form. Their answers are the labels of the choices.
func readClaudeQuestions(e *Event, origin protocol.Origin, input json.RawMessage) error {
	var in struct {
		Questions []struct {
			question
			Several bool `json:"multiSelect"`
		} `json:"questions"`
	}
	if err := jsonscan.Unmarshal(input, &in); err != nil {
		return err
	}
	var questions []question
	for _, q := range in.Questions {
		if q.several = q.Several; q.several && slices.ContainsFunc(q.Options, func(c choice) bool { return strings.Contains(c.Label, ",") }) {
			return errChoice // the answer is a text with commas
		}
		questions = append(questions, q.question)
	}
	asked, err := formOf(origin, questions)
	if err != nil {
		return err
	}
	e.question = asked
	e.decide = func(a *task.Answer) (json.RawMessage, error) { return claudeAnswers(questions, input, a) }
	return nil
}

// claudeAnswers is what a hook prints after an answer to questions; nil for no decision.
func claudeAnswers(questions []question, input json.RawMessage, a *task.Answer) (json.RawMessage, error) {
	if a.Response == protocol.NoButtonClicked {
		return claudeDecision{Behavior: "deny", Message: "The user does not want to answer this."}.printed()
	}
	labels, err := labelsIn(questions, a)
	if labels == nil {
		return nil, err
	}
	answers := map[string]string{}
	for i, q := range questions {
		answers[q.Question] = strings.Join(labels[i], ", ")
	}
	var updated map[string]json.RawMessage
	err = json.Unmarshal(input, &updated)
	if err == nil {
		updated["answers"], err = json.Marshal(answers)
	}
	if err != nil {
		return nil, err
	}
	return claudeDecision{Behavior: "allow", Input: updated}.printed()
}

// readClaudeUse reads the use of a tool that is about to run, or may run.
func readClaudeUse(e *Event, f *claudeFrame) {
	e.about = &askfirst.Use{Tool: f.Tool, Cwd: f.Cwd}
	e.about.Unclear = f.Tool == "" || json.Unmarshal(f.Input, &e.about.Input) != nil || e.about.Input == nil
	command, clear := askfirst.CommandOf(e.about.Input)
	e.about.Command, e.about.Unclear = command, e.about.Unclear || !clear
}

// AskFirst is what the hook of Claude Code prints so that it asks the person before it uses a tool. Why is for the person.
func AskFirst(why string) (json.RawMessage, error) {
	return json.Marshal(map[string]any{"hookSpecificOutput": map[string]string{
		"hookEventName": "PreToolUse", "permissionDecision": "ask", "permissionDecisionReason": why,
	}})
}

// readClaudeForm reads the form of a server that Claude Code starts. The server is no server of Assent's, even with the same name.
func readClaudeForm(e *Event, f claudeForm) error {
	if f.Server == "" || f.Message == "" || f.Mode != "form" {
		return fmt.Errorf("%w: an elicitation with the mode %q", errNoQuestion, f.Mode)
	}
	fields, err := form.ParseElicitation(f.Schema)
	if err != nil {
		return err
	}
	asked := protocol.McpElicitation{Origin: protocol.Origin{ServerName: f.Server + " in " + claude.title}, ElicitationRequest: protocol.McpElicitationRequest{
		Message: f.Message, Fields: fields, RequestedSchema: string(f.Schema),
	}}
	e.question, e.form, e.decide = asked, &asked.ElicitationRequest, claudeFormAnswer
	return nil
}

// claudeFormAnswer is what a hook prints after an answer to a form; nil for no decision.
func claudeFormAnswer(a *task.Answer) (json.RawMessage, error) {
	said := struct {
		Event   string                     `json:"hookEventName"`
		Action  protocol.ElicitationAction `json:"action"`
		Content json.RawMessage            `json:"content,omitempty"`
	}{Event: "Elicitation"}
	switch a.Response {
	case protocol.YesButtonClicked:
		said.Action, said.Content = protocol.ActionAccept, a.Content
	case protocol.NoButtonClicked:
		said.Action = protocol.ActionDecline
	default:
		return nil, nil
	}
	return json.Marshal(map[string]any{"hookSpecificOutput": said})
}
