package config

import (
	"slices"
	"strconv"
	"strings"
)

// usual returns the existing folders into which version managers and installers put programs. Only a
// shell's startup files name some of them. It is the last resort.
func (s system) usual(home string, env func(string) string) []string {
	var folders []string
	add := func(base string, below ...string) {
		if base == "" {
			return
		}
		for _, folder := range s.expand(s.join(append([]string{base}, below...)...)) {
			if s.isFolder(folder) && !slices.Contains(folders, folder) {
				folders = append(folders, folder)
			}
		}
	}
	// or returns where a tool keeps its things: a variable says so, or it is the usual place.
	or := func(name string, below ...string) string {
		if value := env(name); value != "" || home == "" {
			return value
		}
		return s.join(append([]string{home}, below...)...)
	}
	inHome := func(below ...string) { // HOME is known, or the root would be searched
		if home != "" {
			add(home, below...)
		}
	}
	if s.windows {
		add(env("NVM_SYMLINK"))
		add(or("FNM_DIR", "AppData", "Roaming", "fnm"), "aliases", "default")
		add(or("VOLTA_HOME", "AppData", "Local", "Volta"), "bin")
		add(env("ProgramFiles"), "nodejs")
		add(or("APPDATA", "AppData", "Roaming"), "npm")
		local := or("LOCALAPPDATA", "AppData", "Local")
		add(local, "pnpm")
		add(local, "mise", "shims")
		add(local, "Programs", "Python", "*")
		add(local, "Microsoft", "WinGet", "Links")
		add(local, "Microsoft", "WindowsApps")
		add(env("ProgramData"), "chocolatey", "bin")
		add(env("ProgramFiles"), "Docker", "Docker", "resources", "bin")
		add(env("ProgramFiles"), "dotnet")
		inHome("scoop", "shims")
	} else {
		nvm := or("NVM_DIR", ".nvm")
		if version := s.nvmDefault(nvm); version != "" {
			add(nvm, "versions", "node", version, "bin")
		}
		add(nvm, "versions", "node", "*", "bin")
		add(env("FNM_DIR"), "aliases", "default", "bin")
		inHome(".local", "share", "fnm", "aliases", "default", "bin")
		inHome(".fnm", "aliases", "default", "bin")
		inHome("Library", "Application Support", "fnm", "aliases", "default", "bin")
		add(or("VOLTA_HOME", ".volta"), "bin")
		add(or("ASDF_DATA_DIR", ".asdf"), "shims")
		add(or("MISE_DATA_DIR", ".local", "share", "mise"), "shims")
		add(or("PYENV_ROOT", ".pyenv"), "shims")
		inHome(".nodenv", "shims")
		add(or("N_PREFIX", "n"), "bin")
		add(or("PNPM_HOME", ".local", "share", "pnpm"))
		inHome("Library", "pnpm")
		inHome(".npm-global", "bin")
		inHome(".nix-profile", "bin")
		inHome(".docker", "bin")
		inHome(".dotnet")
		inHome("go", "bin")
		inHome("bin")
		if s.darwin {
			add("/opt/homebrew", "bin")
			add("/opt/local", "bin")
			add("/Applications/Docker.app/Contents/Resources/bin")
			inHome("Library", "Python", "*", "bin")
		} else {
			add("/home/linuxbrew/.linuxbrew", "bin")
			add("/snap", "bin")
			add("/run/current-system/sw", "bin")
		}
		add("/nix/var/nix/profiles/default", "bin")
		add("/usr/local", "bin")
	}
	inHome(".local", "bin") // pipx and uv
	add(or("CARGO_HOME", ".cargo"), "bin")
	add(or("BUN_INSTALL", ".bun"), "bin")
	add(or("DENO_INSTALL", ".deno"), "bin")
	return folders
}

// expand replaces an element * of a path by each folder that is there, the newest version first.
func (s system) expand(path string) []string {
	star := s.join("", "*")
	before, after, found := strings.Cut(path, star)
	if !found {
		return []string{path}
	}
	names := s.entries(before)
	slices.SortFunc(names, func(a, b string) int { return compareVersions(b, a) })
	var paths []string
	for _, name := range names {
		paths = append(paths, s.join(before, name)+after)
	}
	return paths
}

// compareVersions orders names by the numbers in them.
func compareVersions(a, b string) int {
	if c := slices.Compare(numbers(a), numbers(b)); c != 0 {
		return c
	}
	return strings.Compare(a, b)
}

func numbers(name string) []int {
	var ns []int
	for field := range strings.FieldsFuncSeq(name, func(r rune) bool { return r < '0' || r > '9' }) {
		if n, err := strconv.Atoi(field); err == nil { // a number beyond all versions counts for nothing
			ns = append(ns, n)
		}
	}
	return ns
}

// nvmDefault returns the folder of the version that nvm's alias "default" means, where it says so in a
// way that the disk knows; "lts/iron" and "20" are aliases of aliases and beginnings of versions.
func (s system) nvmDefault(nvm string) string {
	want := "default"
	for range 5 {
		next := strings.TrimSpace(s.read(s.join(nvm, "alias", want)))
		if next == "" || strings.Contains(next, "..") || strings.HasPrefix(next, "/") {
			break
		}
		want = next
	}
	want = "v" + strings.TrimPrefix(want, "v")
	installed := s.entries(s.join(nvm, "versions", "node"))
	slices.SortFunc(installed, func(a, b string) int { return compareVersions(b, a) })
	for _, version := range installed {
		if version == want || strings.HasPrefix(version, want+".") {
			return version
		}
	}
	return ""
}
