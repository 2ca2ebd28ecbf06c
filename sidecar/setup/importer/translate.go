package importer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"assent/protocol"
	"assent/sidecar/base/lazyregexp"
	"assent/sidecar/base/secret"
	"assent/sidecar/config"
	"assent/sidecar/setup/hostfile"
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
	OAuth   *oauth             `json:"oauth,omitempty"`
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
	// moves says that the server moves, so that it must start as before. It is a copy otherwise.
	moves bool
	// prefixed are headers that are written as in mcp.json already.
	prefixed []string
	// inEnv and inHeaders say where the text is that is translated, and inSecret that its name is that of a secret.
	inEnv, inHeaders, inSecret bool
	// ownNames are the names of the entry's own variables, and uses those of the environment, each as in mcp.json.
	ownNames map[string]bool
	uses     map[string]string
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
	t := &translation{Place: pl, inputs: inputs, moves: !rest, ownNames: map[string]bool{}, uses: map[string]string{}}
	all := maps.Clone(members)
	if err := t.own(members); err != nil {
		return Server{}, err
	}
	login, err := t.takeLogin(members)
	if err != nil {
		return Server{}, err
	}
	e, err := t.entry(members)
	if err != nil {
		return Server{}, err
	}
	if e.Type != protocol.TransportStdio {
		e.OAuth = login
	}
	if rest {
		t.rest(members)
	} else {
		t.check(all)
	}
	raw, err := plain(e)
	if err != nil {
		return Server{}, err
	}
	if names := secretDefaults(raw); len(names) > 0 && t.passes == passesFew {
		t.fail("The default of its variable %s looks like a secret, and %s has to give it to Assent in clear: write it into its env.", names[0], t.dialect.name)
	}
	if slices.ContainsFunc(secret.New().InArgs(append([]string{""}, strings.Fields(e.Command)...)), func(found []secret.Finding) bool { return len(found) > 0 }) {
		t.fail("Its command has what looks like a secret: write the program alone as the command, and the rest as its args.")
	}
	for _, in := range t.needed {
		var prompt struct{ ID, Default string }
		if json.Unmarshal(in.raw, &prompt) == nil && len(secret.New().InValue(prompt.ID, prompt.Default)) > 0 {
			t.fail("The default of its input %.100q looks like a secret, which would be in clear in your own file: delete it.", in.id)
		}
	}
	for _, found := range Secrets(raw) {
		t.warn("%s holds what looks like a secret in plain text, and so will the copy: keep the file out of version control, or let an input ask for it.", upper(found.where()))
	}
	return Server{Name: from.Name, Entry: raw, Warnings: t.warnings, Fails: t.fails, inputs: t.needed}, nil
}

// hostFolder is the folder in which a host runs.
const hostFolder = "${workspaceFolder}"

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
	text := fmt.Sprintf(format, args...)
	t.fails = cmp.Or(t.fails, text)
	t.warn("%s", text)
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
		if err := decode(raw, m.into); err != nil {
			return e, unreadable(m.name, err)
		}
	}
	if e.URL != "" && serverURL != "" {
		t.fail("It has both %q and %q, and it cannot be known which of them counts.", "serverUrl", "url")
	}
	e.URL = cmp.Or(e.URL, serverURL)
	if e.Command != "" && e.URL != "" {
		t.fail("It has both a command and a URL, and Assent starts a server with one of them.")
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

// decode reads a value. Unlike [json.Unmarshal], it does not take null for a text in a list or an object.
func decode(raw json.RawMessage, into any) error {
	switch into.(type) {
	case *[]string, *map[string]string:
		var list []*string
		var object map[string]*string
		if json.Unmarshal(raw, &list) == nil && slices.Contains(list, nil) || json.Unmarshal(raw, &object) == nil && slices.Contains(slices.Collect(maps.Values(object)), nil) {
			return &json.UnmarshalTypeError{Value: "null", Type: reflect.TypeFor[string]()}
		}
	}
	return json.Unmarshal(raw, into)
}

// unreadable says why a member cannot be read.
func unreadable(name string, err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return fmt.Errorf("has %q that cannot be read", name)
	}
	wanted := map[reflect.Kind]string{reflect.String: "a text", reflect.Slice: "a list", reflect.Map: "an object", reflect.Struct: "an object", reflect.Int: "a number"}[wrong.Type.Kind()]
	got := map[string]string{"string": "a text", "array": "a list", "object": "an object", "bool": "true or false", "null": "null"}[wrong.Value]
	return fmt.Errorf("has %q that cannot be read: there is %s where %s belongs", name, cmp.Or(got, "a number"), cmp.Or(wanted, "another value"))
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
		if secret.Generated(kind) {
			kind = "…"
		}
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
	for name := range env {
		t.ownNames[name] = true
	}
	if strings.Contains(e.Cwd, "://") {
		t.fail("It has a URL as its cwd, which Assent does not take for a folder.")
	}
	e.Command = t.path("the command", e.Command, strings.ContainsAny(e.Command, `/\`))
	e.Cwd = t.path("the cwd", e.Cwd, e.Cwd != "")
	if t.moves && e.Cwd == "" {
		e.Cwd = t.folder(e)
	}
	e.EnvFile = t.path("the envFile", e.EnvFile, e.EnvFile != "")
	for i, arg := range e.Args {
		prefix := ""
		if t.variables.tildes {
			prefix, arg = t.home(arg)
		}
		flag, _, _ := strings.Cut(arg, "=")
		if i > 0 && flag == arg {
			flag = e.Args[i-1]
		}
		t.inSecret = strings.HasPrefix(flag, "-") && secret.Named(strings.TrimLeft(flag, "-"))
		e.Args[i] = prefix + t.text(fmt.Sprintf("argument %d", i+1), arg)
	}
	t.inSecret = false
	t.inEnv = true
	for _, name := range slices.Sorted(maps.Keys(env)) {
		value, err := t.envValue(name, env[name])
		if err != nil {
			return fmt.Errorf("has in its env the value %.100q, which %w", secret.Shown(name), err)
		}
		if e.Env == nil {
			e.Env = map[string]*string{}
		}
		if value != nil {
			t.inSecret = secret.Named(name)
			value = new(t.text(fmt.Sprintf("the env value %.100q", secret.Shown(name)), *value))
		}
		e.Env[name] = value
	}
	t.warnOfQuestion(e)
	return nil
}

// warnOfQuestion warns if Assent will ask about a folder of which the host does not ask.
func (t *translation) warnOfQuestion(e *entry) {
	texts := []string{e.Command, e.Cwd, e.EnvFile}
	for _, value := range e.Env {
		if value != nil {
			texts = append(texts, *value)
		}
	}
	if t.moves && !AsksForTrust(t.id) && strings.Contains(strings.Join(texts, " "), "${workspaceFolder") {
		t.warn("It uses the folder where %s runs, as before. Assent asks you once in each folder whether it may.", t.dialect.name)
	}
}

// remote translates how a server is reached that is not started here.
func (t *translation) remote(e *entry) error {
	e.Command, e.Args, e.Cwd, e.EnvFile = "", nil, "", ""
	if !schemes().MatchString(e.URL) {
		return errors.New("has a url that begins with none of http://, https://, ws:// and wss://")
	}
	own := func(where, text string) {
		if t.variables.ownHeaders && strings.Contains(text, "$") {
			t.fail("%s may hold a variable of the entry itself, which Assent does not have.", upper(where))
		}
	}
	own("the url", e.URL)
	e.URL = t.text("the url", e.URL)
	t.inHeaders = true
	for _, name := range slices.Sorted(maps.Keys(e.Headers)) {
		where := fmt.Sprintf("the header %.100q", secret.Shown(name))
		own(where, e.Headers[name])
		if t.inSecret = secret.Named(name); !slices.Contains(t.prefixed, name) {
			e.Headers[name] = t.text(where, e.Headers[name])
		}
	}
	return nil
}

// envValue reads what programs allow: a text, a number, true or false, or null to remove the variable.
func (t *translation) envValue(name string, raw json.RawMessage) (*string, error) {
	var text string
	var number float64
	switch {
	case string(raw) == "null":
		if t.id != vscode.id {
			t.fail("It has null for a variable, which only VS Code takes for removing it.")
		}
		return nil, nil
	case json.Unmarshal(raw, &text) == nil:
		return &text, nil
	case bytes.ContainsAny(raw[:1], "{["):
		return nil, errors.New("must be a text, a number or null")
	case json.Unmarshal(raw, &number) == nil && strconv.FormatFloat(number, 'f', -1, 64) != string(raw):
		t.fail("It has a number for the variable %.100q that programs write in different ways: write it as a text.", secret.Shown(name))
	}
	return new(string(raw)), nil
}

// folder returns the cwd of a server without one. The person's own servers start in the home folder, and need the person's
// consent to start in another one, unless the host has asked for that. So only the servers of such a host keep its folder, and
// those that name a file of it.
func (t *translation) folder(e *entry) string {
	relative := func(text string) bool { return strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../") }
	switch {
	case t.noFolder:
		return ""
	case AsksForTrust(t.id), t.Folder != "", strings.ContainsAny(e.Command, `/\`) && !absolute().MatchString(e.Command), slices.ContainsFunc(e.Args, relative):
		return hostFolder
	}
	t.warn("It starts in your home folder, and no longer in the folder where %s runs. To have it start there, give it the cwd %s.", t.dialect.name, hostFolder)
	return ""
}

// path translates a text that may be a file's path.
func (t *translation) path(where, text string, isPath bool) string {
	prefix, text := t.home(text)
	text = prefix + t.text(where, text)
	moves := t.moves && !t.noFolder
	switch {
	case !isPath || absolute().MatchString(text):
	case moves && where != "the command": // which is looked for in the cwd
		return hostFolder + "/" + strings.TrimPrefix(text, "./")
	case !moves && t.Folder == "":
		t.warn("%s is relative to the working folder of %s; in Assent it is relative to the workspace folder.", upper(where), t.dialect.name)
	}
	return text
}

func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

var (
	schemes  = lazyregexp.New(`^(https?|wss?)://|^\$\{`)
	absolute = lazyregexp.New(`^([/\\]|\$\{|[A-Za-z]:)`) // on any system
)

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
			t.fail("The input %.100q is of a kind that Assent cannot ask for; it knows promptString and pickString.", id)
		}
	}
}

// rest warns of the members that the copy does not have.
func (t *translation) rest(members map[string]json.RawMessage) {
	for _, name := range slices.Sorted(maps.Keys(members)) {
		switch value := string(members[name]); {
		case isIrrelevant(t.id, name):
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
			t.warn("%.100q is not copied: Assent has no such setting for a server.", secret.Shown(name))
		}
	}
}

func isIrrelevant(host, name string) bool {
	known := find(host, name)
	return known != nil && known.Treatment == Irrelevant
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
