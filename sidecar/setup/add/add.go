// Package add reads references to MCP servers that a person wants to add: install links of VS Code, URLs, packages of npm, PyPI
// and NuGet, container images, files of the MCP registry (server.json), and bundles (.mcpb).
//
// [Read] returns what an mcp.json would have. It fetches nothing, starts nothing and writes nothing, and refuses a package
// without an exact version. It does not trust references: it bounds and checks them. The caller shows a server to the person
// before it writes it.
// [Server.Unpack] writes the files of a bundle. The package keeps no state.
package add

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"assent/protocol"
	"assent/sidecar/base/lazyregexp"
	"assent/sidecar/base/visible"
	"assent/sidecar/setup/importer"
)

const (
	// maxReference bounds a link or another reference, and maxFile a server.json or a manifest, in bytes.
	maxReference = 64 << 10
	maxFile      = 1 << 20
	// maxTexts bounds the arguments, the variables and the headers of a server, each.
	maxTexts = 200
	// maxText bounds one of them, in bytes, and maxName the name of a server.
	maxText = 8 << 10
	maxName = 100
)

// Entry is a server as an mcp.json has it.
type Entry struct {
	Type    protocol.Transport `json:"type"`
	Command string             `json:"command,omitempty"`
	Args    []string           `json:"args,omitempty"`
	Env     map[string]string  `json:"env,omitempty"`
	EnvFile string             `json:"envFile,omitempty"`
	Cwd     string             `json:"cwd,omitempty"`
	URL     string             `json:"url,omitempty"`
	Headers map[string]string  `json:"headers,omitempty"`
}

// Input is a value that only the person knows.
type Input struct {
	// Name is its name in the reference.
	Name        string
	Description string
	Default     string
	Options     []string
	// Secret says that no file gets the value. Assent asks for it when the server starts.
	Secret bool
	// Required says that the server does not work without it.
	Required bool
	// Multiple allows several values. An argument that is only this input becomes one argument for each value.
	Multiple bool
}

// Server is a server that can be added.
type Server struct {
	// Name is the name in the reference. The person may change it before the server is written.
	Name string
	// Origin says what the reference is: "the npm package x, version 1.2.3".
	Origin string
	// Notes are sentences for the person who decides.
	Notes []string
	// Inputs are the values that the server takes.
	Inputs []Input
	// entry has ${input:NAME} for each input, by its Name.
	entry  Entry
	values map[string][]string
	// asked are the inputs for which Assent asks when the server starts.
	asked  map[string]bool
	bundle *bundle // nil unless the reference is a bundle
}

// Options are what [Read] needs to know.
type Options struct {
	// Folder is the base of relative paths.
	Folder string
	// BundleDir is the folder for unpacked bundles.
	BundleDir string
	// OS is a system, as in [runtime.GOOS].
	OS string
	// Pin is the version of a package that has none; it may be empty.
	Pin string
	// Registry is the address of the registry that the runtime takes packages from. A package that names another registry is
	// refused, because the runtime would run the package of that name from its own. Assent does not know what a runtime is set
	// to, so it may be empty, which refuses every package that names one.
	Registry string
	// Use chooses among the packages and remotes of a server.json: npm, pypi, oci, nuget, http or sse. Empty means the first.
	Use string
	// Limits bound a bundle; the zero value means [DefaultLimits].
	Limits Limits
}

// Read returns the server that a reference stands for. The error is a sentence for the person.
func Read(reference string, o Options) (*Server, error) {
	if len(reference) > maxReference {
		return nil, fmt.Errorf("the reference has more than %d bytes", maxReference)
	}
	scheme, rest, _ := strings.Cut(reference, ":")
	var s *Server
	var err error
	switch strings.ToLower(scheme) {
	case "vscode", "vscode-insiders":
		s, err = readLink(rest, o)
	case "http", "https", "ws", "wss":
		s, err = readURL(reference, o)
	case "npm", "pypi", "nuget":
		s, err = readPackage(strings.ToLower(scheme), rest, o)
	case "docker", "oci":
		s, err = readImage(rest, o)
	default:
		s, err = readFile(reference, o)
	}
	if err != nil {
		return nil, err
	}
	if s.values == nil {
		s.values = map[string][]string{}
	}
	if s.asked == nil {
		s.asked = map[string]bool{}
	}
	if err := s.hideSecrets(); err != nil {
		return nil, err
	}
	return s, s.check()
}

// readFile reads a server.json or a bundle.
func readFile(reference string, o Options) (*Server, error) {
	path := reference
	if !filepath.IsAbs(path) {
		path = filepath.Join(o.Folder, path)
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".mcpb", ".dxt":
		return readBundle(path, o)
	case ".json":
		return readRegistry(path, o)
	}
	return nil, fmt.Errorf("%q is not a reference to a server: a reference is a vscode:mcp/install link, a URL (https:// or wss://), npm:, pypi:, nuget: or docker: with a name and a version, or a server.json or .mcpb file", shown(reference))
}

func clipped(text string) string {
	if len(text) > 200 {
		return strings.ToValidUTF8(text[:200], "") + "…"
	}
	return text
}

var envName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]{0,199}$`)

// headerName is a token (RFC 9110, section 5.6.2).
var headerName = lazyregexp.New("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,200}$")

// check refuses members that no server of a person may have. Its errors are about the reference.
func (s *Server) check() error {
	e := &s.entry
	if len(s.Name) > maxName {
		s.Name = strings.ToValidUTF8(s.Name[:maxName], "")
	}
	switch {
	case len(e.Args) > maxTexts, len(e.Env) > maxTexts, len(e.Headers) > maxTexts, len(s.Inputs) > maxTexts:
		return fmt.Errorf("the server has more than %d arguments, variables, headers or inputs", maxTexts)
	}
	for _, text := range []string{e.Command, e.Cwd, e.EnvFile, e.URL} {
		if visible.Line(text) != text || len(text) > maxText {
			return fmt.Errorf("the server's command, folder or URL has hidden characters, or is too long: %s", visible.Line(clipped(text)))
		}
	}
	for _, arg := range e.Args {
		if len(arg) > maxText || strings.ContainsRune(arg, 0) {
			return fmt.Errorf("an argument of the server is too long, or has the character NUL: %s", visible.Line(clipped(arg)))
		}
	}
	for name, value := range e.Env {
		if !envName().MatchString(name) || len(value) > maxText || strings.ContainsRune(value, 0) {
			return fmt.Errorf("the server has the variable %s, which no environment can have", visible.Line(clipped(name)))
		}
	}
	for name, value := range e.Headers {
		if !headerName().MatchString(name) || len(value) > maxText || strings.ContainsAny(value, "\r\n\x00") {
			return fmt.Errorf("the server has the header %s, which no request can have", visible.Line(clipped(name)))
		}
	}
	if e.Type == protocol.TransportStdio {
		if e.Command == "" {
			return errors.New("the server has neither a command nor a URL")
		}
		return nil
	}
	return s.checkURL()
}

// checkURL refuses a URL that cannot be a server's, and warns of a connection that is not encrypted.
func (s *Server) checkURL() error {
	// A variable may stand for a port or a part of the host, and would not parse there.
	u, err := url.Parse(anyVariable().ReplaceAllString(s.entry.URL, "1"))
	if err != nil {
		return errors.New("the server's URL cannot be read")
	}
	allowed := []string{"http", "https"}
	if s.entry.Type == protocol.TransportWS {
		allowed = []string{"ws", "wss"}
	}
	switch {
	case !slices.Contains(allowed, u.Scheme), u.Host == "":
		return fmt.Errorf("the server's URL must begin with %s://, and is %s", strings.Join(allowed, ":// or "), visible.Line(clipped(s.entry.URL)))
	case u.User != nil:
		return errors.New("the server's URL has a user or a password before the @, which a file must not have: leave it out, and give the server a header with ${input:…}")
	}
	if ip := net.ParseIP(u.Hostname()); u.Scheme == "http" || u.Scheme == "ws" {
		if u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
			s.note("The connection is not encrypted: others on the network can read and change all messages.")
		}
	}
	return nil
}

func (s *Server) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(s.Notes, text) {
		s.Notes = append(s.Notes, text)
	}
}

// input adds an input, and returns the text that stands for it. Two inputs of one name become one, with the stricter rules.
func (s *Server) input(in Input) string {
	if i := slices.IndexFunc(s.Inputs, func(other Input) bool { return other.Name == in.Name }); i >= 0 {
		s.Inputs[i].Secret = s.Inputs[i].Secret || in.Secret
		s.Inputs[i].Required = s.Inputs[i].Required || in.Required
	} else {
		s.Inputs = append(s.Inputs, in)
	}
	return "${input:" + in.Name + "}"
}

var inputText = lazyregexp.New(`\$\{input:([^}]*)\}`)

// Give gives an input a value, or one more if it may have several. It refuses a value for a secret. With ask, Assent asks for
// the value when the server starts.
func (s *Server) Give(name, value string, ask bool) error {
	i := slices.IndexFunc(s.Inputs, func(in Input) bool { return in.Name == name })
	if i < 0 {
		var names []string
		for _, in := range s.Inputs {
			names = append(names, in.Name)
		}
		if len(names) == 0 {
			return fmt.Errorf("the server has no input %q: it has none", name)
		}
		return fmt.Errorf("the server has no input %q: it has %s", name, strings.Join(names, ", "))
	}
	switch in := s.Inputs[i]; {
	case ask:
		s.asked[name] = true
	case in.Secret:
		return fmt.Errorf("the input %q is a secret, which must not be in a file: Assent asks for it when the server starts", name)
	case strings.Contains(value, "${"):
		return fmt.Errorf("the value of the input %q has ${, which begins a variable", name)
	case len(value) > maxText || strings.ContainsAny(value, "\x00\r\n"):
		return fmt.Errorf("the value of the input %q is too long, or has more than one line", name)
	case len(in.Options) > 0 && !slices.Contains(in.Options, value):
		return fmt.Errorf("the input %q is one of %s, not %q", name, strings.Join(in.Options, ", "), value)
	case len(s.values[name]) > 0 && !in.Multiple:
		return fmt.Errorf("the input %q has one value", name)
	default:
		s.values[name] = append(s.values[name], value)
	}
	return nil
}

// state says how an input gets its value.
type state int

const (
	// filled: the entry has its values.
	filled state = iota
	// atStart: Assent asks for it when the server starts.
	atStart
	// leftOut: the server starts without it.
	leftOut
)

func (s *Server) stateOf(in Input) (state, []string) {
	switch {
	case len(s.values[in.Name]) > 0:
		return filled, s.values[in.Name]
	case s.asked[in.Name], in.Secret && in.Required:
		return atStart, nil
	case in.Default != "" && !in.Secret:
		return filled, []string{in.Default}
	case in.Required:
		return atStart, nil
	}
	return leftOut, nil
}

// AtStart returns the inputs that Assent asks for when the server starts, as [Server.Give] has been called.
func (s *Server) AtStart() []Input {
	return slices.DeleteFunc(slices.Clone(s.Inputs), func(in Input) bool {
		state, _ := s.stateOf(in)
		return state != atStart
	})
}

// Entry returns the entry of the server under a name. It has no argument, variable or header with an input that is left out.
func (s *Server) Entry(name string) Entry {
	e := s.entry
	e.Args, e.Env, e.Headers = nil, nil, nil
	for _, arg := range s.entry.Args {
		if in, alone := s.alone(arg); alone && in.Multiple {
			if state, values := s.stateOf(in); state == filled {
				e.Args = append(e.Args, values...)
				continue
			}
		}
		text, ok := s.filled(name, arg)
		if !ok {
			// The flag of an argument that is left out is left out too.
			if n := len(e.Args); n > 0 && s.flagOf(arg) == e.Args[n-1] {
				e.Args = e.Args[:n-1]
			}
			continue
		}
		e.Args = append(e.Args, text)
	}
	fill := func(texts map[string]string) map[string]string {
		var out map[string]string
		for key, value := range texts {
			if text, ok := s.filled(name, value); ok {
				if out == nil {
					out = map[string]string{}
				}
				out[key] = text
			}
		}
		return out
	}
	e.Env, e.Headers = fill(s.entry.Env), fill(s.entry.Headers)
	e.Command, _ = s.filled(name, e.Command)
	e.URL, _ = s.filled(name, e.URL)
	e.Cwd, _ = s.filled(name, e.Cwd)
	if s.entry.Command == dockerCommand || s.entry.Command == podmanCommand {
		e.Args = passed(e.Args, s.entry.Env, e.Env)
	}
	return e
}

// alone returns the input that a text consists of.
func (s *Server) alone(text string) (Input, bool) {
	match := inputText().FindStringSubmatch(text)
	if match == nil || match[0] != text {
		return Input{}, false
	}
	i := slices.IndexFunc(s.Inputs, func(in Input) bool { return in.Name == match[1] })
	if i < 0 {
		return Input{}, false
	}
	return s.Inputs[i], true
}

// flagOf returns the flag before an argument. The input is named after that flag.
func (s *Server) flagOf(arg string) string {
	if in, alone := s.alone(arg); alone && strings.HasPrefix(in.Name, "-") {
		return in.Name
	}
	return ""
}

// filled puts in the values of inputs. Ok is false if one of them is left out.
func (s *Server) filled(server, text string) (out string, ok bool) {
	ok = true
	out = inputText().ReplaceAllStringFunc(text, func(match string) string {
		name := inputText().FindStringSubmatch(match)[1]
		i := slices.IndexFunc(s.Inputs, func(in Input) bool { return in.Name == name })
		if i < 0 {
			return match // the start of the server then fails: the file has no such input
		}
		switch state, values := s.stateOf(s.Inputs[i]); state {
		case filled:
			return strings.Join(values, ",")
		case atStart:
			return "${input:" + inputID(server, name) + "}"
		}
		ok = false
		return ""
	})
	return out, ok
}

// inputID is the id of an input in mcp.json. Two servers never share an id, so that none gets a value meant for the other.
func inputID(server, name string) string {
	name = strings.TrimLeft(name, "-")
	return strings.NewReplacer("}", "", "$", "", "{", "").Replace(server + "-" + name)
}

// Written returns the server for [importer.Add].
func (s *Server) Written(name string) (importer.Added, error) {
	entry, err := encoded(s.Entry(name))
	if err != nil {
		return importer.Added{}, err
	}
	out := importer.Added{Name: name, Entry: entry}
	for _, in := range s.AtStart() {
		member := struct {
			Type        protocol.InputKind `json:"type"`
			ID          string             `json:"id"`
			Description string             `json:"description"`
			Password    bool               `json:"password,omitempty"`
			Default     string             `json:"default,omitempty"`
			Options     []string           `json:"options,omitempty"`
		}{protocol.PromptString, inputID(name, in.Name), in.Description, in.Secret, in.Default, in.Options}
		if in.Secret {
			member.Default = ""
		}
		if len(in.Options) > 0 {
			member.Type, member.Password = protocol.PickString, false
		}
		if member.Description == "" {
			member.Description = strings.TrimLeft(in.Name, "-")
		}
		raw, err := encoded(member)
		if err != nil {
			return importer.Added{}, err
		}
		out.Inputs = append(out.Inputs, importer.AddedInput{ID: member.ID, Raw: raw})
	}
	return out, nil
}

// encoded returns JSON for people to read.
func encoded(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// CheckName returns an error if a server cannot have a name.
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("the server has no name: give --name")
	case visible.Line(name) != name:
		return fmt.Errorf("the name %s has hidden characters: give another one with --name", visible.Line(clipped(name)))
	case len(name) > maxName:
		return fmt.Errorf("the name has more than %d bytes: give another one with --name", maxName)
	}
	return nil
}
