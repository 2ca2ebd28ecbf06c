package config

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"assent/protocol"
)

// Launch is how a server would be started, as far as that is known without asking the person.
type Launch struct {
	// Shown is for the person. It has no value of an input or of an environment variable, except for the
	// folders of PATH. Values written in mcp.json are included unchanged.
	Shown protocol.ServerLaunch
	// Argv is the command line by which the system knows the process; nil if the person gives a part of
	// it, or without a program.
	Argv []string
	// Err is why it would not start, or nil.
	Err error
}

// Launch says how the server would be started. The login shell may be run, as by [Server.Resolve].
func (s Server) Launch(ctx context.Context, e Environment) Launch {
	e = e.quiet()
	e.unopened = s.Unconfirmed
	asks := false
	e.Ask = func(context.Context, Server, Input) (string, error) {
		asks = true
		return "", nil
	}
	l := Launch{Shown: protocol.ServerLaunch{EnvNames: s.envNames(ctx, e)}}
	for _, arg := range s.Args {
		l.Shown.Args = append(l.Shown.Args, s.shown(ctx, e, arg))
	}
	env, dir, err := s.surroundings(ctx, e)
	if err != nil {
		l.Err, l.Shown.Problem = err, err.Error()
		return l
	}
	l.Shown.Cwd = s.shown(ctx, e, dir)
	search := s.searched(e, env)
	asks = false // from here on it is about the command line
	name, err := s.expand(ctx, e, s.Command)
	switch {
	case err != nil:
		l.Err, l.Shown.Problem = err, err.Error()
		return l
	case asks:
		l.Shown.Problem = "The command is made with an input, so the program is known at the start only."
		return l
	}
	sys := here()
	path, _, err := e.lookPath(sys, name, dir, search, env)
	if err == nil {
		err = checkFolder(dir)
	}
	if err != nil {
		l.Err, l.Shown.Problem = err, err.Error()
		var missing *NotFoundError
		if errors.As(err, &missing) {
			l.Shown.Searched, l.Shown.NearMisses = missing.Searched, missing.NearMisses
		}
		return l
	}
	l.Shown.Path, l.Shown.FoundBy, l.Shown.Manager = path, e.foundBy(sys, name, path, LookupEnv(search, "PATH")), manager(path)
	argv := []string{name}
	for _, arg := range s.Args {
		a, err := s.expand(ctx, e, arg)
		if err != nil {
			l.Err, l.Shown.Problem = err, err.Error()
			return l
		}
		argv = append(argv, a)
	}
	if !asks {
		l.Argv = argv
	}
	return l
}

// FolderError says that there is no folder to start in.
type FolderError struct{ Path string }

// Error implements error.
func (e *FolderError) Error() string {
	text := "there is no folder " + e.Path + " to start in"
	if _, home, ok := strings.Cut(e.Path, string(filepath.Separator)+"~"); ok {
		text += ". No shell reads it: for ~ write ${userHome}, as in ${userHome}" + home
	}
	return text
}

func checkFolder(dir string) error {
	if dir == "" {
		return nil
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return &FolderError{dir}
	}
	return nil
}

// foundBy says where a program was found, given the PATH that the server would have had.
func (e Environment) foundBy(s system, command, path, own string) protocol.ProgramPlace {
	folder := path[:max(1, strings.LastIndexAny(path, `/\`))]
	clean := func(folders []string) []string {
		for i, f := range folders {
			folders[i] = strings.TrimRight(f, `/\`)
		}
		return folders
	}
	switch {
	case s.named(command):
		return protocol.FoundByPath
	case slices.Contains(clean(s.split(own)), folder):
		return protocol.FoundInPATH
	}
	if e.Shell != nil && !s.windows {
		if text, err := e.Shell.Path(); err == nil && slices.Contains(clean(s.split(text)), folder) {
			return protocol.FoundInLoginShell
		}
	}
	return protocol.FoundInUsualFolder
}

// shown puts in those variables that hold no secrets, and leaves the others as they are written.
func (s Server) shown(ctx context.Context, e Environment, text string) string {
	return variable().ReplaceAllStringFunc(text, func(match string) string {
		name := match[2 : len(match)-1]
		if kind, _, _ := strings.Cut(name, ":"); kind == "input" || kind == "env" || kind == "secret" {
			return match
		}
		value, err := s.value(ctx, e, name)
		if err != nil {
			return match
		}
		return value
	})
}

// envNames returns the variables that the configuration sets, in their order.
func (s Server) envNames(ctx context.Context, e Environment) []string {
	names := map[string]bool{}
	if more, err := s.envFile(ctx, e); err == nil { // else that is what [Launch.Err] says
		for name := range more {
			names[name] = true
		}
	}
	for name, value := range s.Env {
		names[name] = value != nil
	}
	maps.DeleteFunc(names, func(_ string, set bool) bool { return !set })
	return slices.Sorted(maps.Keys(names))
}

// Line returns the line of a server in a file, counted from 1, or 0 if the file does not have it.
func Line(source, serverName string) int {
	data, found := find(source, serverName)
	if found == nil {
		return 0
	}
	line, _ := position(data, found.StartOffset)
	return line
}

// find returns a server's value in a file, and the file, or nil.
func find(source, serverName string) ([]byte, *hujson.Value) {
	if !filepath.IsAbs(source) {
		return nil, nil // the settings
	}
	data, err := ReadFile(source, maxFile)
	if err != nil {
		return nil, nil
	}
	root, err := Parse(data)
	if err != nil {
		return nil, nil
	}
	lastOnes(&root)
	member, _ := serversOf(&root, shapes(source, true))
	return data, root.Find("/" + member + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(serverName))
}
