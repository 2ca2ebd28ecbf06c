package add

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"assent/protocol"
	"assent/sidecar/base/lazyregexp"
	"assent/sidecar/base/visible"
)

const (
	dockerCommand = "docker"
	podmanCommand = "podman"
)

var (
	npmName   = lazyregexp.New(`^(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*$`)
	pypiName  = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]*(\[[A-Za-z0-9,._-]+\])?$`)
	imageName = lazyregexp.New(`^[a-z0-9][a-zA-Z0-9._-]*(:[0-9]+)?(/[a-z0-9][a-z0-9._-]*)*$`)
	// exact is one version, and no range or word such as latest.
	exact = lazyregexp.New(`^v?[0-9]+(\.[0-9]+)*([._+!-]?[0-9A-Za-z]+)*$`)
	// exactNPM has all three numbers: to npm, fewer are a range.
	exactNPM = lazyregexp.New(`^v?[0-9]+\.[0-9]+\.[0-9]+([-+][0-9A-Za-z.+-]+)?$`)
	imageTag = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)
	digest   = lazyregexp.New(`^sha256:[0-9a-f]{64}$`)
)

// isExact reports whether a text is one version of a package.
func isExact(kind, version string) bool {
	valid := exact
	if kind == "npm" {
		valid = exactNPM
	}
	return len(version) <= 100 && valid().MatchString(version) && !wild(version)
}

// wild reports whether a version stands for several versions, as 1.x does.
func wild(version string) bool {
	return slices.ContainsFunc(strings.Split(version, "."), func(part string) bool { return part == "x" || part == "X" || part == "*" })
}

// unpinned says how to name a version.
func unpinned(what, example string) error {
	return fmt.Errorf("%s has no exact version, so that another program may run tomorrow: name one, as in %s, or give --pin VERSION", what, example)
}

// readPackage reads what follows "npm:", "pypi:" or "nuget:".
func readPackage(kind, rest string, o Options) (*Server, error) {
	name, version := splitVersion(kind, rest)
	return packageServer(kind, name, version, o)
}

// splitVersion splits a package's reference at its version.
func splitVersion(kind, reference string) (name, version string) {
	if kind == "pypi" {
		if name, version, ok := strings.Cut(reference, "=="); ok {
			return name, version
		}
	}
	if at := strings.LastIndexByte(reference, '@'); at > 0 {
		return reference[:at], reference[at+1:]
	}
	return reference, ""
}

// packageServer returns the server of a package.
func packageServer(kind, name, version string, o Options) (*Server, error) {
	valid := npmName
	if kind != "npm" {
		valid = pypiName
	}
	if len(name) > 214 || !valid().MatchString(name) {
		return nil, fmt.Errorf("%s is not the name of a package of %s", visible.Line(clipped(name)), kind)
	}
	if !isExact(kind, version) && o.Pin != "" {
		version = o.Pin
	}
	if !isExact(kind, version) {
		return nil, unpinned(fmt.Sprintf("the package %s", name), fmt.Sprintf("%s:%s@1.2.3", kind, name))
	}
	s := &Server{Name: path.Base(name), Origin: fmt.Sprintf("the %s package %s, version %s", kind, name, version)}
	s.entry = Entry{Type: protocol.TransportStdio}
	switch at := name + "@" + version; kind {
	case "npm":
		s.entry.Command, s.entry.Args = "npx", []string{"-y", at}
	case "pypi":
		s.entry.Command, s.entry.Args = "uvx", []string{at}
	case "nuget":
		s.entry.Command, s.entry.Args = "dnx", []string{at, "--yes"}
	}
	return s, nil
}

// readImage reads what follows "docker:" or "oci:".
func readImage(rest string, o Options) (*Server, error) {
	image, err := pinnedImage(strings.TrimPrefix(rest, "//"), o.Pin)
	if err != nil {
		return nil, err
	}
	name, _, _ := splitImage(image)
	s := &Server{Name: path.Base(name), Origin: "the container image " + image}
	s.entry = Entry{Type: protocol.TransportStdio, Command: dockerCommand, Args: []string{"run", "-i", "--rm", image}}
	if !strings.Contains(image, "@sha256:") {
		s.note("A tag can be moved to another image. A digest cannot: name@sha256:….")
	}
	return s, nil
}

// splitImage splits an image into its name, its tag and its digest.
func splitImage(image string) (name, tag, sum string) {
	name, sum, _ = strings.Cut(image, "@")
	if colon := strings.LastIndexByte(name, ':'); colon > strings.LastIndexByte(name, '/') {
		name, tag = name[:colon], name[colon+1:]
	}
	return name, tag, sum
}

// pinnedImage returns an image with its tag or digest. "name@1.2.3" is a way to write a tag too.
func pinnedImage(image, version string) (string, error) {
	name, tag, sum := splitImage(image)
	if sum != "" && tag == "" && !strings.HasPrefix(sum, "sha") {
		tag, sum = sum, ""
	}
	if sum == "" && (tag == "" || tag == "latest") && version != "" {
		if digest().MatchString(version) {
			tag, sum = "", version
		} else {
			tag = version
		}
	}
	switch {
	case len(name) > 255 || !imageName().MatchString(name):
		return "", fmt.Errorf("%s is not the name of a container image", visible.Line(clipped(image)))
	case sum != "" && !digest().MatchString(sum):
		return "", fmt.Errorf("%s has no digest of the form sha256:…, with 64 hexadecimal digits", visible.Line(clipped(image)))
	case sum != "":
		if tag != "" {
			name += ":" + tag
		}
		return name + "@" + sum, nil
	case tag == "" || tag == "latest" || !imageTag().MatchString(tag):
		return "", unpinned("the image "+name, "docker:"+name+":1.2.3")
	}
	return name + ":" + tag, nil
}

// runners are the programs that fetch a package and run it, with the words before the package and its kind.
var runners = map[string]struct {
	words []string
	kind  string
}{
	"npx": {nil, "npm"}, "bunx": {nil, "npm"}, "pnpx": {nil, "npm"},
	"npm": {[]string{"exec"}, "npm"}, "pnpm": {[]string{"dlx"}, "npm"}, "yarn": {[]string{"dlx"}, "npm"}, "bun": {[]string{"x"}, "npm"},
	"uvx": {nil, "pypi"}, "pipx": {[]string{"run"}, "pypi"}, "uv": {[]string{"tool", "run"}, "pypi"},
	"dnx":         {nil, "nuget"},
	dockerCommand: {[]string{"run"}, "oci"}, podmanCommand: {[]string{"run"}, "oci"},
}

// valued are the flags of runners that take the next argument as their value.
var valued = map[string][]string{
	"npm":   {"-c", "--call", "-w", "--workspace", "--registry", "--prefix"},
	"pypi":  {"--with", "--python", "-p", "--index-url", "--index", "--default-index", "--extra-index-url", "--refresh-package"},
	"nuget": {"--source", "--configfile", "--framework", "--add-source"},
	"oci": {
		"-e", "--env", "-v", "--volume", "--mount", "--name", "--network", "--net", "-p", "--publish", "-w", "--workdir", "-u", "--user", "--env-file",
		"--platform", "--add-host", "-m", "--memory", "--cpus", "--entrypoint", "-l", "--label", "-h", "--hostname", "--pull", "--security-opt", "--cap-add",
		"--cap-drop", "--tmpfs", "--shm-size", "--ulimit", "--gpus", "--device", "--dns", "--restart", "--stop-timeout", "--log-driver", "--runtime", "--ipc", "--pid",
	},
}

// packageFlags are the flags that name a package.
var packageFlags = []string{"-p", "--package", "--from", "--spec"}

// pin refuses the command of a program that fetches a package without an exact version, unless there is a version to put in.
func pin(e *Entry, version string) error {
	command := strings.TrimSuffix(strings.TrimSuffix(path.Base(strings.ReplaceAll(e.Command, `\`, "/")), ".cmd"), ".exe")
	r, ok := runners[command]
	args := e.Args
	if !ok || len(args) < len(r.words) || !slices.Equal(args[:len(r.words)], r.words) {
		return nil
	}
	at := packageAt(args, len(r.words), r.kind)
	if at < 0 {
		return nil
	}
	prefix, name := "", args[at]
	if flag, value, ok := strings.Cut(name, "="); ok && strings.HasPrefix(flag, "-") {
		prefix, name = flag+"=", value
	}
	args = slices.Clone(args)
	if r.kind == "oci" {
		image, err := pinnedImage(name, version)
		if err != nil {
			return err
		}
		args[at] = prefix + image
		e.Args = args
		return nil
	}
	pkg, has := splitVersion(r.kind, name)
	switch {
	case isExact(r.kind, has), strings.HasPrefix(name, "."), strings.HasPrefix(name, "/"), strings.HasPrefix(name, "~"):
		return nil
	case strings.Contains(name, "://") || strings.Contains(name, "git+") || strings.HasPrefix(name, "github:"):
		return fmt.Errorf("it runs %s, which is not a package with a version", visible.Line(clipped(name)))
	case !isExact(r.kind, version):
		return unpinned("the package "+visible.Line(clipped(name)), visible.Line(clipped(pkg))+"@1.2.3")
	}
	args[at] = prefix + pkg + "@" + version
	e.Args = args
	return nil
}

// packageAt returns the index of the package in the arguments, or -1.
func packageAt(args []string, from int, kind string) int {
	for i := from; i < len(args); i++ {
		arg := args[i]
		name, _, joined := strings.Cut(arg, "=")
		switch {
		case kind != "oci" && slices.Contains(packageFlags, name) && !(kind == "pypi" && name == "-p"):
			if joined {
				return i
			}
			if i+1 < len(args) {
				return i + 1
			}
			return -1
		case arg == "--":
		case strings.HasPrefix(arg, "-"):
			if !joined && slices.Contains(valued[kind], arg) {
				i++
			}
		default:
			return i
		}
	}
	return -1
}

// passed returns the arguments of docker without the -e of variables that are left out.
func passed(args []string, all, left map[string]string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		if (args[i] == "-e" || args[i] == "--env") && i+1 < len(args) {
			if _, known := all[args[i+1]]; known {
				if _, ok := left[args[i+1]]; !ok {
					i++
					continue
				}
			}
		}
		out = append(out, args[i])
	}
	return out
}
