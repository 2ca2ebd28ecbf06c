package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assent/protocol"
	"assent/sidecar/config"
	"assent/sidecar/hostfile"
	"assent/sidecar/lazyregexp"
)

// entry is a server as mcp.json has it.
type entry struct {
	Type    protocol.Transport `json:"type"`
	Command string             `json:"command,omitempty"`
	Args    []string           `json:"args,omitempty"`
	Env     map[string]*string `json:"env,omitempty"`
	EnvFile string             `json:"envFile,omitempty"`
	Cwd     string             `json:"cwd,omitempty"`
	URL     string             `json:"url,omitempty"`
	Headers map[string]string  `json:"headers,omitempty"`
}

// input is an input of mcp.json, as it is written there.
type input struct {
	id  string
	raw json.RawMessage
}

// translation is one server on its way.
type translation struct {
	Place
	inputs   map[string]input
	warnings []string
	needed   []input
	// fails says why it will not start as it is.
	fails string
	// prefixed are headers that are written as in mcp.json already.
	prefixed []string
}

// translate returns a server of another program as mcp.json has it. With rest, it warns of members that are not copied.
func (pl Place) translate(from hostfile.Entry, inputs map[string]input, rest bool) (Server, error) {
	if from.Name == "" || len(from.Name) > 200 {
		return Server{}, errors.New("has a name that mcp.json cannot have")
	}
	if len(from.Value) > maxEntry {
		return Server{}, fmt.Errorf("has more than %d bytes", maxEntry)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(from.Value, &members); err != nil || members == nil {
		return Server{}, errors.New("is not an object")
	}
	t := &translation{Place: pl, inputs: inputs}
	if err := t.own(members); err != nil {
		return Server{}, err
	}
	e, err := t.entry(members)
	if err != nil {
		return Server{}, err
	}
	if rest {
		t.rest(members)
	}
	raw, err := plain(e)
	if err != nil {
		return Server{}, err
	}
	return Server{Name: from.Name, Entry: raw, Warnings: t.warnings, Fails: t.fails, inputs: t.needed}, nil
}

// plain returns a value as JSON that is read by people.
func plain(v any) (json.RawMessage, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(out.Bytes()), nil
}

// fail warns of what keeps the server from starting.
func (t *translation) fail(format string, args ...any) {
	t.fails = fmt.Sprintf(format, args...)
	t.warn("%s", t.fails)
}

func (t *translation) warn(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(t.warnings, text) {
		t.warnings = append(t.warnings, text)
	}
}

// entry takes what mcp.json has too out of members, which then hold the rest.
func (t *translation) entry(members map[string]json.RawMessage) (entry, error) {
	var e entry
	var kind, serverURL string
	env := map[string]json.RawMessage{}
	for _, m := range []struct {
		name string
		into any
	}{
		{"transportType", &kind}, // of Cline's past
		{"transport", &kind},
		{"type", &kind},
		{"command", &e.Command},
		{"args", &e.Args},
		{"env", &env},
		{"envFile", &e.EnvFile},
		{"cwd", &e.Cwd},
		{"serverUrl", &serverURL}, // of Windsurf
		{"url", &e.URL},
		{"headers", &e.Headers},
	} {
		raw, ok := members[m.name]
		if !ok {
			continue
		}
		delete(members, m.name)
		if err := json.Unmarshal(raw, m.into); err != nil {
			return e, fmt.Errorf("has a %q that cannot be read", m.name)
		}
	}
	if e.URL == "" {
		e.URL = serverURL
	}
	transport, err := transportOf(kind, e.Command, e.URL, members)
	if err != nil {
		return e, err
	}
	e.Type = transport
	if e.Type == protocol.TransportStdio {
		return e, t.stdio(&e, env)
	}
	return e, t.remote(&e)
}

// transportOf returns how a server is reached, by any program's word for it. Rest are the members that mcp.json does not
// have.
func transportOf(kind, command, url string, rest map[string]json.RawMessage) (protocol.Transport, error) {
	transport := protocol.TransportStdio
	switch strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(kind)) {
	case "":
		// Assent tries Streamable HTTP first and then HTTP with SSE, so it need not be known which.
		if command == "" && url != "" {
			transport = protocol.TransportHTTP
		}
	case "stdio", "local":
	case "http", "streamablehttp", "remote":
		transport = protocol.TransportHTTP
	case "sse":
		transport = protocol.TransportSSE
	case "ws", "websocket":
		transport = protocol.TransportWS
	default:
		return "", fmt.Errorf("has the type %.50q; Assent knows stdio, http, sse and ws", kind)
	}
	switch {
	case transport == protocol.TransportStdio && command == "":
		return "", errors.New(config.Missing("command", rest))
	case transport != protocol.TransportStdio && url == "":
		return "", errors.New(config.Missing("url", rest))
	}
	return transport, nil
}

// stdio translates what a process is started with.
func (t *translation) stdio(e *entry, env map[string]json.RawMessage) error {
	e.URL, e.Headers = "", nil
	e.Command = t.path("the command", e.Command, strings.ContainsAny(e.Command, `/\`))
	e.Cwd = t.path("the cwd", e.Cwd, e.Cwd != "")
	e.EnvFile = t.path("the envFile", e.EnvFile, e.EnvFile != "")
	if slices.ContainsFunc(e.Args, func(arg string) bool { return hasSecret("", arg) }) || secretAfterFlag(e.Args) {
		t.secret("an argument")
	}
	for i, arg := range e.Args {
		e.Args[i] = t.text(fmt.Sprintf("argument %d", i+1), arg)
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		value, err := envValue(env[name])
		if err != nil {
			return fmt.Errorf("has in its env the value %.100q, which %w", name, err)
		}
		if e.Env == nil {
			e.Env = map[string]*string{}
		}
		if value != nil {
			where := fmt.Sprintf("the env value %.100q", name)
			if hasSecret(name, *value) {
				t.secret(where)
			}
			value = new(t.text(where, *value))
		}
		e.Env[name] = value
	}
	return nil
}

// remote translates how a server is reached that is not started here.
func (t *translation) remote(e *entry) error {
	e.Command, e.Args, e.Cwd, e.EnvFile = "", nil, "", ""
	if urlHasSecret(e.URL) {
		t.secret("the url")
	}
	if !schemes().MatchString(e.URL) {
		return errors.New("has a url that begins with none of http://, https://, ws:// and wss://")
	}
	e.URL = t.text("the url", e.URL)
	for _, name := range slices.Sorted(maps.Keys(e.Headers)) {
		where := fmt.Sprintf("the header %.100q", name)
		if hasSecret(name, e.Headers[name]) {
			t.secret(where)
		}
		if !slices.Contains(t.prefixed, name) {
			e.Headers[name] = t.text(where, e.Headers[name])
		}
	}
	return nil
}

// envValue reads what programs allow: a text, a number, true or false, or null to remove the variable.
func envValue(raw json.RawMessage) (*string, error) {
	var text string
	switch {
	case string(raw) == "null":
		return nil, nil
	case json.Unmarshal(raw, &text) == nil:
		return &text, nil
	case bytes.ContainsAny(raw[:1], "{["):
		return nil, errors.New("must be a text, a number or null")
	default:
		return new(string(raw)), nil
	}
}

// path translates a text that may be a file's path.
func (t *translation) path(where, text string, isPath bool) string {
	if rest, ok := strings.CutPrefix(text, "~/"); ok {
		text = "${userHome}/" + rest
	}
	text = t.text(where, text)
	if isPath && !absolute().MatchString(text) && t.Folder == "" {
		t.warn("%s is relative to the working folder of %s; in Assent it is relative to the workspace folder.", upper(where), t.dialect.name)
	}
	return text
}

func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

var (
	schemes  = lazyregexp.New(`^(https?|wss?)://|^\$\{`)
	absolute = lazyregexp.New(`^([/\\]|\$\{|[A-Za-z]:)`) // on any system
	variable = lazyregexp.New(`\$\{([^}]*)\}`)
	// shellVariable is what may be in a variable of the dialect shell.
	shellVariable = lazyregexp.New(`^([A-Za-z_][A-Za-z0-9_]*)(:-(.*))?$`)
	bareVariable  = lazyregexp.New(`\$([A-Za-z_][A-Za-z0-9_]*)`)
	// bracesVariable is a variable of the dialect braces.
	bracesVariable = lazyregexp.New(`\{env:([A-Za-z_][A-Za-z0-9_]*)\}`)
	// knownVariables are those that Assent puts in.
	knownVariables = []string{"env", "workspaceFolder", "workspaceFolderBasename", "userHome", "pathSeparator", "/"}
)

// text translates the variables in a text.
func (t *translation) text(where, text string) string {
	switch t.dialect.variables {
	case shellBare:
		text = bareVariable().ReplaceAllString(text, "$${$1}")
	case braces:
		text = bracesVariable().ReplaceAllString(text, "$${env:$1}")
		if strings.Contains(text, "{file:") {
			t.fail("%s takes the text of a file with {file:...}, which Assent does not: replace it.", upper(where))
		}
	}
	return variable().ReplaceAllStringFunc(text, func(match string) string {
		name := match[2 : len(match)-1]
		kind, id, _ := strings.Cut(name, ":")
		parts := shellVariable().FindStringSubmatch(name)
		switch {
		case t.dialect.variables == literal:
			t.fail("%s holds %.100s, which %s uses as text; Assent replaces it by a variable's value, or does not start the server if there is none.",
				upper(where), match, t.dialect.name)
			return match
		case t.dialect.isShell() && name == "CLAUDE_PROJECT_DIR":
			return "${workspaceFolder}"
		case t.dialect.isShell() && parts != nil:
			if parts[2] != "" {
				t.warn("%s uses a default if the variable %.100s is not set; in Assent it is then empty.", upper(where), parts[1])
			}
			return "${env:" + parts[1] + "}"
		case t.dialect.isShell():
		case t.dialect.hasInputs && kind == "input":
			t.input(id)
			return match
		case slices.Contains(knownVariables, kind):
			return match
		}
		t.fail("%s holds the variable %.100s, which Assent does not know: the server will not start until it is replaced.", upper(where), match)
		return match
	})
}

// input adds an input to copy.
func (t *translation) input(id string) {
	in, ok := t.inputs[id]
	switch {
	case !ok:
		t.fail("It asks for the input %.100q, which %s does not define.", id, t.dialect.name)
	case slices.ContainsFunc(t.needed, func(n input) bool { return n.id == id }):
	default:
		t.needed = append(t.needed, in)
		t.warn("It asks for the input %.100q. Its definition is copied too.", id)
		var kind struct{ Type protocol.InputKind }
		if json.Unmarshal(in.raw, &kind) != nil || kind.Type != protocol.PromptString && kind.Type != protocol.PickString {
			t.warn("The input %.100q is of a kind that Assent cannot ask for; it knows promptString and pickString.", id)
		}
	}
}

func (t *translation) secret(where string) {
	t.warn("%s holds what looks like a secret in plain text, and so will the copy: keep the file out of version control, or let an input ask for it.", upper(where))
}

// rest warns of the members that the copy does not have.
func (t *translation) rest(members map[string]json.RawMessage) {
	for _, name := range slices.Sorted(maps.Keys(members)) {
		switch value := string(members[name]); {
		case slices.Contains([]string{"description", "name", "title", "icon", "version", "gallery", "_meta", "note", "comment"}, name):
			// Nothing is lost that a server could notice.
		case name == "enabled" && value == "false", name == "disabled" && value == "true":
			t.warn("It is switched off in %s; Assent starts it at its first use.", t.dialect.name)
		case slices.Contains([]string{"null", "false", "[]", `["*"]`, "{}", `""`, "0"}, value), name == "enabled":
		case name == "autoApprove" || name == "alwaysAllow":
			t.warn("%s runs some of its tools without asking (%q), which is not copied.", t.dialect.name, name)
		case name == "disabledTools" || name == "enabledTools" || name == "tools":
			t.warn("%s offers only some of its tools (%q); Assent offers all.", t.dialect.name, name)
		case name == "headersHelper":
			t.warn("%s takes headers from a program (%q), which is not copied.", t.dialect.name, name)
		default:
			t.warn("%.100q is not copied: Assent has no such setting for a server.", name)
		}
	}
}

// inputs returns the inputs that a file defines, by id.
func (d dialect) inputs(f *hostfile.File) map[string]input {
	if !d.hasInputs {
		return nil
	}
	list := f.Value("inputs")
	if list == nil {
		list = f.Value("mcp", "inputs")
	}
	var raws []json.RawMessage
	byID := map[string]input{}
	if list == nil || json.Unmarshal(list, &raws) != nil {
		return nil // a server that needs one of them fails: the input is not defined
	}
	for _, raw := range raws {
		var in struct{ ID string }
		if err := json.Unmarshal(raw, &in); err == nil && in.ID != "" && len(raw) <= maxEntry {
			byID[in.ID] = input{id: in.ID, raw: raw}
		}
	}
	return byID
}
