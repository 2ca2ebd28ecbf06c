package setup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"assent/sidecar/base/lazyregexp"
	"assent/sidecar/config"
	"assent/sidecar/config/managedfiles"
	"assent/sidecar/setup/importer"
)

// Here returns the options for this machine and for the person of an environment, in the form of [os.Environ]. Folders are
// those with project files. Assent's own folder is that of the person's own file.
func Here(environ []string, userFile string, folders []string) (Options, error) {
	env := func(name string) string { return config.LookupEnv(environ, name) }
	home := config.Home(environ)
	if home == "" || userFile == "" {
		return Options{}, errors.New("the environment does not name your home folder")
	}
	o := Options{
		Places: importer.Places{OS: runtime.GOOS, Home: home, Env: env, Folders: folders},
		Folder: filepath.Dir(userFile), UserFile: userFile,
		Policy:    managedfiles.New("", environ),
		Installed: func(command string) bool { return onPath(env("PATH"), command) != "" },
	}
	self, err := os.Executable()
	if err != nil {
		return o, fmt.Errorf("the program of Assent was not found: %w", err)
	}
	o.Command = command(self, home, env)
	return o, nil
}

// ofAnExtension is the program in the folder of one version of the extension. An update removes it.
var ofAnExtension = lazyregexp.New(`[\\/]assent\.assent-[^\\/]+[\\/]bin[\\/]assent(?:\.exe)?$`)

// ofNPX is a program that npx runs. npm empties its cache.
var ofNPX = lazyregexp.New(`[\\/]_npx[\\/]`)

// command returns how a host starts this program: by the path in PATH, or else by the path that it was started by. Either
// may be a link, which stays when an update moves the program. The extension has such a link too. A name alone would not do,
// because a host that starts from the desktop has a short PATH.
func command(self, home string, env func(string) string) string {
	if found := onPath(env("PATH"), "assent"); found != "" && isSameFile(found, self) {
		return found
	}
	if started := os.Args[0]; started != self && filepath.IsAbs(started) && isSameFile(started, self) {
		return started
	}
	link := filepath.Join(home, ".local", "bin", "assent")
	if runtime.GOOS == "windows" { // a copy of its own, which the extension keeps current
		link = filepath.Join(env("LOCALAPPDATA"), "Programs", "assent", "assent.exe")
	}
	if _, err := os.Stat(link); err == nil && (isSameFile(link, self) || ofAnExtension().MatchString(self)) {
		return link
	}
	return self
}

// onPath returns the absolute path of a program in the folders of a PATH, empty if it is not there.
func onPath(path, name string) string {
	names := []string{name}
	if runtime.GOOS == "windows" {
		names = []string{name + ".exe", name + ".cmd", name + ".bat"}
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		for _, name := range names {
			found := filepath.Join(dir, name)
			if info, err := os.Stat(found); err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0) {
				return found
			}
		}
	}
	return ""
}

func isSameFile(one, other string) bool {
	a, errA := os.Stat(one)
	b, errB := os.Stat(other)
	return errA == nil && errB == nil && os.SameFile(a, b)
}
