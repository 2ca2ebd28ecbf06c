package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

const (
	// loginTimeout is how long a login shell may take: startup files of people who have much in them
	// take seconds, and some wait for an answer that never comes.
	loginTimeout = 5 * time.Second
	// maxLoginOutput bounds its output, in bytes.
	maxLoginOutput = 1 << 20
)

// LoginShell asks the person's login shell for its PATH. An editor that was started from a dock or a
// menu has not been through the startup files of the shell, where nvm, fnm, volta and asdf put their
// folders into PATH.
//
// The shell is asked at the first need, and once: its startup files are the person's own programs. All
// methods may be called from any goroutine.
type LoginShell struct {
	environ []string
	shell   string
	timeout time.Duration
	path    func() (string, error)
}

// NewLoginShell returns the login shell of an environment, as of [os.Environ].
func NewLoginShell(environ []string) *LoginShell {
	l := &LoginShell{environ: environ, shell: LookupEnv(environ, "SHELL"), timeout: loginTimeout}
	if !filepath.IsAbs(l.shell) {
		l.shell = shellOf(readSmall("/etc/passwd"), os.Getuid())
	}
	l.path = sync.OnceValues(l.ask)
	return l
}

// Name returns the shell's path; it is empty if unknown.
func (l *LoginShell) Name() string { return l.shell }

// Path returns the PATH that the shell sets. It takes seconds at most, at the first call, and none at
// the others.
func (l *LoginShell) Path() (string, error) { return l.path() }

func (l *LoginShell) ask() (string, error) {
	if l.shell == "" {
		return "", errors.New("neither SHELL nor the list of users names it")
	}
	// Startup files may write anything. Only the text between the marks is read.
	mark := uuid.NewString()
	// Startup files can test the first variable to do less here. VS Code sets the same variable
	// for the same purpose.
	env := setEnv(slices.Clone(l.environ), "VSCODE_RESOLVING_ENVIRONMENT", "1")
	env = setEnv(env, "TERM", "dumb")
	output, err := runShell(l.shell, shellArgs(l.shell, mark), env, l.timeout, func(output string) bool {
		_, ok := between(output, mark)
		return ok
	})
	path, ok := between(output, mark)
	switch {
	case ok && path != "":
		return path, nil
	case err != nil:
		return "", fmt.Errorf("%s %w", l.shell, err)
	default:
		return "", fmt.Errorf("%s did not say its PATH", l.shell)
	}
}

// shellArgs returns the arguments with which a shell says its PATH. printenv is the same in every
// shell's language, while $PATH is a list in some.
func shellArgs(shell, mark string) []string {
	command := fmt.Sprintf("echo %s; printenv PATH; echo %s", mark, mark)
	switch strings.TrimSuffix(filepath.Base(shell), ".exe") {
	case "csh", "tcsh": // -l must stand alone
		return []string{"-ic", command}
	case "pwsh":
		return []string{"-Login", "-Command", command}
	case "nu": // its echo returns a value instead
		return []string{"-l", "-c", strings.ReplaceAll(command, "echo", "print")}
	case "sh", "dash", "ash": // which read what matters here with -l alone
		return []string{"-l", "-c", command}
	default:
		return []string{"-l", "-i", "-c", command}
	}
}

// between returns the line between two marks.
func between(output, mark string) (string, bool) {
	_, rest, _ := strings.Cut(output, mark)
	line, _, ok := strings.Cut(rest, mark)
	return strings.TrimSpace(line), ok
}

// shellOf returns the shell of a user by passwd(5).
func shellOf(passwd string, uid int) string {
	for line := range strings.Lines(passwd) {
		fields := strings.Split(strings.TrimSpace(line), ":")
		if len(fields) == 7 && fields[2] == strconv.Itoa(uid) && filepath.IsAbs(fields[6]) {
			return fields[6]
		}
	}
	return ""
}
