package setup_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/sidecar/setup/importer"
)

// author writes a host's file at random, as people and programs do: with members that no host has, in any order, with
// comments, and in the host's format.
type author struct {
	*rand.Rand
	pl       importer.Place
	comments bool // the host reads them
	text     bytes.Buffer
	// servers are the entries, of which those with an unknown member have to stay.
	servers []randomServer
	words   int
}

type randomServer struct {
	name       string
	begin, end int // in the text
	stays      bool
}

// member is a member with its value in JSON.
type member struct{ name, value string }

// randomHosts are files by their container, with a server's members that move.
var randomHosts = []struct {
	path, container string
	launch          []member
}{
	{claudeFile, "mcpServers", []member{{"type", `"stdio"`}, {"command", `"npx"`}, {"args", `["-y", "x"]`}, {"env", `{"A": "b"}`}}},
	{cursorPath, "mcpServers", []member{{"command", `"npx"`}, {"args", `["-y", "a\u00e9"]`}, {"env", `{"A": "b", "C": "// d"}`}}},
	{geminiFile, "mcpServers", []member{{"command", `"npx"`}, {"args", `[]`}, {"cwd", `"/w"`}}},
	{vscodeFile, "servers", []member{{"command", `"npx"`}, {"args", `["/* x */"]`}, {"env", `{}`}}},
	{copilotFile, "mcpServers", []member{{"url", `"https://h/"`}, {"type", `"http"`}, {"headers", `{"A": "b"}`}}},
	{opencodeFile, "mcp", []member{{"type", `"local"`}, {"command", `["npx", "x"]`}, {"environment", `{"A": "b"}`}}},
	{zedFile, "context_servers", []member{{"command", `"npx"`}, {"args", `["x"]`}}},
	{windsurfFile, "mcpServers", []member{{"serverUrl", `"https://h/"`}}},
	{codexFile, "mcp_servers", []member{{"command", `"npx"`}, {"args", `["-y", "# x"]`}, {"env", `{ A = "b", C = "d" }`}}},
	{gooseFile, "extensions", []member{{"type", `"stdio"`}, {"cmd", `"npx"`}, {"args", `["-y", "# x"]`}, {"envs", `{"A": "b"}`}}},
	{continueFile, "mcpServers", []member{{"command", `"npx"`}, {"args", `["x"]`}, {"env", `{"A": "b"}`}}},
}

func (a *author) pick(words ...string) string { return words[a.IntN(len(words))] }

// word returns a word that no host knows.
func (a *author) word() string {
	a.words++
	return fmt.Sprintf("%s%d", a.pick("x", "commandLine", "Args", "envs_", "größe", "mcpServer"), a.words)
}

// value returns a value that JSON and YAML have, and TOML too if it is simple.
func (a *author) value(simple bool) string {
	kinds := []string{"1", "-20", `"text"`, `"// no comment"`, `"# none"`, `"\u00e9\"\\"`, "true", "false", `[1, 2]`, `["a", "b"]`, "[]", `""`}
	if !simple {
		kinds = append(kinds, "null", "1.50", "-0", "12345678901234567890", `{}`, `{"a": [{"b": null}], "command": "y"}`, "[[], {}]")
	}
	return a.pick(kinds...)
}

// members returns members of a server in any order.
func (a *author) members(launch []member) (all []member, stays bool) {
	all = slices.Clone(launch)
	for _, m := range importer.Members() {
		isWord := m.Treatment == importer.Irrelevant || m.Treatment == importer.Kept
		if isWord && (m.Hosts[0] == "*" || slices.Contains(m.Hosts, a.pl.ID())) && a.IntN(8) == 0 && m.Name != "name" && m.Name != "env_vars" && !strings.ContainsAny(m.Name, "./") {
			all = append(all, member{m.Name, a.value(true)})
		}
	}
	if stays = a.IntN(4) == 0; stays {
		all = append(all, member{a.word(), a.value(true)})
	}
	a.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all, stays
}

func (a *author) add(texts ...string) {
	for _, text := range texts {
		a.text.WriteString(text)
	}
}

// gap is what may be between two tokens of JSON.
func (a *author) gap() {
	a.add(a.pick("", " ", "\n  ", "\t", "\n\n"))
	if a.comments && a.IntN(4) == 0 {
		a.add(a.pick("/* note */", "// note, with \"words\"\n", "/* { */ "))
	}
}

// object writes an object, with its values by write.
func (a *author) object(names []string, write func(i int)) {
	a.add("{")
	for i, name := range names {
		a.gap()
		a.add(`"`, name, `"`)
		a.gap()
		a.add(":")
		a.gap()
		write(i)
		a.gap()
		if i+1 < len(names) || a.comments && a.IntN(3) == 0 {
			a.add(",")
		}
	}
	a.gap()
	a.add("}")
}

func (a *author) json(container string, launch []member) {
	names := []string{a.word(), a.word(), container}
	a.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	a.object(names, func(i int) {
		if names[i] != container {
			a.add(a.value(false))
			return
		}
		servers := []string{"one", "two", "three~/"}[:1+a.IntN(3)]
		a.object(servers, func(i int) {
			members, stays := a.members(launch)
			var names []string
			for _, m := range members {
				names = append(names, m.name)
			}
			begin := a.text.Len()
			a.object(names, func(i int) { a.add(members[i].value) })
			a.servers = append(a.servers, randomServer{servers[i], begin, a.text.Len(), stays})
		})
	})
}

// line is a line that is no member.
func (a *author) line() {
	for a.IntN(3) == 0 {
		a.add(a.pick("\n", "# note\n", "# [x] y: z = \"\n"))
	}
}

func (a *author) toml(container string, launch []member) {
	a.line()
	a.add(quotedKey(a.word()), " = ", a.value(true), a.pick("\n", " # note\n"))
	for i, name := range []string{"one", `"two three"`, "four"}[:1+a.IntN(3)] {
		a.line()
		a.add("[other", fmt.Sprint(i), "]\nx = 1 # x\n")
		a.line()
		members, stays := a.members(launch)
		begin := a.text.Len()
		a.add("[", container, ".", name, "]", a.pick("", " # note"), "\n")
		var table string
		for _, m := range members {
			if m.name == "env" && a.IntN(2) == 0 {
				table = m.value
				continue
			}
			a.add(a.pick("", "  ", "\t"), quotedKey(m.name), a.pick(" = ", "=", "  =  "), m.value, a.pick("", " # note"), "\n")
		}
		if table != "" {
			a.add("[", container, ".", name, ".env]\n", strings.ReplaceAll(strings.Trim(table, "{ }"), ", ", "\n"), "\n")
		}
		a.servers = append(a.servers, randomServer{strings.Trim(name, `"`), begin, a.text.Len(), stays})
	}
	a.line()
}

func quotedKey(name string) string {
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == "" {
		return name
	}
	return `"` + name + `"`
}

func (a *author) yaml(container string, launch []member, isList bool) {
	a.line()
	a.add(a.word()+": ", a.value(false), a.pick("\n", " # note\n"), container, ":", a.pick("", " # note"), "\n")
	outer := strings.Repeat(" ", 1+a.IntN(4))
	inner := outer + strings.Repeat(" ", 2+2*a.IntN(2))
	for _, name := range []string{"one", "two three", "four"}[:1+a.IntN(3)] {
		a.line()
		members, stays := a.members(launch)
		begin := a.text.Len()
		if isList {
			a.add(outer, "-", inner[len(outer)+1:], "name: ", name, "\n")
		} else {
			a.add(outer, name, ":", a.pick("", " # note"), "\n")
		}
		for _, m := range members {
			a.add(inner, quotedKey(m.name), ": ", m.value, a.pick("", " # note"), "\n")
		}
		a.servers = append(a.servers, randomServer{name, begin, a.text.Len(), stays})
	}
	a.line()
	a.add(a.word(), ": ", a.value(false), "\n")
}

// TestRandomFilesComeBack: the servers' entries change, and nothing else does. A server with an unknown member stays, and the
// plan names it. Restore gives the earlier bytes. The name of a subtest is its seed.
func TestRandomFilesComeBack(t *testing.T) {
	for seed := range uint64(10 * len(randomHosts)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			host := randomHosts[seed%uint64(len(randomHosts))]
			m := newMachine(t)
			a := &author{Rand: rand.New(rand.NewPCG(seed, 7)), pl: m.place(host.path), comments: host.path != claudeFile && seed%3 != 0}
			switch {
			case strings.HasSuffix(host.path, ".toml"):
				a.toml(host.container, host.launch)
			case strings.HasSuffix(host.path, ".yaml"):
				a.yaml(host.container, host.launch, host.path == continueFile)
			default:
				a.json(host.container, host.launch)
			}
			data := a.text.Bytes()
			ends := func(part []byte) []byte { return part }
			if a.IntN(3) == 0 {
				ends = func(part []byte) []byte { return bytes.ReplaceAll(part, []byte("\n"), []byte("\r\n")) }
			}
			var outside [][]byte // the parts that stay
			at, stays := 0, 0
			for _, s := range a.servers {
				if s.stays {
					stays++
					continue
				}
				outside = append(outside, ends(data[at:s.begin]))
				at = s.end
			}
			outside = append(outside, ends(data[at:]))
			data = ends(data)
			if a.IntN(4) == 0 {
				data, outside[0] = append([]byte("\ufeff"), data...), append([]byte("\ufeff"), outside[0]...)
			}
			m.write(host.path, data)
			before := m.entries(host.path)
			plan := m.find()
			if len(plan.Problems) != stays || len(plan.Servers) != len(a.servers)-stays {
				t.Fatalf("%d of %d servers stay, and the plan has %+v, of\n%s", stays, len(a.servers), plan.Problems, data)
			}
			m.route()
			routed := m.read(host.path)
			rest, last := routed, len(outside)-1
			for i, part := range outside {
				found := bytes.Index(rest, part)
				if found < 0 || i == 0 && found > 0 || i == last && !bytes.HasSuffix(routed, part) {
					t.Fatalf("%q is not where it was.\nBefore:\n%s\nAfter:\n%s", part, data, routed)
				}
				rest = rest[found+len(part):]
			}
			after := m.entries(host.path)
			for _, s := range a.servers {
				was, is := before[s.name], after[s.name]
				if !s.stays {
					for _, l := range append(slices.Clone(host.launch), member{"command", ""}, member{"args", ""}) {
						delete(was, l.name)
						delete(is, l.name)
					}
				}
				if diff := cmp.Diff(was, is); diff != "" {
					t.Errorf("%q (-before +after):\n%s\nBefore:\n%s\nAfter:\n%s", s.name, diff, data, routed)
				}
			}
			if !stricter(data, routed) {
				t.Errorf("this is plain JSON no more:\n%s", routed)
			}
			m.restore()
			if got := m.read(host.path); !bytes.Equal(got, data) {
				t.Errorf("restored is\n%s, want\n%s", got, data)
			}
			if _, err := os.Stat(m.UserFile); err == nil {
				t.Error("the person's own file is left")
			}
		})
	}
}

// entries returns the members of each entry of a file as the file has them.
func (m *machine) entries(name string) map[string]map[string]string {
	m.t.Helper()
	all := map[string]map[string]string{}
	for _, f := range m.found(name) {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(f.Value, &members); err != nil {
			m.t.Fatal(err)
		}
		all[f.Name] = map[string]string{}
		for key, value := range members {
			all[f.Name][key] = string(value)
		}
	}
	return all
}
