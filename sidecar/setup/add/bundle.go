package add

import (
	"archive/zip"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"assent/protocol"
	"assent/sidecar/base/lazyregexp"
	"assent/sidecar/base/visible"
)

// Limits bound a bundle.
type Limits struct {
	// Packed and Unpacked are in bytes.
	Packed, Unpacked int64
	Files            int
}

// DefaultLimits bound a bundle unless the caller says otherwise.
var DefaultLimits = Limits{Packed: 256 << 20, Unpacked: 1 << 30, Files: 50_000}

// maxPath bounds the path of a file in a bundle, in bytes.
const maxPath = 400

// manifest is the manifest.json of an MCP bundle (MCPB, manifest 0.1 to 0.4; .dxt in its past).
type manifest struct {
	Name        string `json:"name"`
	DisplayName string `json:"display_name"`
	Version     string `json:"version"`
	Description string `json:"description"`
	Server      struct {
		Type       string       `json:"type"`
		EntryPoint string       `json:"entry_point"`
		Config     launchConfig `json:"mcp_config"`
	} `json:"server"`
	UserConfig    map[string]userConfig `json:"user_config"`
	Compatibility struct {
		Platforms []string `json:"platforms"`
	} `json:"compatibility"`
}

type launchConfig struct {
	Command   string                  `json:"command"`
	Args      []string                `json:"args"`
	Env       map[string]string       `json:"env"`
	Platforms map[string]launchConfig `json:"platform_overrides"`
}

type userConfig struct {
	Type        string `json:"type"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
	Default     any    `json:"default"`
	Multiple    bool   `json:"multiple"`
	Sensitive   bool   `json:"sensitive"`
}

// bundle is a bundle that was read, and can be unpacked.
type bundle struct {
	path   string
	sum    [sha256.Size]byte
	into   string
	limits Limits
	// program is the file that becomes executable, or empty.
	program string
}

// platforms are the manifest's names of systems.
var platforms = map[string]string{"windows": "win32", "darwin": "darwin", "linux": "linux"}

// readBundle reads the manifest of a bundle, and checks the names and sizes of its files.
func readBundle(file string, o Options) (*Server, error) {
	limits := o.Limits
	if limits == (Limits{}) {
		limits = DefaultLimits
	}
	b := &bundle{path: file, limits: limits}
	var m manifest
	err := b.open(func(z *zip.Reader, sum [sha256.Size]byte) error {
		b.sum = sum
		if err := b.checkFiles(z); err != nil {
			return err
		}
		f, err := z.Open("manifest.json")
		if err != nil {
			return errors.New("it has no manifest.json")
		}
		defer f.Close()
		raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
		if err != nil {
			return fmt.Errorf("its manifest.json cannot be read: %w", err)
		}
		if len(raw) > maxFile {
			return fmt.Errorf("its manifest.json has more than %d bytes", maxFile)
		}
		if err := decode(raw, &m); err != nil {
			return fmt.Errorf("its manifest.json cannot be read: %w", err)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s is not a bundle: %w", visible.Line(file), err)
	}
	if m.Name == "" {
		return nil, fmt.Errorf("%s is not a bundle: its manifest.json has no name", visible.Line(file))
	}
	if len(m.Compatibility.Platforms) > 0 && !slices.Contains(m.Compatibility.Platforms, platforms[o.OS]) {
		return nil, fmt.Errorf("the bundle is for %s, and not for this system", visible.Line(clipped(strings.Join(m.Compatibility.Platforms, ", "))))
	}
	b.into = filepath.Join(o.BundleDir, plainName(m.Name)+"-"+hex.EncodeToString(b.sum[:8]))
	s := &Server{Name: m.Name, bundle: b, Origin: fmt.Sprintf("the bundle %s, version %s", visible.Line(clipped(m.Name)), visible.Line(clipped(m.Version)))}
	if m.Description != "" {
		s.note("It says of itself: %s", visible.Line(clipped(m.Description)))
	}
	return s, s.fromManifest(m, o)
}

// notPlain is what a name of [plainName] has not.
var notPlain = lazyregexp.New(`[^A-Za-z0-9_-]+`)

// plainName returns a name that every file system allows.
func plainName(name string) string {
	plain := notPlain().ReplaceAllString(name, "-")
	return cmp.Or(strings.Trim(plain[:min(len(plain), 60)], "-"), "bundle")
}

// fromManifest makes the entry from the manifest.
func (s *Server) fromManifest(m manifest, o Options) error {
	launch := m.Server.Config
	if over, ok := launch.Platforms[platforms[o.OS]]; ok {
		launch.Command = cmp.Or(over.Command, launch.Command)
		if over.Args != nil {
			launch.Args = over.Args
		}
		env := maps.Clone(launch.Env)
		if env == nil {
			env = map[string]string{}
		}
		maps.Copy(env, over.Env)
		launch.Env = env
	}
	if launch.Command == "" {
		return errors.New("the bundle's manifest.json has no server.mcp_config.command")
	}
	if len(m.UserConfig) > maxTexts {
		return fmt.Errorf("the bundle asks for more than %d values", maxTexts)
	}
	s.entry = Entry{Type: protocol.TransportStdio}
	var err error
	text := func(in string) string {
		out, wrong := s.bundleText(in, m)
		err = errors.Join(err, wrong)
		return out
	}
	s.entry.Command = text(launch.Command)
	for _, arg := range launch.Args {
		s.entry.Args = append(s.entry.Args, text(arg))
	}
	for _, name := range slices.Sorted(maps.Keys(launch.Env)) {
		set(&s.entry.Env, name, text(launch.Env[name]))
	}
	if err != nil {
		return err
	}
	// Only a file of the bundle becomes executable.
	if rest, ok := strings.CutPrefix(strings.ReplaceAll(s.entry.Command, `\`, "/"), strings.ReplaceAll(s.bundle.into, `\`, "/")+"/"); ok && filepath.IsLocal(filepath.FromSlash(rest)) {
		s.bundle.program = rest
	}
	return pin(&s.entry, o.Pin)
}

// bundleText replaces the variables of a manifest by those of mcp.json.
func (s *Server) bundleText(text string, m manifest) (string, error) {
	var wrong error
	out := anyVariable().ReplaceAllStringFunc(text, func(match string) string {
		name := match[2 : len(match)-1]
		if key, ok := strings.CutPrefix(name, "user_config."); ok {
			c, known := m.UserConfig[key]
			if !known || len(key) > 200 || strings.ContainsAny(key, "${}") || visible.Line(key) != key {
				wrong = fmt.Errorf("the bundle uses the value %s, which its manifest does not ask for", visible.Line(clipped(key)))
				return ""
			}
			in, err := c.input(key)
			if err != nil {
				wrong = err
			}
			return s.input(in)
		}
		switch name {
		case "__dirname":
			return s.bundle.into
		case "HOME":
			return "${userHome}"
		case "DESKTOP", "DOCUMENTS", "DOWNLOADS":
			return "${userHome}${/}" + name[:1] + strings.ToLower(name[1:])
		case "/", "pathSeparator":
			return "${/}"
		}
		wrong = fmt.Errorf("the bundle uses the variable %s, which Assent does not know", visible.Line(clipped(match)))
		return ""
	})
	return out, wrong
}

// input returns a value that a bundle asks for.
func (c userConfig) input(key string) (Input, error) {
	in := Input{
		Name: key, Description: visible.Line(clipped(cmp.Or(c.Description, c.Title, key))), Secret: c.Sensitive, Required: c.Required, Multiple: c.Multiple,
	}
	switch v := c.Default.(type) {
	case nil:
	case string:
		in.Default = strings.NewReplacer("${HOME}", "${userHome}", "${DESKTOP}", "${userHome}${/}Desktop", "${DOCUMENTS}", "${userHome}${/}Documents",
			"${DOWNLOADS}", "${userHome}${/}Downloads").Replace(v)
	case bool, float64:
		in.Default = fmt.Sprint(v)
	case []any: // a list: the person gives the values
	default:
		return in, fmt.Errorf("the bundle's default of %q is neither a text, a number, true nor false", key)
	}
	for _, match := range anyVariable().FindAllString(in.Default, -1) {
		if match != "${userHome}" && match != "${/}" {
			return in, fmt.Errorf("the bundle's default of %q has a variable that Assent does not know", key)
		}
	}
	if strings.ContainsAny(in.Default, "\r\n\x00") {
		return in, fmt.Errorf("the bundle's default of %q has more than one line", key)
	}
	if c.Type == "boolean" {
		in.Options = []string{"true", "false"}
	}
	return in, nil
}

// open reads the file as a zip, with the SHA-256 of the whole.
func (b *bundle) open(use func(*zip.Reader, [sha256.Size]byte) error) (err error) {
	info, err := os.Stat(b.path)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("it is not a file")
	case info.Size() > b.limits.Packed:
		return fmt.Errorf("it has more than %d bytes", b.limits.Packed)
	}
	f, err := os.Open(b.path)
	if err != nil {
		return err
	}
	defer f.Close()
	hash := sha256.New()
	size, err := io.Copy(hash, io.LimitReader(f, b.limits.Packed+1))
	if err != nil {
		return err
	}
	if size > b.limits.Packed {
		return fmt.Errorf("it has more than %d bytes", b.limits.Packed)
	}
	directory := &bounded{ReaderAt: f, left: minDirectory + int64(b.limits.Files)*maxEntry}
	z, err := zip.NewReader(directory, size)
	switch {
	case directory.left < 0:
		return errors.New("its list of files is too long")
	case err != nil:
		return errors.New("it is not a zip file")
	}
	directory.left = math.MaxInt64
	return use(z, [sha256.Size]byte(hash.Sum(nil)))
}

// The directory of a bundle may have minDirectory bytes, and maxEntry more for each file, on average.
const (
	minDirectory = 128 << 10
	maxEntry     = 512
)

// bounded is a file of which only so many bytes can be read: package zip keeps what a directory lists in memory.
type bounded struct {
	io.ReaderAt
	left int64
}

// ReadAt implements [io.ReaderAt].
func (b *bounded) ReadAt(p []byte, off int64) (int, error) {
	if b.left -= int64(len(p)); b.left < 0 {
		return 0, errors.New("its directory is too large")
	}
	return b.ReaderAt.ReadAt(p, off)
}

// checkFiles refuses a bundle with files that must not be unpacked.
func (b *bundle) checkFiles(z *zip.Reader) error {
	if len(z.File) > b.limits.Files {
		return fmt.Errorf("it has more than %d files", b.limits.Files)
	}
	var size uint64
	seen := map[string]bool{}
	for _, f := range z.File {
		if err := checkPath(f.Name); err != nil {
			return err
		}
		if kind := f.Mode().Type(); kind != 0 && kind != fs.ModeDir {
			return fmt.Errorf("it has %s, which is neither a file nor a folder", visible.Line(clipped(f.Name)))
		}
		name := strings.ToLower(strings.TrimSuffix(f.Name, "/"))
		if seen[name] {
			return fmt.Errorf("it has the file %s twice", visible.Line(clipped(f.Name)))
		}
		seen[name] = true
		if size += f.UncompressedSize64; size > uint64(b.limits.Unpacked) || f.UncompressedSize64 > uint64(b.limits.Unpacked) {
			return b.tooLarge()
		}
	}
	return nil
}

func (b *bundle) tooLarge() error {
	return fmt.Errorf("it has more than %d bytes once it is unpacked", b.limits.Unpacked)
}

// checkPath refuses a path that leads out of the folder on any system, or that a person could not read.
func checkPath(name string) error {
	plain := strings.TrimSuffix(name, "/")
	if plain == "" || len(name) > maxPath || strings.ContainsAny(plain, `\:`) || path.Clean(plain) != plain || path.IsAbs(plain) ||
		plain == "." || plain == ".." || strings.HasPrefix(plain, "../") || visible.Line(plain) != plain || !filepath.IsLocal(filepath.FromSlash(plain)) {
		return fmt.Errorf("it has a file at a path that no bundle may have: %s", visible.Line(clipped(name)))
	}
	return nil
}

// Bundle returns the folder into which the files of a bundle are unpacked, or an empty text for another reference.
func (s *Server) Bundle() string {
	if s.bundle == nil {
		return ""
	}
	return s.bundle.into
}

// Unpack unpacks a bundle into its folder. It does nothing for another reference, or if the same bundle is there. Undo
// removes the written files.
func (s *Server) Unpack() (undo func() error, err error) {
	undo = func() error { return nil }
	b := s.bundle
	if b == nil {
		return undo, nil
	}
	if _, err := os.Lstat(b.into); err == nil {
		return undo, nil
	}
	if err := os.MkdirAll(filepath.Dir(b.into), 0o700); err != nil {
		return undo, err
	}
	part, err := os.MkdirTemp(filepath.Dir(b.into), ".part-")
	if err != nil {
		return undo, err
	}
	err = b.open(func(z *zip.Reader, sum [sha256.Size]byte) error {
		if sum != b.sum {
			return errors.New("it has changed since it was shown")
		}
		if err := b.checkFiles(z); err != nil {
			return err
		}
		return b.extract(z, part)
	})
	if err == nil {
		err = os.Rename(part, b.into)
	}
	if err != nil {
		return undo, errors.Join(fmt.Errorf("the bundle cannot be unpacked: %w", err), os.RemoveAll(part))
	}
	return func() error { return os.RemoveAll(b.into) }, nil
}

// extract writes the files of a checked bundle. It does not trust the sizes in headers.
func (b *bundle) extract(z *zip.Reader, folder string) (err error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	left := b.limits.Unpacked
	for _, f := range z.File {
		name := filepath.FromSlash(strings.TrimSuffix(f.Name, "/"))
		if f.FileInfo().IsDir() {
			if err := root.MkdirAll(name, 0o700); err != nil {
				return err
			}
			continue
		}
		if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return err
		}
		mode := fs.FileMode(0o600)
		if f.Mode()&0o111 != 0 || f.Name == b.program {
			mode = 0o700
		}
		n, err := b.write(root, f, name, mode, left)
		if err != nil {
			return err
		}
		left -= n
	}
	return nil
}

func (b *bundle) write(root *os.Root, f *zip.File, name string, mode fs.FileMode, left int64) (n int64, err error) {
	in, err := f.Open()
	if err != nil {
		return 0, err
	}
	defer in.Close()
	out, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return 0, err
	}
	n, err = io.Copy(out, io.LimitReader(in, left+1))
	if n > left {
		err = errors.Join(err, b.tooLarge())
	}
	return n, errors.Join(err, out.Close())
}
