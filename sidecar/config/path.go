package config

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// maxFolders bounds how many folders of one kind a failure names.
const maxFolders = 30

// system is how programs are found where the sidecar runs. It is made of values, so that the rules of
// each system can be tested on every other.
type system struct {
	windows bool
	darwin  bool
	// wsl is a Linux with a PATH that also has the folders of the Windows around it.
	wsl       bool
	isProgram func(path string) bool
	// isFile reports whether there is a file, a program or not.
	isFile   func(path string) bool
	isFolder func(path string) bool
	// entries returns the names in a folder, and none where it cannot be read.
	entries func(path string) []string
	// read returns a small file's text, and none where it cannot be read.
	read func(path string) string
}

// here returns the system that the sidecar runs on.
func here() system {
	windows := runtime.GOOS == "windows"
	return system{
		windows: windows,
		darwin:  runtime.GOOS == "darwin",
		wsl:     runtime.GOOS == "linux" && isWSL(readSmall("/proc/sys/kernel/osrelease")),
		isProgram: func(path string) bool {
			info, err := os.Stat(path)
			if windows { // where the store's programs are files of a kind of their own
				return err == nil && !info.IsDir()
			}
			return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
		},
		isFile: func(path string) bool {
			info, err := os.Stat(path)
			return err == nil && !info.IsDir()
		},
		isFolder: func(path string) bool {
			info, err := os.Stat(path)
			return err == nil && info.IsDir()
		},
		entries: func(path string) []string {
			var names []string
			entries, _ := os.ReadDir(path) // a folder that is not there has none
			for _, e := range entries {
				names = append(names, e.Name())
			}
			return names
		},
		read: readSmall,
	}
}

// isWSL reports whether a kernel of this release is that of the Windows Subsystem for Linux.
func isWSL(osrelease string) bool {
	return strings.Contains(strings.ToLower(osrelease), "microsoft")
}

// split returns the folders of a PATH that do not depend on where we happen to be.
func (s system) split(path string) []string {
	var folders []string
	for folder := range strings.SplitSeq(path, s.listSeparator()) {
		if s.windows {
			folder = strings.Trim(folder, `"`)
		}
		if s.isAbs(folder) && !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	return folders
}

func (s system) listSeparator() string {
	if s.windows {
		return ";"
	}
	return ":"
}

func (s system) isAbs(path string) bool {
	if !s.windows {
		return strings.HasPrefix(path, "/")
	}
	drive := len(path) > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/')
	return drive || strings.HasPrefix(path, `\\`)
}

func (s system) join(elements ...string) string {
	if s.windows {
		return strings.Join(elements, `\`)
	}
	return strings.Join(elements, "/")
}

// named reports whether a command names a file rather than something to search for.
func (s system) named(command string) bool {
	return strings.Contains(command, "/") || s.windows && strings.ContainsAny(command, `\:`)
}

// candidates returns the files that a command may mean in a folder, the first one first. On Windows a
// file without an extension is none: beside npx.cmd lies npx, for another system's shell.
func (s system) candidates(command, pathext string) []string {
	if !s.windows {
		return []string{command}
	}
	if pathext == "" {
		pathext = ".COM;.EXE;.BAT;.CMD"
	}
	var extensions []string
	for ext := range strings.SplitSeq(strings.ToLower(pathext), ";") {
		if strings.HasPrefix(ext, ".") {
			extensions = append(extensions, ext)
		}
	}
	extensions = append(extensions, ".ps1")
	var names []string
	if slices.Contains(extensions, extension(command)) {
		names = append(names, command)
	}
	for _, ext := range extensions {
		names = append(names, command+ext)
	}
	return names
}

// extension returns the extension of a path of Windows, in small letters.
func extension(path string) string {
	return strings.ToLower(filepath.Ext(path[strings.LastIndexAny(path, `\/`)+1:]))
}

// search looks for a command in folders. In a WSL a program of Windows is not taken, for it would not
// understand this system's paths, unless it is named with its extension; foreign is the first such.
func (s system) search(command string, folders []string, pathext string) (path, foreign string) {
	for _, folder := range folders {
		for _, name := range s.candidates(command, pathext) {
			path := s.join(strings.TrimRight(folder, `/\`), name)
			switch {
			case !s.isProgram(path):
			case s.wsl && ofWindows(folder) && extension(command) != ".exe":
				if foreign == "" {
					foreign = path
				}
			default:
				return path, foreign
			}
		}
	}
	return "", foreign
}

// ofWindows reports whether a WSL has a folder from Windows: /mnt/c is drive C.
func ofWindows(folder string) bool {
	rest, ok := strings.CutPrefix(folder, "/mnt/")
	return ok && len(rest) > 0 && 'a' <= rest[0] && rest[0] <= 'z' && (len(rest) == 1 || rest[1] == '/')
}

// lookPath finds the program of a command by the variables of one environment, search, and returns env, the environment in
// which it runs: where another PATH than that of search led to it, that one is in it, for a program such as npx needs its
// neighbour node.
func (e Environment) lookPath(s system, command, dir string, search, env []string) (string, []string, error) {
	pathext := LookupEnv(search, "PATHEXT")
	if s.named(command) {
		return s.lookFile(command, dir, pathext, search, env)
	}
	own, kept := s.split(LookupEnv(search, "PATH")), s.split(LookupEnv(env, "PATH"))
	path, foreign := s.search(command, own, pathext)
	if path != "" {
		return path, env, nil
	}
	failure := []string{fmt.Sprintf("the command %q was not found in PATH, which is %s", command, s.list(own))}
	searched := own

	if e.Shell != nil && !s.windows {
		text, err := e.Shell.Path()
		folders := s.split(text)
		path, alien := s.search(command, folders, pathext)
		more := without(folders, own)
		searched = slices.Concat(searched, more)
		switch {
		case path != "" && LookupEnv(env, "PATH") == LookupEnv(e.Environ, "PATH"):
			return path, s.setPath(env, folders, kept), nil
		case path != "": // the server's configuration has a PATH of its own, which goes first
			return path, s.setPath(env, kept, folders), nil
		case err != nil:
			failure = append(failure, fmt.Sprintf("and the login shell could not be asked for its own: %v", err))
		case len(more) == 0:
			failure = append(failure, "nor is there more in the PATH of the login shell "+e.Shell.Name())
		default:
			failure = append(failure, fmt.Sprintf("nor in what the login shell %s adds, which is %s", e.Shell.Name(), s.list(more)))
		}
		if foreign == "" {
			foreign = alien
		}
	}

	usual := without(s.usual(e.Home, func(name string) string { return LookupEnv(search, name) }), own)
	if path, _ := s.search(command, usual, pathext); path != "" {
		return path, s.setPath(env, []string{path[:strings.LastIndexAny(path, `/\`)]}, kept), nil
	}
	if len(usual) > 0 {
		failure = append(failure, "nor in the usual folders for programs: "+s.list(usual))
	}
	text := strings.Join(failure, "; ") + "."
	if foreign != "" {
		text += fmt.Sprintf(" There is %s, but it belongs to Windows and cannot work with the files of this Linux.", foreign)
	}
	return "", nil, &NotFoundError{
		Command: command, Searched: slices.Concat(searched, without(usual, searched)),
		NearMisses: s.nearMisses(command, slices.Concat(searched, without(usual, searched)), pathext),
		WayOut:     wayOut(command, s.windows), text: text,
	}
}

// lookFile finds the program of a command that is a path.
func (s system) lookFile(command, dir, pathext string, search, env []string) (string, []string, error) {
	path := command
	if !s.isAbs(path) {
		path = filepath.Join(dir, path)
	}
	for _, candidate := range s.candidates(path, pathext) {
		if !s.isProgram(candidate) {
			continue
		}
		if s.isAbs(command) {
			// A script's interpreter is often its neighbour: npx, and the node that it names. Last in
			// PATH, so that nothing is hidden.
			own := s.split(LookupEnv(env, "PATH"))
			env = s.setPath(env, own, []string{candidate[:max(1, strings.LastIndexAny(candidate, `/\`))]})
		}
		return candidate, env, nil
	}
	if s.isFile(path) {
		return "", nil, &NotExecutableError{Command: command, Path: path}
	}
	return "", nil, &NotFoundError{
		Command: command, NearMisses: s.fileNearMisses(command, path, s.split(LookupEnv(search, "PATH")), pathext), WayOut: `Give the path of a program as "command"`,
		text: fmt.Sprintf("the command %q was not found: there is no program %s.%s", command, path, s.notACommand(command)),
	}
}

// setPath returns an environment with a PATH of both lists.
func (s system) setPath(env, first, second []string) []string {
	all := slices.Concat(first, without(second, first))
	return setEnv(slices.Clone(env), "PATH", strings.Join(all, s.listSeparator()))
}

func without(folders, others []string) []string {
	var rest []string
	for _, f := range folders {
		if !slices.Contains(others, f) {
			rest = append(rest, f)
		}
	}
	return rest
}

// list returns folders for a failure, as PATH is written.
func (s system) list(folders []string) string {
	switch n := len(folders) - maxFolders; {
	case len(folders) == 0:
		return "empty"
	case n > 0:
		return fmt.Sprintf("%s and %d more folders", strings.Join(folders[:maxFolders], s.listSeparator()), n)
	default:
		return strings.Join(folders, s.listSeparator())
	}
}

// wayOut says what to do about a command that was not found.
func wayOut(command string, windows bool) string {
	python := "Install Python"
	if windows && command == "python3" {
		python = "Install Python; its command on Windows is python"
	}
	hint, known := map[string]string{
		"node":    "Install Node.js",
		"npx":     "Install Node.js, which npx comes with",
		"npm":     "Install Node.js, which npm comes with",
		"pnpm":    "Install pnpm",
		"yarn":    "Install Yarn",
		"bun":     "Install Bun",
		"bunx":    "Install Bun, which bunx comes with",
		"deno":    "Install Deno",
		"uv":      "Install uv",
		"uvx":     "Install uv, which uvx comes with",
		"pipx":    "Install pipx",
		"python":  python,
		"python3": python,
		"docker":  "Install Docker and start it",
		"podman":  "Install Podman",
		"dotnet":  "Install the .NET SDK",
		"dnx":     "Install the .NET SDK, which dnx comes with",
		"java":    "Install Java",
		"go":      "Install Go",
		"cargo":   "Install Rust, which cargo comes with",
	}[strings.TrimSuffix(command, ".exe")]
	if !known {
		hint = "Install it"
	}
	return hint + `, or give the program's full path as "command"`
}

// readSmall returns the beginning of a small file, and nothing where it cannot be read.
func readSmall(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	text := make([]byte, 64<<10)
	n, _ := f.Read(text)
	return string(text[:n])
}
