package add

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"assent/protocol"
	"assent/sidecar/base/lazyregexp"
	"assent/sidecar/base/visible"
	"assent/sidecar/config"
)

// registryServer is a server.json of the MCP registry (static.modelcontextprotocol.io/schemas, server.schema.json).
type registryServer struct {
	Name        string            `json:"name"`
	Description string            `json:"description"`
	Version     string            `json:"version"`
	Packages    []registryPackage `json:"packages"`
	Remotes     []registryRemote  `json:"remotes"`
}

type registryPackage struct {
	RegistryType         string             `json:"registryType"`
	RegistryBaseURL      string             `json:"registryBaseUrl"`
	Identifier           string             `json:"identifier"`
	Version              string             `json:"version"`
	RuntimeHint          string             `json:"runtimeHint"`
	Transport            registryRemote     `json:"transport"`
	RuntimeArguments     []registryArgument `json:"runtimeArguments"`
	PackageArguments     []registryArgument `json:"packageArguments"`
	EnvironmentVariables []registryInput    `json:"environmentVariables"`
}

type registryRemote struct {
	Type      string                   `json:"type"`
	URL       string                   `json:"url"`
	Headers   []registryInput          `json:"headers"`
	Variables map[string]registryInput `json:"variables"`
}

// registryInput is a value. It is in the file, or is made of variables, or the person gives it.
type registryInput struct {
	Name        string                   `json:"name"`
	Description string                   `json:"description"`
	Value       string                   `json:"value"`
	Default     any                      `json:"default"`
	Format      string                   `json:"format"`
	Choices     []string                 `json:"choices"`
	IsRequired  bool                     `json:"isRequired"`
	IsSecret    bool                     `json:"isSecret"`
	Variables   map[string]registryInput `json:"variables"`
}

type registryArgument struct {
	registryInput
	Type      string `json:"type"`
	ValueHint string `json:"valueHint"`
}

// readRegistry reads a server.json.
func readRegistry(file string, o Options) (*Server, error) {
	data, err := config.ReadFile(file, maxFile)
	if err != nil {
		return nil, fmt.Errorf("the file cannot be read: %w", err)
	}
	var wrapped struct{ Server json.RawMessage }
	if err := decode(data, &wrapped); err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", file, err)
	}
	if wrapped.Server != nil { // an answer of the registry
		data = wrapped.Server
	}
	var r registryServer
	if err := decode(data, &r); err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", file, err)
	}
	if len(r.Packages)+len(r.Remotes) > maxTexts {
		return nil, fmt.Errorf("%s has more than %d packages and remotes", file, maxTexts)
	}
	var kinds []string
	for _, p := range r.Packages {
		kinds = append(kinds, p.RegistryType)
	}
	for _, remote := range r.Remotes {
		kinds = append(kinds, remoteType(remote.Type))
	}
	if len(kinds) == 0 {
		return nil, fmt.Errorf("%s has neither packages nor remotes: it is not a server.json of the MCP registry", file)
	}
	at := 0
	if o.Use != "" {
		if at = slices.Index(kinds, o.Use); at < 0 {
			return nil, fmt.Errorf("%s has no %s: it has %s", file, o.Use, visible.Line(clipped(strings.Join(kinds, ", "))))
		}
	}
	var s *Server
	if at < len(r.Packages) {
		s, err = r.Packages[at].server(o)
	} else {
		s, err = r.Remotes[at-len(r.Packages)].server()
	}
	if err != nil {
		return nil, err
	}
	s.Name = path.Base(r.Name)
	if r.Name == "" {
		s.Name = ""
	}
	s.Origin = fmt.Sprintf("the server.json of %s: %s", visible.Line(clipped(r.Name)), s.Origin)
	if r.Description != "" {
		s.note("It says of itself: %s", visible.Line(clipped(r.Description)))
	}
	if len(kinds) > 1 {
		s.note("The file offers it as %s too: --use chooses.", visible.Line(clipped(strings.Join(slices.Delete(kinds, at, at+1), ", "))))
	}
	return s, nil
}

// remoteType is a transport of the registry in mcp.json's words.
func remoteType(kind string) string {
	if kind == "streamable-http" {
		return string(protocol.TransportHTTP)
	}
	return kind
}

// hints are the runtimes that a package may ask for, by its registry. The first one is used if it asks for none.
var hints = map[string][]string{
	"npm": {"npx", "bunx", "pnpx"}, "pypi": {"uvx"}, "nuget": {"dnx"}, "oci": {dockerCommand, podmanCommand},
}

// server returns the server of a package.
func (p registryPackage) server(o Options) (*Server, error) {
	runtimes, ok := hints[p.RegistryType]
	switch {
	case p.RegistryType == "mcpb":
		return nil, errors.New("its package is an .mcpb bundle, and nothing is fetched: download the bundle, and add it by its path")
	case !ok:
		return nil, fmt.Errorf("its package is of %q; Assent knows npm, pypi, nuget, oci and mcpb", visible.Line(clipped(p.RegistryType)))
	case p.Transport.Type != "" && p.Transport.Type != string(protocol.TransportStdio):
		return nil, fmt.Errorf("its package is reached by %q once it runs; Assent starts packages that are reached by stdio", visible.Line(clipped(p.Transport.Type)))
	case p.RuntimeHint != "" && !slices.Contains(runtimes, p.RuntimeHint):
		return nil, fmt.Errorf("its package wants to be run by %q; Assent runs one of %s with %s", visible.Line(clipped(p.RuntimeHint)), p.RegistryType, strings.Join(runtimes, ", "))
	case p.RegistryType != "oci" && p.RegistryBaseURL != "" && p.RegistryBaseURL != o.Registry: // an image names its own
		base := visible.Line(clipped(p.RegistryBaseURL))
		return nil, fmt.Errorf("its package is in the registry %s, and the runtime takes packages from the one that it is set to: if both are the same, give --registry %s", base, base)
	}
	var s *Server
	var err error
	if p.RegistryType == "oci" {
		image := p.Identifier
		if name, tag, sum := splitImage(image); tag == "" && sum == "" && p.Version != "" {
			image = name + ":" + p.Version
		}
		s, err = readImage(image, o)
	} else {
		s, err = packageServer(p.RegistryType, p.Identifier, p.Version, o)
	}
	if err != nil {
		return nil, err
	}
	if p.RuntimeHint != "" {
		s.entry.Command = p.RuntimeHint
	}
	for _, v := range p.EnvironmentVariables {
		if !envName().MatchString(v.Name) {
			return nil, fmt.Errorf("it sets the variable %s, which no environment can have", visible.Line(clipped(v.Name)))
		}
		text, err := s.value(v.Name, v)
		if err != nil {
			return nil, err
		}
		if text != "" {
			set(&s.entry.Env, v.Name, text)
		}
	}
	runtime, err := s.arguments("runtime", p.RuntimeArguments)
	if err != nil {
		return nil, err
	}
	after, err := s.arguments("argument", p.PackageArguments)
	if err != nil {
		return nil, err
	}
	args := s.entry.Args
	last := slices.IndexFunc(args, func(arg string) bool { return strings.ContainsAny(arg, "@:") }) // the package
	before := slices.Clone(args[:last])
	for i, arg := range runtime {
		value := i > 0 && strings.HasPrefix(runtime[i-1], "-") && !strings.HasPrefix(arg, "-")
		if value || !slices.Contains(args[:last], arg) {
			before = append(before, arg)
		}
	}
	if p.RegistryType == "oci" {
		for _, v := range p.EnvironmentVariables {
			if _, ok := s.entry.Env[v.Name]; ok {
				before = append(before, "-e", v.Name)
			}
		}
	}
	s.entry.Args = slices.Concat(before, args[last:], after)
	return s, nil
}

// server returns the server at a URL.
func (r registryRemote) server() (*Server, error) {
	s := &Server{Origin: "a URL"}
	kind := protocol.Transport(remoteType(r.Type))
	if kind != protocol.TransportHTTP && kind != protocol.TransportSSE {
		return nil, fmt.Errorf("its remote is of the type %q; Assent knows streamable-http and sse", visible.Line(clipped(r.Type)))
	}
	address, err := s.value("url", registryInput{Value: r.URL, Variables: r.Variables})
	if err != nil {
		return nil, err
	}
	s.entry = Entry{Type: kind, URL: address}
	for _, h := range r.Headers {
		text, err := s.value(h.Name, h)
		if err != nil {
			return nil, err
		}
		if text != "" {
			set(&s.entry.Headers, h.Name, text)
		}
	}
	return s, nil
}

// arguments returns the arguments for the entry.
func (s *Server) arguments(kind string, all []registryArgument) ([]string, error) {
	var args []string
	for i, a := range all {
		switch a.Type {
		case "named":
			if !strings.HasPrefix(a.Name, "-") || len(a.Name) > maxName || strings.ContainsAny(a.Name, "${}") || visible.Line(a.Name) != a.Name {
				return nil, fmt.Errorf("it has an argument with the name %s, which is not a flag", visible.Line(clipped(a.Name)))
			}
			args = append(args, a.Name)
			if a.Value == "" && a.Default == nil && !a.IsRequired && !a.IsSecret && a.ValueHint == "" && a.Format == "" && len(a.Choices) == 0 {
				continue // the flag alone
			}
			text, err := s.value(a.Name, a.registryInput)
			if err != nil {
				return nil, err
			}
			args = append(args, text)
		case "positional", "":
			name := a.ValueHint
			if name == "" {
				name = fmt.Sprintf("%s %d", kind, i+1)
			}
			text, err := s.value(name, a.registryInput)
			if err != nil {
				return nil, err
			}
			args = append(args, text)
		default:
			return nil, fmt.Errorf("it has an argument of the type %q; Assent knows named and positional", visible.Line(clipped(a.Type)))
		}
	}
	return args, nil
}

// braces are variables of the registry.
var braces = lazyregexp.New(`\{([^{}]*)\}`)

// value returns a value for the entry. An input stands for each part that only the person knows.
func (s *Server) value(name string, in registryInput) (string, error) {
	if strings.Contains(in.Value, "${") {
		return "", fmt.Errorf("its value of %s has ${, which Assent would replace: %s", visible.Line(clipped(name)), visible.Line(clipped(in.Value)))
	}
	if in.Value == "" {
		return s.inputFor(name, in)
	}
	var wrong error
	text := braces().ReplaceAllStringFunc(in.Value, func(match string) string {
		key := match[1 : len(match)-1]
		v, ok := in.Variables[key]
		if !ok {
			return match // a text with braces
		}
		v.Variables = nil // a variable has no variables in it
		out, err := s.value(key, v)
		if err != nil {
			wrong = err
		}
		return out
	})
	if len(in.Variables) == 0 && in.IsSecret {
		s.note("The value of %s is a secret in clear text, and is not written: Assent asks you for it when the server starts.", visible.Line(clipped(name)))
		return s.inputFor(name, in)
	}
	return text, wrong
}

// inputFor returns an input for a value that is not written.
func (s *Server) inputFor(name string, in registryInput) (string, error) {
	if name == "" || len(name) > 200 || strings.ContainsAny(name, "${}") || visible.Line(name) != name {
		return "", fmt.Errorf("it has an input with the name %s, which no input can have", visible.Line(clipped(name)))
	}
	var otherwise string
	switch v := in.Default.(type) {
	case nil:
	case string:
		otherwise = v
	default:
		otherwise = fmt.Sprint(v)
	}
	if strings.Contains(otherwise, "${") || strings.ContainsAny(otherwise, "\r\n\x00") {
		return "", fmt.Errorf("its default of %s cannot be written", visible.Line(clipped(name)))
	}
	return s.input(Input{
		Name: name, Description: visible.Line(clipped(in.Description)), Default: otherwise, Options: in.Choices, Secret: in.IsSecret || isSecret(name, otherwise, in.Choices), Required: in.IsRequired,
	}), nil
}
