package add

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"assent/protocol"
	"assent/sidecar/base/lazyregexp"
	"assent/sidecar/base/visible"
	"assent/sidecar/config"
)

// linkServer is the server in an install link of VS Code.
type linkServer struct {
	Name    string                     `json:"name"`
	Type    string                     `json:"type"`
	Command string                     `json:"command"`
	Args    []string                   `json:"args"`
	Env     map[string]json.RawMessage `json:"env"`
	EnvFile string                     `json:"envFile"`
	Cwd     string                     `json:"cwd"`
	URL     string                     `json:"url"`
	Headers map[string]string          `json:"headers"`
	Inputs  []config.Input             `json:"inputs"`
	Version json.RawMessage            `json:"version"`
}

// linkMembers are the members of a linkServer.
var linkMembers = []string{"name", "type", "command", "args", "env", "envFile", "cwd", "url", "headers", "inputs", "gallery", "version", "description"}

// readLink reads what follows "vscode:".
func readLink(rest string, o Options) (*Server, error) {
	place, query, ok := strings.Cut(rest, "?")
	if strings.Trim(place, "/") != "mcp/install" || !ok {
		return nil, errors.New("the link does not install a server: a link that does begins with vscode:mcp/install?")
	}
	text, err := url.PathUnescape(query)
	if err != nil {
		return nil, errors.New("the link cannot be read: it is not percent-encoded as a URL is")
	}
	var l linkServer
	raw := json.RawMessage(text)
	if err := decode(raw, &l); err != nil {
		return nil, fmt.Errorf("the link cannot be read: %w", err)
	}
	s := &Server{Name: l.Name, Origin: "an install link of VS Code"}
	var members map[string]json.RawMessage
	_ = json.Unmarshal(raw, &members) // the server was read from it
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !slices.ContainsFunc(linkMembers, func(known string) bool { return strings.EqualFold(known, name) }) {
			s.note("The member %q is left out: Assent does not know it.", shown(name))
		}
	}
	if err := s.linkEntry(l); err != nil {
		return nil, err
	}
	for _, in := range l.Inputs {
		switch {
		case in.ID == "" || strings.ContainsAny(in.ID, "${}") || visible.Line(in.ID) != in.ID:
			return nil, errors.New("the link has an input with an id that no input can have")
		case in.Type != "" && in.Type != protocol.PromptString && in.Type != protocol.PickString:
			return nil, fmt.Errorf("the link has the input %q of the type %q; Assent knows promptString and pickString", in.ID, visible.Line(string(in.Type)))
		}
		s.input(Input{
			Name: in.ID, Description: visible.Line(in.Description), Default: in.Default, Options: in.Options, Secret: in.Password || isSecret(in.ID, in.Default, in.Options), Required: true,
		})
	}
	if err := s.checkVariables(); err != nil {
		return nil, err
	}
	return s, pin(&s.entry, o.Pin)
}

// linkEntry takes the members that mcp.json has too.
func (s *Server) linkEntry(l linkServer) error {
	e := Entry{Type: protocol.Transport(l.Type), Command: l.Command, Args: l.Args, EnvFile: l.EnvFile, Cwd: l.Cwd, URL: l.URL}
	if e.Type == "" && l.URL != "" {
		e.Type = protocol.TransportHTTP
	}
	switch e.Type {
	case "", protocol.TransportStdio:
		e.Type, e.URL = protocol.TransportStdio, ""
		for name, raw := range l.Env {
			var text string
			var number json.Number
			switch {
			case string(raw) == "null":
				s.note("The variable %s is left out: its value is null.", visible.Line(clipped(name)))
				continue
			case json.Unmarshal(raw, &text) == nil:
			case json.Unmarshal(raw, &number) == nil:
				text = number.String()
			default:
				return fmt.Errorf("the variable %s is neither a text nor a number", visible.Line(clipped(name)))
			}
			set(&e.Env, name, text)
		}
	case protocol.TransportHTTP, protocol.TransportSSE, protocol.TransportWS:
		e.Command, e.Args, e.Cwd, e.EnvFile = "", nil, "", ""
		for name, value := range l.Headers {
			set(&e.Headers, name, value)
		}
	default:
		return fmt.Errorf("the link has a server of the type %q; Assent knows stdio, http, sse and ws", shown(l.Type))
	}
	s.entry = e
	return nil
}

func set(m *map[string]string, name, value string) {
	if *m == nil {
		*m = map[string]string{}
	}
	(*m)[name] = value
}

var anyVariable = lazyregexp.New(`\$\{([^}]*)\}`)

// checkVariables notes which of the person's variables a server gets. It refuses inputs that are not defined.
func (s *Server) checkVariables() error {
	e := s.entry
	texts := slices.Concat([]string{e.Command, e.Cwd, e.EnvFile, e.URL}, e.Args, slices.Sorted(maps.Values(e.Env)), slices.Sorted(maps.Values(e.Headers)))
	for _, text := range texts {
		for _, match := range anyVariable().FindAllStringSubmatch(text, -1) {
			kind, whole, _ := strings.Cut(match[1], ":")
			name, _, _ := strings.Cut(whole, ":-") // the default may be a secret
			switch kind {
			case "env":
				s.note("It gets the variable %s of your environment.", visible.Line(clipped(name)))
			case "input":
				if !slices.ContainsFunc(s.Inputs, func(in Input) bool { return in.Name == whole }) {
					return fmt.Errorf("the link asks for the input %q, which it does not define", visible.Line(clipped(name)))
				}
			}
		}
	}
	if e.EnvFile != "" {
		s.note("It gets the variables of the file %s.", visible.Line(clipped(e.EnvFile)))
	}
	return nil
}

// readURL reads the URL of a server.
func readURL(reference string, o Options) (*Server, error) {
	u, err := url.Parse(reference)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("%s is not the URL of a server", shown(reference))
	}
	if u.Host == "vscode.dev" || u.Host == "insiders.vscode.dev" {
		return readRedirect(u, o)
	}
	if path := strings.ToLower(u.Path); strings.HasSuffix(path, ".json") || strings.HasSuffix(path, ".mcpb") || strings.HasSuffix(path, ".dxt") {
		return nil, errors.New("nothing is fetched: download the file, and add it by its path")
	}
	e := Entry{Type: protocol.TransportHTTP, URL: reference}
	if u.Scheme == "ws" || u.Scheme == "wss" {
		e.Type = protocol.TransportWS
	}
	return &Server{Name: u.Hostname(), Origin: "a URL", entry: e}, nil
}

// readRedirect reads the page of VS Code that leads to an install link.
func readRedirect(u *url.URL, o Options) (*Server, error) {
	query := u.Query()
	switch strings.TrimSuffix(u.Path, "/") {
	case "/redirect":
		if _, rest, ok := strings.Cut(query.Get("url"), ":"); ok {
			return readLink(rest, o)
		}
	case "/redirect/mcp/install":
		var members map[string]json.RawMessage
		if err := decode([]byte(query.Get("config")), &members); err != nil || members == nil {
			return nil, errors.New("the link has no configuration that can be read")
		}
		var err error
		if members["name"], err = json.Marshal(query.Get("name")); err != nil {
			return nil, err
		}
		if inputs := query.Get("inputs"); inputs != "" {
			if !json.Valid([]byte(inputs)) {
				return nil, errors.New("the link has inputs that cannot be read")
			}
			members["inputs"] = json.RawMessage(inputs)
		}
		raw, err := json.Marshal(members)
		if err != nil {
			return nil, err
		}
		return readLink("mcp/install?"+url.PathEscape(string(raw)), o)
	}
	return nil, errors.New("the page of VS Code does not install a server")
}

// decode reads one JSON value.
func decode(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	if err := d.Decode(into); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) && wrong.Field != "" {
			return fmt.Errorf("%q has a value of another type", wrong.Field)
		}
		return errors.New("it is not a JSON object of a server")
	}
	if d.More() {
		return errors.New("there is more than one JSON value")
	}
	return nil
}
