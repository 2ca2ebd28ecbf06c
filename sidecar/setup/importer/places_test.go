package importer

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/sidecar/config"
)

// TestPlaces compares where each system's programs are looked for with testdata/places.
func TestPlaces(t *testing.T) {
	none := map[string]string{}
	tests := []struct {
		name string
		p    Places
		env  map[string]string
	}{
		{"linux", Places{OS: "linux", Home: "/home/me", Folders: []string{"/src"}}, none},
		{"darwin", Places{OS: "darwin", Home: "/Users/me", Folders: []string{"/src"}}, none},
		{"windows", Places{OS: "windows", Home: `C:\Users\me`, Folders: []string{`d:\src`}}, none},
		{"home-is-open", Places{OS: "linux", Home: "/home/me", Folders: []string{"/home/me"}}, none},
		{"moved", Places{OS: "linux", Home: "/home/me"}, map[string]string{"XDG_CONFIG_HOME": "/config", "XDG_DATA_HOME": "/data", "CLAUDE_CONFIG_DIR": "/claude"}},
		{"moved-hosts", Places{OS: "linux", Home: "/home/me", Folders: []string{"/src"}}, map[string]string{
			"CODEX_HOME": "codex", "COPILOT_HOME": "/copilot", "GEMINI_CLI_HOME": "/gemini", "QWEN_HOME": "~/qwen", "OPENCODE_CONFIG": "/opencode/mine.json",
			"OPENCODE_CONFIG_DIR": "/opencode/dir", "GOOSE_PATH_ROOT": "/goose", "CONTINUE_GLOBAL_DIR": "/continue", "AMP_SETTINGS_FILE": "/amp.json",
		}},
		{"moved-windows", Places{OS: "windows", Home: `C:\Users\me`}, map[string]string{"APPDATA": `R:\Roaming`, "LOCALAPPDATA": `L:\Local`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.p.Env = func(name string) string { return tt.env[name] }
			var got strings.Builder
			seen := map[string]bool{}
			for _, pl := range tt.p.all() {
				fmt.Fprintf(&got, "%-40s %s\n", pl.Program, pl.Path)
				if seen[pl.Path] {
					t.Errorf("%s is looked at twice", pl.Path)
				}
				seen[pl.Path] = true
			}
			golden := filepath.Join("testdata", "places", tt.name+".txt")
			if flag.Lookup("update").Value.String() == "true" {
				if err := os.WriteFile(golden, []byte(got.String()), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzInsert(f *testing.F) {
	f.Add("{\"servers\": {\"x\": {}, // y\n}}", "a", `{"command": "x"}`)
	f.Add("{\"inputs\": [/**/], }", "a/~b\x00", `{"url": "http://x", "args": []}`)
	f.Fuzz(func(t *testing.T, old, name, entry string) {
		name = strings.ToValidUTF8(name, "?") // as every text is that JSON was read from
		if name == "" {
			return
		}
		root, err := config.Parse([]byte(entry))
		if err != nil {
			return
		}
		s := Server{Name: name, Entry: standard(root), inputs: []input{{id: "i", raw: []byte(`{"id": "i"}`)}}}
		text, added, err := Insert([]byte(old), []Server{s, s})
		if err != nil {
			return
		}
		again, addedAgain, err := Insert(text, []Server{s})
		if err != nil || len(addedAgain) != 0 || len(added) > 1 || len(added) == 1 && string(again) != string(text) {
			t.Errorf("%q became %q with %v, and then %q with %v, %v", old, text, added, again, addedAgain, err)
		}
	})
}
