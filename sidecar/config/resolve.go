package config

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/joho/godotenv"
	"golang.org/x/net/http/httpguts"

	"assent/protocol"
	"assent/sidecar/base/lazyregexp"
	"assent/sidecar/base/secret"
)

// Ask returns the person's value of one of the server's inputs.
type Ask func(ctx context.Context, s Server, in Input) (string, error)

// Environment is where a server starts.
type Environment struct {
	// Environ is the environment to inherit, as of [os.Environ].
	Environ []string
	// Folder is where a server starts that is not the person's own and has no workspace folder; empty means this process's
	// own.
	Folder string
	// Home is the person's home folder, in which their own servers start.
	Home string
	Ask  Ask
	// Note, if it is not nil, is called for each named value that a server gets, some of which are secrets: "API_KEY" of its
	// environment, "env:API_KEY" if a variable refers to that of Environ, "header X-Key", "oauth.clientSecret". Of the
	// arguments and the URL it gets only what is a secret: "secret 1 in argument 2". It is called from the resolving
	// goroutine.
	Note func(s Server, name, value string)
	// Secret returns a secret that is kept for the person's own servers, of which ${secret:NAME} is the name.
	Secret func(name string) (string, error)
	// Shell is asked for its PATH where a program is not in that of Environ; nil is asked nothing.
	Shell *LoginShell
	// Permit, if it is not nil, is called before a server starts or is connected to, with what the variables made of its
	// definition. Its error is that of [Server.Resolve] and [Server.Endpoint].
	Permit func(s Server, start Start) error
	// unopened: what a file of the workspace names outside of it is not opened.
	unopened bool
}

// Start is how a server is started or reached, without its variables. Either Command or URL is set.
type Start struct {
	// Command is the program by its name in the definition, with its arguments; Path is where the program is.
	Command []string
	Path    string
	URL     string
}

// errAtTheStart is the error of a value that is known at the start only.
var errAtTheStart = errors.New("known at the start")

// Foreseen returns how the server would start or be reached, as far as that is known without a question to the person and
// without a kept secret. Else it is empty. Its Path is not known.
func (s Server) Foreseen(ctx context.Context, e Environment) Start {
	e.Note = nil
	e.Ask = func(context.Context, Server, Input) (string, error) { return "", errAtTheStart }
	e.Secret = func(string) (string, error) { return "", errAtTheStart }
	var texts []string
	written := append([]string{s.Command}, s.Args...)
	if s.Transport != protocol.TransportStdio {
		written = []string{s.URL}
	}
	for _, text := range written {
		value, err := s.expand(ctx, e, text)
		if err != nil {
			return Start{}
		}
		texts = append(texts, value)
	}
	if s.Transport != protocol.TransportStdio {
		return Start{URL: strings.TrimSpace(texts[0])}
	}
	return Start{Command: texts}
}

func (e Environment) permit(s Server, start Start) error {
	if e.Permit == nil {
		return nil
	}
	return e.Permit(s, start)
}

func (e Environment) note(s Server, name, value string) {
	if e.Note != nil {
		e.Note(s, name, value)
	}
}

// recordFound records the secrets that a text of a server has, as the values of the place and a number.
func (e Environment) recordFound(s Server, place, text string, findings []secret.Finding) {
	for i, f := range findings {
		e.note(s, fmt.Sprintf("secret %d in %s", i+1, place), text[f.Start:f.End])
	}
}

// variable is ${...}. A default may have braces, such as the text of a variable of another program.
var variable = lazyregexp.New(`\$\{((?:[^{}]|\{[^{}]*\})*|[^}]*)\}`)

// quoted is a quoted part of an error.
var quoted = lazyregexp.New(` ?"(?:[^"\\]|\\.)*"`)

// Resolve replaces the variables and finds the program. Its error names the program, and the
// folders that were searched.
func (s Server) Resolve(ctx context.Context, e Environment) (*exec.Cmd, error) {
	env, dir, err := s.surroundings(ctx, e)
	if err != nil {
		return nil, err
	}
	name, err := s.expand(ctx, e, s.Command)
	if err != nil {
		return nil, err
	}
	sys, search := here(), s.searched(e, env)
	path, env, err := e.lookPath(sys, name, dir, search, env)
	if err != nil {
		return nil, err
	}
	var args []string
	for _, arg := range s.Args {
		a, err := s.expand(ctx, e, arg)
		if err != nil {
			return nil, err
		}
		args = append(args, a)
	}
	for i, findings := range secret.New().InArgs(args) {
		e.recordFound(s, fmt.Sprintf("argument %d", i+1), args[i], findings)
	}
	if err := e.permit(s, Start{Command: append([]string{name}, args...), Path: path}); err != nil {
		return nil, err
	}
	start, err := sys.invoke(name, path, args, search)
	if err != nil {
		return nil, err
	}
	return start.command(env, dir), nil
}

// surroundings returns the environment and the folder in which the server starts.
func (s Server) surroundings(ctx context.Context, e Environment) (env []string, dir string, err error) {
	env = slices.Clone(e.Environ)
	more, err := s.envFile(ctx, e)
	if err != nil {
		return nil, "", err
	}
	for name, value := range more {
		e.note(s, name, value)
		env = setEnv(env, name, value)
	}
	for name, value := range s.Env {
		if value == nil {
			env = unsetEnv(env, name)
			continue
		}
		v, err := s.expand(ctx, e, *value)
		if err != nil {
			return nil, "", err
		}
		e.note(s, name, v)
		env = setEnv(env, name, v)
	}
	if dir, err = s.dir(ctx, e); err != nil {
		return nil, "", err
	}
	_, isSet := s.Env["PWD"]
	if _, inFile := more["PWD"]; !isSet && !inFile && dir != "" && LookupEnv(e.Environ, "PWD") != "" && !here().windows {
		env = setEnv(env, "PWD", filepath.Clean(dir)) // that of Environ is another program's folder
	}
	return env, dir, nil
}

// dir returns the folder in which the server starts.
func (s Server) dir(ctx context.Context, e Environment) (string, error) {
	if s.Cwd == "" {
		return s.base(e), nil
	}
	dir, err := s.expand(ctx, e, s.Cwd)
	if err != nil || filepath.IsAbs(dir) {
		return dir, err
	}
	return filepath.Join(s.base(e), dir), nil
}

// searched returns the environment by which the program of the server is found. A file of a workspace chooses a program by
// its name, and not which of the programs with that name it is.
func (s Server) searched(e Environment, env []string) []string {
	if s.Own {
		return env
	}
	return e.Environ
}

// base is the folder in which the server starts without a cwd, and to which a relative cwd belongs.
func (s Server) base(e Environment) string {
	if s.Own && e.Home != "" {
		return e.Home
	}
	return cmp.Or(s.Folder, e.Folder)
}

// filesBase is the folder to which the relative path of a file belongs, such as that of the envFile.
func (s Server) filesBase(e Environment) string {
	if s.Own && e.Home != "" {
		return e.Home
	}
	return e.Folder
}

// file returns the full path of a file that the definition names.
func (s Server) file(e Environment, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(s.filesBase(e), path)
}

// whatRuns returns the texts on which the program and its code depend. An argument is only passed to the person's own program.
func (s Server) whatRuns() []string {
	texts := []string{s.Command, s.Cwd, s.EnvFile}
	for _, value := range s.Env {
		if value != nil {
			texts = append(texts, *value)
		}
	}
	return texts
}

// names reports whether what the server runs depends on variables that begin so.
func (s Server) names(beginning string) bool {
	return s.Transport == protocol.TransportStdio && slices.ContainsFunc(s.whatRuns(), func(text string) bool { return strings.Contains(text, beginning) })
}

// In returns the server as it starts in an environment. An own one must be confirmed if it names a variable of the environment
// that leads into the folder, such as PWD.
func (s Server) In(e Environment) Server {
	if !s.Unvouched || s.Folder == "" || e.Home != "" && s.holds(e.Home) {
		return s
	}
	for _, text := range s.whatRuns() {
		for _, match := range variable().FindAllStringSubmatch(text, -1) {
			if kind, rest, _ := strings.Cut(match[1], ":"); kind == "env" {
				name, otherwise := envVariable(rest)
				path := cmp.Or(LookupEnv(e.Environ, name), otherwise)
				isOne := filepath.IsAbs(path) && !strings.ContainsRune(path, filepath.ListSeparator)
				s.Unconfirmed = s.Unconfirmed || isOne && s.ofFolder(path)
			}
		}
	}
	return s
}

// envFile returns the variables of the server's envFile; nil if it has none.
func (s Server) envFile(ctx context.Context, e Environment) (map[string]string, error) {
	if s.EnvFile == "" {
		return nil, nil
	}
	path, err := s.expand(ctx, e, s.EnvFile)
	if err != nil {
		return nil, err
	}
	path = s.file(e, path)
	var also fs.FileMode
	switch {
	case e.unopened && (hasInput(s.EnvFile) || !s.holds(path)):
		return nil, nil
	case !e.unopened && (s.Own || !s.Unconfirmed):
		also = fs.ModeNamedPipe // a password manager may give the person's own file so
	}
	data, err := readFile(path, maxFile, also)
	if err != nil {
		return nil, fmt.Errorf("the envFile cannot be read: %w", err)
	}
	more, err := godotenv.UnmarshalBytes(data)
	if err != nil {
		return nil, fmt.Errorf("the envFile cannot be read: %w", err)
	}
	return more, nil
}

// Endpoint puts the variables into the URL and the headers of a server that is not started here.
func (s Server) Endpoint(ctx context.Context, e Environment) (*url.URL, http.Header, error) {
	text, err := s.expand(ctx, e, s.URL)
	if err != nil {
		return nil, nil, err
	}
	text = strings.TrimSpace(text)
	u, err := url.Parse(text)
	if err != nil {
		if urlErr := (*url.Error)(nil); errors.As(err, &urlErr) {
			err = urlErr.Err // without the url
		}
		why := quoted().ReplaceAllString(err.Error(), "") // a part of the url, which may be a secret
		return nil, nil, fmt.Errorf("the url cannot be read: %s", why)
	}
	schemes := []string{"http", "https"}
	if s.Transport == protocol.TransportWS {
		schemes = []string{"ws", "wss"}
	}
	if !slices.Contains(schemes, u.Scheme) || u.Host == "" {
		return nil, nil, fmt.Errorf("the url %s must begin with %s://", (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String(), strings.Join(schemes, ":// or "))
	}
	if err := e.permit(s, Start{URL: text}); err != nil {
		return nil, nil, err
	}
	e.recordFound(s, "url", text, secret.New().InValue("", text))
	headers := http.Header{}
	for name, value := range s.Headers {
		v, err := s.expand(ctx, e, value)
		if err != nil {
			return nil, nil, fmt.Errorf("the header %q: %w", name, err)
		}
		v = strings.TrimSpace(v) // a token from a file has the end of its line
		switch {
		case !httpguts.ValidHeaderFieldName(name):
			return nil, nil, fmt.Errorf("the header %q has a name that HTTP does not allow", name)
		case !httpguts.ValidHeaderFieldValue(v):
			return nil, nil, fmt.Errorf("the value of the header %q has a line break or another character that HTTP does not allow", name)
		}
		e.note(s, "header "+name, v)
		headers.Set(name, v)
	}
	return u, headers, nil
}

// expand replaces ${...} by VS Code's rules (variables reference). An unknown variable is an error:
// passed on as it is, it would fail later and further away.
func (s Server) expand(ctx context.Context, e Environment, text string) (string, error) {
	var errs []error
	out := variable().ReplaceAllStringFunc(text, func(match string) string {
		value, err := s.value(ctx, e, match[2:len(match)-1])
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", match, err))
		}
		return value
	})
	return out, errors.Join(errs...)
}

func (s Server) value(ctx context.Context, e Environment, name string) (string, error) {
	kind, rest, _ := strings.Cut(name, ":")
	switch kind {
	case "env":
		rest, otherwise := envVariable(rest)
		value := LookupEnv(e.Environ, rest) // unset is empty, as in VS Code
		if !e.has(rest) {
			value = otherwise
		}
		e.note(s, "env:"+rest, value)
		return value, nil
	case "workspaceFolder":
		if s.Folder == "" {
			return "", errors.New("no folder is open, or none that you trust")
		}
		return s.Folder, nil
	case "workspaceFolderBasename":
		if s.Folder == "" {
			return "", errors.New("no folder is open")
		}
		return filepath.Base(s.Folder), nil
	case "userHome":
		return e.Home, nil
	case "pathSeparator", "/":
		return string(filepath.Separator), nil
	case "secret":
		if !s.KeptSecrets {
			return "", errors.New("only servers of your own file can use kept secrets")
		}
		if e.Secret == nil {
			return "", errors.New("no secrets are kept here")
		}
		kept, err := e.Secret(rest)
		if err != nil {
			return "", err
		}
		e.note(s, name, kept)
		s.KeptSecrets = false // one that names another would go on for ever
		return s.expand(ctx, e, kept)
	case "input":
		in, ok := s.Inputs[rest]
		if !ok {
			return "", fmt.Errorf("%s has no input with the id %q", s.Source, rest)
		}
		value, err := e.Ask(ctx, s, in)
		if err != nil {
			return "", &InputError{ID: rest, Err: err}
		}
		return value, nil
	default:
		if e.has(name) {
			return "", fmt.Errorf("this variable is not known: for that of your environment write ${env:%s}", name)
		}
		return "", errors.New("this variable is not known")
	}
}

// hasInput reports whether a text is known only after the person was asked for an input.
func hasInput(text string) bool { return strings.Contains(text, "${input:") }

// envVariable splits what follows "env:" into the variable's name and its default, for a variable that is unset. The hosts
// with such defaults leave one empty that is set to nothing, and so does Assent.
func envVariable(text string) (name, otherwise string) {
	name, otherwise, _ = strings.Cut(text, ":-")
	return name, otherwise
}

// sameName compares names of environment variables as the system does.
func sameName(a, b string) bool {
	return a == b || runtime.GOOS == "windows" && strings.EqualFold(a, b)
}

func unsetEnv(environ []string, name string) []string {
	return slices.DeleteFunc(environ, func(kv string) bool {
		k, _, _ := strings.Cut(kv, "=")
		return sameName(k, name)
	})
}

func setEnv(environ []string, name, value string) []string {
	return append(unsetEnv(environ, name), name+"="+value)
}
