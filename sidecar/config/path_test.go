package config

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// disk returns a system with the programs and small files of a map, by path. A program is an empty
// text.
func disk(s system, files map[string]string) system {
	s.isProgram = func(path string) bool {
		if !s.windows {
			path = filepath.ToSlash(path)
		}
		text, ok := files[path]
		return ok && text == ""
	}
	s.isFile = func(path string) bool {
		_, ok := files[path]
		return ok
	}
	below := func(folder string) (names []string) {
		for file := range files {
			if rest, ok := strings.CutPrefix(file, s.join(folder, "")); ok {
				name := strings.FieldsFunc(rest, func(r rune) bool { return r == '/' || s.windows && r == '\\' })[0]
				if !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
		slices.Sort(names)
		return names
	}
	s.isFolder = func(path string) bool { return len(below(path)) > 0 }
	s.entries = below
	s.read = func(path string) string { return files[path] }
	return s
}

func TestSearch(t *testing.T) {
	linux, windows, wsl := system{}, system{windows: true}, system{wsl: true}
	const pathext = ".COM;.EXE;.BAT;.CMD"
	tests := []struct {
		name    string
		system  system
		files   []string
		command string
		path    string
		want    string
		foreign string
	}{
		{"the first folder", linux, []string{"/a/npx", "/b/npx"}, "npx", "/a:/b", "/a/npx", ""},
		{"a relative folder", linux, []string{"a/npx", "/b/npx"}, "npx", "a::/b/", "/b/npx", ""},
		{"a file for another system's shell", windows, []string{`C:\n\npx`, `C:\n\npx.cmd`, `C:\n\npx.ps1`}, "npx", `C:\n`, `C:\n\npx.cmd`, ""},
		{"only a script", windows, []string{`C:\n\npx`, `C:\n\npx.ps1`}, "npx", `C:\n`, `C:\n\npx.ps1`, ""},
		{"an extension that is one", windows, []string{`C:\n\npx.cmd`}, "npx.cmd", `C:\n`, `C:\n\npx.cmd`, ""},
		{"an extension that is none", windows, []string{`C:\n\my.server`, `C:\n\my.server.exe`}, "my.server", `C:\n`, `C:\n\my.server.exe`, ""},
		{"a folder in quotes", windows, []string{`C:\a b\npx.exe`}, "npx", `rel;"C:\a b\"`, `C:\a b\npx.exe`, ""},
		{"Windows around a WSL", wsl, []string{"/mnt/c/n/npx", "/usr/bin/npx"}, "npx", "/mnt/c/n:/usr/bin", "/usr/bin/npx", "/mnt/c/n/npx"},
		{"only Windows around a WSL", wsl, []string{"/mnt/c/n/npx"}, "npx", "/mnt/c/n:/usr/bin", "", "/mnt/c/n/npx"},
		{"a program of Windows by its name", wsl, []string{"/mnt/c/n/x.exe"}, "x.exe", "/mnt/c/n", "/mnt/c/n/x.exe", ""},
		{"another mount", wsl, []string{"/mnt/data/npx"}, "npx", "/mnt/data", "/mnt/data/npx", ""},
		{"no WSL", linux, []string{"/mnt/c/npx"}, "npx", "/mnt/c", "/mnt/c/npx", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{}
			for _, f := range tt.files {
				files[f] = ""
			}
			s := disk(tt.system, files)
			got, foreign := s.search(tt.command, s.split(tt.path), pathext)
			if got != tt.want || foreign != tt.foreign {
				t.Errorf("search = %q, %q, want %q, %q", got, foreign, tt.want, tt.foreign)
			}
		})
	}
	if !isWSL("5.15.90.1-microsoft-standard-WSL2\n") || isWSL("6.1.0-21-amd64") {
		t.Error("isWSL")
	}
	if got := windows.candidates("x", ""); !slices.Contains(got, "x.exe") || slices.Contains(got, "x") {
		t.Errorf("candidates without PATHEXT = %v", got)
	}
}

func TestUsualFoldersInTheirOrder(t *testing.T) {
	tests := []struct {
		name   string
		system system
		home   string
		env    map[string]string
		files  []string
		alias  map[string]string
		want   []string
	}{
		{
			name: "managers of versions", home: "/h",
			files: []string{
				"/h/.nvm/versions/node/v9.1.0/bin/node", "/h/.nvm/versions/node/v20.1.0/bin/node", "/h/.nvm/versions/node/v20.10.0/bin/node",
				"/h/.volta/bin/node", "/h/.asdf/shims/node", "/h/.local/bin/uvx", "/h/.bun/bin/bunx", "/h/.deno/bin/deno", "/h/.cargo/bin/uv",
				"/h/.local/share/fnm/aliases/default/bin/node", "/h/.local/share/mise/shims/node",
			},
			want: []string{
				"/h/.nvm/versions/node/v20.10.0/bin", "/h/.nvm/versions/node/v20.1.0/bin", "/h/.nvm/versions/node/v9.1.0/bin",
				"/h/.local/share/fnm/aliases/default/bin", "/h/.volta/bin", "/h/.asdf/shims", "/h/.local/share/mise/shims",
				"/h/.local/bin", "/h/.cargo/bin", "/h/.bun/bin", "/h/.deno/bin",
			},
		},
		{
			name: "nvm's default", home: "/h", env: map[string]string{"NVM_DIR": "/nvm"},
			files: []string{"/nvm/versions/node/v20.1.0/bin/node", "/nvm/versions/node/v18.2.0/bin/node", "/nvm/versions/node/v18.1.0/bin/node"},
			alias: map[string]string{"/nvm/alias/default": "lts/hydrogen\n", "/nvm/alias/lts/hydrogen": "v18.1.0\n"},
			want:  []string{"/nvm/versions/node/v18.1.0/bin", "/nvm/versions/node/v20.1.0/bin", "/nvm/versions/node/v18.2.0/bin"},
		},
		{
			name: "the beginning of a version", home: "/h",
			files: []string{"/h/.nvm/versions/node/v20.1.0/bin/node", "/h/.nvm/versions/node/v2.0.0/bin/node"},
			alias: map[string]string{"/h/.nvm/alias/default": "2"},
			want:  []string{"/h/.nvm/versions/node/v2.0.0/bin", "/h/.nvm/versions/node/v20.1.0/bin"},
		},
		{
			name: "a Mac", system: system{darwin: true}, home: "/Users/me",
			files: []string{"/opt/homebrew/bin/node", "/usr/local/bin/docker", "/Users/me/Library/Application Support/fnm/aliases/default/bin/node"},
			want:  []string{"/Users/me/Library/Application Support/fnm/aliases/default/bin", "/opt/homebrew/bin", "/usr/local/bin"},
		},
		{
			name: "Windows", system: system{windows: true}, home: `C:\Users\me`,
			env:   map[string]string{"ProgramFiles": `C:\Program Files`, "APPDATA": `C:\Users\me\AppData\Roaming`},
			files: []string{`C:\Program Files\nodejs\npx.cmd`, `C:\Users\me\AppData\Roaming\npm\x.cmd`, `C:\Users\me\AppData\Local\Programs\Python\Python39\python.exe`, `C:\Users\me\AppData\Local\Programs\Python\Python312\python.exe`, `C:\Users\me\.local\bin\uvx.exe`},
			want: []string{
				`C:\Program Files\nodejs`, `C:\Users\me\AppData\Roaming\npm`, `C:\Users\me\AppData\Local\Programs\Python\Python312`,
				`C:\Users\me\AppData\Local\Programs\Python\Python39`, `C:\Users\me\.local\bin`,
			},
		},
		{name: "no home", files: []string{"/bin/sh", "/.volta/bin/node"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{}
			for _, f := range tt.files {
				files[f] = ""
			}
			maps.Copy(files, tt.alias)
			got := disk(tt.system, files).usual(tt.home, func(name string) string { return tt.env[name] })
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("usual (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheFailureSaysWhereAndWhatToDo(t *testing.T) {
	s := disk(system{wsl: true}, map[string]string{"/mnt/c/n/npx": "", "/h/.volta/bin/x": ""})
	shell := &LoginShell{shell: "/bin/zsh", path: func() (string, error) { return "/usr/bin:/opt/x/bin", nil }}
	var many []string
	for letter := range strings.SplitSeq("abcdefghijklmnopqrstuvwxyzABCDEFGH", "") {
		many = append(many, "/"+letter)
	}
	tests := []struct {
		name, command string
		e             Environment
		want          string
	}{
		{
			"all of it", "npx",
			Environment{Environ: []string{"PATH=/usr/bin:/mnt/c/n"}, Home: "/h", Shell: shell},
			`the command "npx" was not found in PATH, which is /usr/bin:/mnt/c/n; nor in what the login shell /bin/zsh adds, which is /opt/x/bin; ` +
				"nor in the usual folders for programs: /h/.volta/bin. " +
				"There is /mnt/c/n/npx, but it belongs to Windows and cannot work with the files of this Linux. " +
				`Install Node.js, which npx comes with, or give the program's full path as "command"`,
		},
		{
			"a login shell that adds nothing", "no-such",
			Environment{Environ: []string{"PATH=/usr/bin:/opt/x/bin"}, Shell: shell},
			`the command "no-such" was not found in PATH, which is /usr/bin:/opt/x/bin; nor is there more in the PATH of the login shell /bin/zsh. ` +
				`Install it, or give the program's full path as "command"`,
		},
		{
			"no PATH, and no answer", "uvx",
			Environment{Shell: &LoginShell{path: func() (string, error) { return "", errorText("it hangs") }}},
			`the command "uvx" was not found in PATH, which is empty; and the login shell could not be asked for its own: it hangs. ` +
				`Install uv, which uvx comes with, or give the program's full path as "command"`,
		},
		{
			"a long PATH", "docker",
			Environment{Environ: []string{"PATH=" + strings.Join(many, ":")}},
			`the command "docker" was not found in PATH, which is ` + strings.Join(many[:30], ":") + " and 4 more folders. " +
				`Install Docker and start it, or give the program's full path as "command"`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := tt.e.lookPath(s, tt.command, "/", tt.e.Environ, tt.e.Environ)
			if err == nil {
				t.Fatal("it was found")
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

type errorText string

func (e errorText) Error() string { return string(e) }

func TestTheServerGetsThePATHThatLedToIt(t *testing.T) {
	files := map[string]string{"/login/bin/npx": "", "/login/bin/node": "", "/usr/bin/node": "", "/h/.volta/bin/uvx": "", "/app/bin/tool": ""}
	shell := &LoginShell{path: func() (string, error) { return "/login/bin:/usr/bin", nil }}
	e := Environment{Environ: []string{"PATH=/usr/bin:/inherited"}, Home: "/h", Shell: shell}
	tests := []struct{ name, command, own, want, path string }{
		{"in what was inherited", "node", "", "/usr/bin/node", "/usr/bin:/inherited"},
		{"from the login shell", "npx", "", "/login/bin/npx", "/login/bin:/usr/bin:/inherited"},
		{"beside a PATH of its own", "npx", "/own", "/login/bin/npx", "/own:/login/bin:/usr/bin"},
		{"in a usual folder", "uvx", "", "/h/.volta/bin/uvx", "/h/.volta/bin:/usr/bin:/inherited"},
		{"by its path", "/app/bin/tool", "", "/app/bin/tool", "/usr/bin:/inherited:/app/bin"},
		{"by a relative path", "./bin/tool", "", "/app/bin/tool", "/usr/bin:/inherited"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env := slices.Clone(e.Environ)
			if tt.own != "" {
				env = setEnv(env, "PATH", tt.own)
			}
			got, env, err := e.lookPath(disk(system{}, files), tt.command, "/app", env, env)
			if err != nil || path.Clean(filepath.ToSlash(got)) != tt.want || LookupEnv(env, "PATH") != tt.path {
				t.Errorf("lookPath = %q, PATH %q, %v, want %q, %q", got, LookupEnv(env, "PATH"), err, tt.want, tt.path)
			}
		})
	}
	if e.Environ[0] != "PATH=/usr/bin:/inherited" {
		t.Errorf("the environment to inherit was changed: %v", e.Environ)
	}
}

func TestWindowsScriptsAreStarted(t *testing.T) {
	s, env := system{windows: true}, []string{`SystemRoot=D:\Win`}
	args := []string{"-y", "", `a b`, `c&d|e`, `%PATH%`, `say "hi"`, `end\`, `q\"`, "^!"}
	got, err := s.invoke("npx", `C:\Program Files\nodejs\npx.CMD`, args, env)
	if err != nil {
		t.Fatal(err)
	}
	want := invocation{
		program: `D:\Win\System32\cmd.exe`,
		args:    append([]string{"npx"}, args...),
		line: `cmd.exe /e:ON /v:OFF /d /c ""C:\Program Files\nodejs\npx.CMD" "-y" "" "a b" "c&d|e" "%%cd:~,%PATH%%cd:~,%"` +
			` "say ""hi""" "end\\" "q\\""" "^!""`,
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(invocation{})); diff != "" {
		t.Errorf("a batch file (-want +got):\n%s", diff)
	}
	got, err = s.invoke("x", `C:\x.ps1`, []string{"a b"}, nil)
	powershell := `C:\Windows\System32\WindowsPowerShell\v1.0\powershell.exe`
	want = invocation{program: powershell, args: []string{powershell, "-NoLogo", "-NoProfile", "-NonInteractive", "-File", `C:\x.ps1`, "a b"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(invocation{})); diff != "" || err != nil {
		t.Errorf("a script, %v (-want +got):\n%s", err, diff)
	}
	got, err = s.invoke("x", `C:\x.exe`, []string{"%A%"}, nil)
	if got.program != `C:\x.exe` || got.line != "" || err != nil {
		t.Errorf("a program: %+v, %v", got, err)
	}
	for _, arg := range []string{"a\nb", "a\rb", "a\x00b"} {
		if _, err := s.invoke("x", `C:\x.cmd`, []string{"ok", arg}, nil); err == nil || !strings.Contains(err.Error(), "the argument 2 has a line break") {
			t.Errorf("%q: %v", arg, err)
		}
	}
	if _, err := s.invoke("x", `C:\%A%\x.cmd`, nil, nil); err == nil {
		t.Error("a batch file in a folder named by a variable was started")
	}
	if got, err := (system{}).invoke("x", "/x.cmd", []string{"%A%"}, nil); err != nil || got.program != "/x.cmd" || got.line != "" {
		t.Errorf("another system: %+v, %v", got, err)
	}
}

func TestAPathThatIsNoneIsExplained(t *testing.T) {
	s := disk(system{}, map[string]string{"/usr/bin/node": ""})
	e := Environment{Environ: []string{"PATH=/usr/bin"}}
	for command, want := range map[string]string{
		"node /path/x.mjs": `Give "node" as "command" and "/path/x.mjs", word by word, as "args".`,
		"npx -y @a/b":      `Give "npx" as "command" and "-y @a/b", word by word, as "args".`,
		"~/bin/x":          `for ~ write ${userHome}, as in "${userHome}/bin/x"`,
		"$HOME/bin/x":      "for $HOME write ${env:HOME}",
		"%APPDATA%/x":      "for %APPDATA% write ${env:APPDATA}",
	} {
		if _, _, err := e.lookPath(s, command, "/", e.Environ, e.Environ); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", command, err, want)
		}
	}
}
