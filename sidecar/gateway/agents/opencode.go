package agents

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"assent/protocol"
	"assent/sidecar/base/jsonscan"
	"assent/sidecar/broker/askfirst"
	"assent/sidecar/gateway/mcpserver"
	"assent/sidecar/task"
)

var opencode = &host{client: mcpserver.Client{Name: "opencode"}, title: "opencode", tells: true}

// taken is what the plugin says once opencode has taken the answer. Else it says how opencode was answered: see [Event.toldBy].
const taken = "taken\n"

// opencodeFrame is what the plugin of opencode tells its hook.
type opencodeFrame struct {
	// Type and Properties are those of opencode's event.
	Type       string          `json:"type"`
	Properties json.RawMessage `json:"properties"`
	// Folder is where opencode works.
	Folder string `json:"folder"`
	// Root is the session in which the person writes, if another one asks, that of the sub-agent Agent.
	Root  string `json:"root"`
	Agent string `json:"agent"`
	// Tool and Input are the use of a tool for which opencode asks; absent if it does not say.
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
}

// readOpencode reads what the plugin of opencode says to its hook.
func readOpencode(raw []byte) (*Event, error) {
	var f opencodeFrame
	if err := jsonscan.Unmarshal(raw, &f); err != nil {
		return nil, err
	}
	if f.Type == "config" {
		return &Event{host: opencode, kind: starts}, nil
	}
	var asked struct {
		ID      string `json:"id"`
		Session string `json:"sessionID"`
	}
	if err := jsonscan.Unmarshal(f.Properties, &asked); err != nil {
		return nil, err
	}
	if asked.ID == "" || asked.Session == "" {
		return nil, errors.New("id or sessionID is missing")
	}
	e := &Event{host: opencode, kind: asks, session: cmp.Or(f.Root, asked.Session), use: use{turn: asked.ID}}
	if e.session != asked.Session {
		e.agent = cmp.Or(f.Agent, "sub-agent")
	}
	switch f.Type {
	case "permission.asked":
		return e, readOpencodePermission(e, &f)
	case "question.asked":
		return e, readOpencodeQuestions(e, f.Properties)
	default:
		return nil, fmt.Errorf("%w: the event %q", errNoQuestion, f.Type)
	}
}

// opencodePermission is a permission for which opencode asks.
type opencodePermission struct {
	Permission string          `json:"permission"`
	Patterns   []string        `json:"patterns"`
	Metadata   json.RawMessage `json:"metadata"`
	Always     []string        `json:"always"`
}

func readOpencodePermission(e *Event, f *opencodeFrame) error {
	var p opencodePermission
	if err := jsonscan.Unmarshal(f.Properties, &p); err != nil {
		return err
	}
	if p.Permission == "" || len(p.Patterns) == 0 {
		return errors.New("permission or patterns are missing")
	}
	q := protocol.HostPermission{
		Origin: protocol.Origin{ServerName: opencode.title}, SessionID: e.session, Folder: f.Folder, Agent: e.agent, Tool: p.Permission,
		Options: opencodeOptions(&p), DeclineMeans: "A no refuses all that this session of opencode asks now. Without words for the model, it ends the turn.",
	}
	if err := readOpencodeUse(&q, &p, f); err != nil {
		return err
	}
	e.question = q
	e.about = &askfirst.Use{Tool: cmp.Or(f.Tool, p.Permission), Command: q.Command, Cwd: f.Folder}
	input := f.Input
	if input == nil {
		input = p.Metadata
	}
	e.about.Unclear = json.Unmarshal(input, &e.about.Input) != nil
	e.decide = opencodeReply
	return nil
}

// readOpencodeUse fills in what a person sees. Input is what the tool was given, if that says all, and else what opencode says too.
func readOpencodeUse(q *protocol.HostPermission, p *opencodePermission, f *opencodeFrame) error {
	var said struct {
		Command *string `json:"command"`
		Path    string  `json:"filepath"`
		Diff    *string `json:"diff"`
		Files   []struct {
			Path  string `json:"filePath"`
			Patch string `json:"patch"`
		} `json:"files"`
	}
	var given struct {
		Command     *string `json:"command"`
		Description string  `json:"description"`
	}
	switch p.Permission {
	case "bash", "edit":
		if err := jsonscan.Unmarshal(p.Metadata, &said); err != nil {
			return err
		}
		if f.Input != nil && jsonscan.Unmarshal(f.Input, &given) != nil {
			return errors.New("the input has another shape")
		}
	}
	whole := struct {
		Patterns []string        `json:"patterns"`
		Metadata json.RawMessage `json:"metadata,omitempty"`
		Tool     string          `json:"tool,omitempty"`
		Input    json.RawMessage `json:"input,omitempty"`
	}{p.Patterns, p.Metadata, f.Tool, f.Input}
	switch {
	case p.Permission == "bash":
		if said.Command == nil || given.Command != nil && *given.Command != *said.Command {
			return errors.New("the command of bash is missing, or there are two")
		}
		if q.Claim = given.Description; !strings.ContainsRune(*said.Command, '\uFFFD') { // as with Claude Code
			q.Command = *said.Command
		}
		if given.Command != nil {
			q.Input = string(f.Input)
		} else {
			q.Input = string(p.Metadata)
		}
		return nil
	case p.Permission == "edit" && said.Files != nil:
		for _, file := range said.Files {
			q.Changes = append(q.Changes, changesOf(file.Path, file.Patch)...)
		}
	case p.Permission == "edit" && said.Diff != nil:
		q.Changes = changesOf(said.Path, *said.Diff)
	case p.Permission == f.Tool && f.Input != nil && isEmpty(p.Metadata): // a tool of an MCP server
		q.Input = string(f.Input)
		return nil
	}
	input, err := json.Marshal(whole)
	q.Input = string(input)
	return err
}

// isEmpty reports whether a JSON text is an object without members.
func isEmpty(raw json.RawMessage) bool {
	var members map[string]json.RawMessage
	return json.Unmarshal(raw, &members) == nil && len(members) == 0
}

// opencodeOptions are the ways to allow it.
func opencodeOptions(p *opencodePermission) []protocol.PermissionOption {
	options := []protocol.PermissionOption{{ID: "once", Name: "Allow", Means: "It may do this once.", Scope: protocol.ScopeOnce}}
	if len(p.Always) > 0 {
		options = append(options, protocol.PermissionOption{
			ID: "always", Name: "Allow, and do not ask again", Scope: protocol.ScopeSession,
			Means: fmt.Sprintf("opencode then allows %s for %s without asking, in all sessions of its folder, until it is closed.", p.Permission, strings.Join(p.Always, ", ")),
		})
	}
	return options
}

// opencodeReply is what a hook prints after an answer about a permission; nil for no decision.
func opencodeReply(a *task.Answer) (json.RawMessage, error) {
	var said protocol.PermissionAnswer
	if a.Permission != nil {
		said = *a.Permission
	}
	reply := struct {
		Reply   string `json:"reply"`
		Message string `json:"message,omitempty"`
	}{}
	switch a.Response {
	case protocol.YesButtonClicked:
		reply.Reply = cmp.Or(said.OptionID, "once")
	case protocol.NoButtonClicked:
		reply.Reply, reply.Message = "reject", said.Message
	default:
		return nil, nil
	}
	return json.Marshal(reply)
}

// readOpencodeQuestions reads questions with choices as a form.
func readOpencodeQuestions(e *Event, properties json.RawMessage) error {
	var in struct {
		Questions []struct {
			question
			Several bool `json:"multiple"`
		} `json:"questions"`
	}
	if err := jsonscan.Unmarshal(properties, &in); err != nil {
		return err
	}
	var questions []question
	for _, q := range in.Questions {
		q.several = q.Several
		questions = append(questions, q.question)
	}
	asked, err := formOf(protocol.Origin{ServerName: opencode.title}, questions)
	if err != nil {
		return err
	}
	e.question = asked
	e.decide = func(a *task.Answer) (json.RawMessage, error) {
		if a.Response == protocol.NoButtonClicked {
			return json.RawMessage(`{"reply":"reject"}`), nil
		}
		labels, err := labelsIn(questions, a)
		if labels == nil {
			return nil, err
		}
		return json.Marshal(map[string]any{"answers": labels})
	}
	return nil
}

// AskAtStart is what the hook of opencode prints as opencode starts, so that it asks the person before some commands. A plugin
// cannot have it ask later. The patterns are those of opencode, with * for any text, and find more than the rules do. If the rules
// cannot be read, it asks before every command.
func AskAtStart(rules []askfirst.Rule, unread error) (json.RawMessage, error) {
	patterns := []string{}
	for _, r := range rules {
		if r.Command != "" {
			patterns = append(patterns, "*"+strings.Join(strings.Fields(r.Command), "*")+"*")
		}
	}
	if unread != nil {
		patterns = []string{"*"}
	}
	return json.Marshal(map[string][]string{"bash": patterns})
}

// toldBy returns how a question ended in its host, as its hook says in a line; nil if it does not say so.
func (e *Event) toldBy(line string) *task.Ended {
	if !e.host.tells || line == "" {
		return nil
	}
	detail := "It was answered in %s's own prompt."
	switch strings.TrimSpace(line) {
	case "once", "always":
		detail = "It was allowed in %s's own prompt."
	case "reject":
		detail = "It was refused in %s's own prompt, or with another question of its session."
	}
	return e.host.ended(ending{protocol.OutcomeAnsweredInHost, detail})
}

// changesOf returns the changes in a unified diff of a file, a change for each hunk; none if the diff cannot be read. The rest of the
// input is shown anyway.
func changesOf(path, diff string) (changes []protocol.FileChange) {
	var old, added strings.Builder
	var oldLeft, newLeft int
	flush := func() {
		if before := old.String(); before != "" || added.Len() > 0 {
			changes = append(changes, protocol.FileChange{Path: path, Old: &before, New: added.String()})
		}
		old.Reset()
		added.Reset()
	}
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "@@ "):
			if oldLeft > 0 || newLeft > 0 {
				return nil
			}
			flush()
			var ok bool
			if oldLeft, newLeft, ok = hunkOf(line); !ok {
				return nil
			}
		case oldLeft == 0 && newLeft == 0: // the head, or the note that a line has no end
		case line[0] == '\\':
		case line[0] == '-':
			old.WriteString(line[1:])
			oldLeft--
		case line[0] == '+':
			added.WriteString(line[1:])
			newLeft--
		case line[0] == ' ' || line[0] == '\n':
			text := strings.TrimPrefix(line, " ")
			old.WriteString(text)
			added.WriteString(text)
			oldLeft--
			newLeft--
		default:
			return nil
		}
		if oldLeft < 0 || newLeft < 0 {
			return nil
		}
	}
	if oldLeft > 0 || newLeft > 0 {
		return nil
	}
	flush()
	return changes
}

// hunkOf reads the numbers of lines in the head of a hunk: "@@ -1,2 +1,3 @@".
func hunkOf(head string) (before, after int, ok bool) {
	fields := strings.Fields(head)
	if len(fields) < 4 || fields[3] != "@@" {
		return 0, 0, false
	}
	count := func(span, sign string) int {
		span, found := strings.CutPrefix(span, sign)
		var start int
		n := 1
		if !found {
			return -1
		}
		if _, err := fmt.Sscanf(span, "%d,%d", &start, &n); err == nil {
			return n
		}
		if _, err := fmt.Sscanf(span, "%d", &start); err != nil {
			return -1
		}
		return 1
	}
	before, after = count(fields[1], "-"), count(fields[2], "+")
	return before, after, before >= 0 && after >= 0
}
