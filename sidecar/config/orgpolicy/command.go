package orgpolicy

import (
	"slices"
	"strings"
)

// readings returns commands as they are written, and in their plain form.
func readings(commands ...[]string) (all [][]string) {
	for _, command := range commands {
		if len(command) == 0 {
			continue
		}
		all = append(all, command)
		if plain := plain(command); !slices.Equal(plain, command) {
			all = append(all, plain)
		}
	}
	return all
}

// denyCommand reports whether a reading of an entry has a reading of a command. An entry without a folder has the program
// wherever it lies.
func denyCommand(entry, command []string) bool {
	if !slices.Equal(entry[1:], command[1:]) {
		return false
	}
	of := command[0]
	if !strings.ContainsAny(entry[0], `/\`) {
		of = base(of)
	}
	return strings.EqualFold(withoutExtension(entry[0]), withoutExtension(of))
}

// plain returns a command without what often stands around it and changes nothing of what is started: env with variables, a
// shell with one simple line, the consent of npx. An option has its value beside it.
func plain(command []string) []string {
	for len(command) > 1 {
		args := command[1:]
		inner := args
		switch strings.ToLower(withoutExtension(base(command[0]))) {
		case "env":
			for len(inner) > 0 && (strings.HasPrefix(inner[0], "-") || strings.Contains(inner[0], "=")) {
				option := inner[0]
				inner = inner[1:]
				switch {
				case len(inner) == 0:
				case option == "-S", option == "--split-string":
					inner = append(line(inner[0]), inner[1:]...)
				case slices.Contains([]string{"-u", "--unset", "-C", "--chdir"}, option):
					inner = inner[1:]
				}
			}
		case "cmd":
			for len(inner) > 0 && strings.HasPrefix(inner[0], "/") {
				inner = inner[1:]
			}
			if len(inner) == 1 {
				inner = line(inner[0])
			}
		case "sh", "bash", "dash", "ash", "ksh", "zsh":
			at := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") && strings.HasSuffix(arg, "c") })
			if at < 0 || at+1 >= len(args) {
				return options(command)
			}
			if inner = line(args[at+1]); len(inner) > 0 && inner[0] == "exec" {
				inner = inner[1:]
			}
		case "powershell", "pwsh":
			at := slices.IndexFunc(args, func(arg string) bool { return strings.EqualFold(arg, "-c") || strings.EqualFold(arg, "-command") })
			if at < 0 {
				return options(command)
			}
			inner = line(strings.Join(args[at+1:], " "))
		case "npx":
			return options(slices.DeleteFunc(slices.Clone(command), func(arg string) bool { return arg == "-y" || arg == "--yes" }))
		default:
			return options(command)
		}
		if len(inner) == 0 {
			return options(command)
		}
		command = inner
	}
	return command
}

// line returns the words of a line of a shell, or nothing if it is more than words.
func line(text string) []string {
	if strings.ContainsAny(text, "|&;<>()$`\\*?[#~%!{\n") {
		return nil
	}
	return strings.Fields(strings.NewReplacer(`"`, "", "'", "").Replace(text))
}

// options returns a command with each --option=value as two arguments.
func options(command []string) (all []string) {
	for _, arg := range command {
		name, value, ok := strings.Cut(arg, "=")
		if ok && strings.HasPrefix(name, "--") && len(all) > 0 {
			all = append(all, name, value)
			continue
		}
		all = append(all, arg)
	}
	return all
}

// base returns the last name of a path, with the separators of all systems.
func base(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// withoutExtension returns a program without what Windows adds to its name.
func withoutExtension(program string) string {
	for _, extension := range []string{".exe", ".cmd", ".bat", ".com"} {
		if at := len(program) - len(extension); at > 0 && strings.EqualFold(program[at:], extension) {
			return program[:at]
		}
	}
	return program
}
