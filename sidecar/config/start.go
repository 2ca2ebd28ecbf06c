package config

import (
	"fmt"
	"os/exec"
	"strings"
)

// invocation is how a program that was found is started.
type invocation struct {
	program string
	// args begin with the program's name.
	args []string
	// line is the command line as Windows has it, where args do not say it well enough.
	line string
}

// invoke returns how a program is started with arguments. Windows cannot start scripts itself.
func (s system) invoke(name, path string, args, env []string) (invocation, error) {
	direct := invocation{program: path, args: append([]string{name}, args...)}
	if !s.windows {
		return direct, nil
	}
	root := LookupEnv(env, "SystemRoot")
	if root == "" {
		root = `C:\Windows`
	}
	switch extension(path) {
	case ".bat", ".cmd":
		line, err := batchLine(path, args)
		return invocation{program: root + `\System32\cmd.exe`, args: direct.args, line: line}, err
	case ".ps1":
		// Whether scripts may run is the person's own setting; PowerShell says so where they may not.
		powershell := root + `\System32\WindowsPowerShell\v1.0\powershell.exe`
		return invocation{
			program: powershell,
			args:    append([]string{powershell, "-NoLogo", "-NoProfile", "-NonInteractive", "-File", path}, args...),
		}, nil
	default:
		return direct, nil
	}
}

// batchLine returns the command line that has cmd.exe run a batch file with exactly these arguments.
//
// cmd.exe reads a line twice: for its own signs, such as & and %, and then the program for the quotes.
// So each argument is in quotes, in which & and its kind are plain; a quote inside is doubled; and a
// percent sign is followed by one that belongs to an empty piece of a variable that always exists, so
// that no variable's name can come of it. This is how Rust's standard library does it since
// CVE-2024-24576.
func batchLine(path string, args []string) (string, error) {
	if strings.ContainsAny(path, "\"%\x00\r\n") {
		return "", fmt.Errorf("the batch file %q has a name that cmd.exe does not accept", path)
	}
	var b strings.Builder
	b.WriteString(`cmd.exe /e:ON /v:OFF /d /c ""` + path + `"`)
	for i, arg := range args {
		if strings.ContainsAny(arg, "\x00\r\n") {
			return "", fmt.Errorf("the argument %d has a line break, which a batch file such as %s cannot take", i+1, path)
		}
		b.WriteString(` "`)
		backslashes := 0
		for _, r := range arg {
			switch r {
			case '\\':
				backslashes++
				b.WriteRune(r)
				continue
			case '"':
				b.WriteString(strings.Repeat(`\`, backslashes) + `"`)
			case '%':
				b.WriteString("%%cd:~,")
			}
			backslashes = 0
			b.WriteRune(r)
		}
		b.WriteString(strings.Repeat(`\`, backslashes) + `"`)
	}
	b.WriteString(`"`)
	return b.String(), nil
}

// command returns the process to start.
func (i invocation) command(env []string, dir string) *exec.Cmd {
	cmd := &exec.Cmd{Path: i.program, Args: i.args, Env: env, Dir: dir}
	if i.line != "" {
		setLine(cmd, i.line)
	}
	return cmd
}
