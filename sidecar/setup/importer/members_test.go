package importer_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assent/sidecar/setup/importer"
)

// TestEveryMemberOfAHostHasARow has the members that the hosts accept, from their schemas, sources and error texts.
func TestEveryMemberOfAHostHasARow(t *testing.T) {
	text, err := os.ReadFile("testdata/hostmembers.txt")
	if err != nil {
		t.Fatal(err)
	}
	hosts := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		host, names, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		hosts[host] = true
		for name := range strings.FieldsSeq(names) {
			if !slices.ContainsFunc(importer.Members(), func(m importer.Member) bool {
				return (m.Name == name || strings.HasPrefix(m.Name, name+".")) && (m.Hosts[0] == "*" || slices.Contains(m.Hosts, host))
			}) {
				t.Errorf("%s accepts %q, which has no row", host, name)
			}
		}
	}
	for _, pl := range (importer.Places{OS: "linux", Home: "/h", Env: func(string) string { return "" }, Folders: []string{"/f"}}).Files() {
		if !hosts[pl.ID()] {
			t.Errorf("%s has no members in testdata/hostmembers.txt", pl.ID())
		}
	}
	for _, m := range importer.Members() {
		for _, host := range m.Hosts {
			if host != "*" && !hosts[host] {
				t.Errorf("the row of %s names the unknown host %q", m.Name, host)
			}
		}
	}
}

// TestWhatIsTakenOutOfEntries: a host must not lose a member that it keeps, and must not keep one that it refuses beside a
// command.
func TestWhatIsTakenOutOfEntries(t *testing.T) {
	for _, m := range importer.Members() {
		outer, _, _ := strings.Cut(m.Name, ".")
		kept := m.Treatment == importer.Kept || m.Treatment == importer.Irrelevant
		if kept && m.Name != "env_vars" && slices.Contains(importer.Launch(), outer) {
			t.Errorf("%q stays for %v, and is taken out", m.Name, m.Hosts)
		}
	}
	for _, name := range []string{ // of Codex 0.171
		"url", "http_headers", "env_http_headers", "bearer_token_env_var", "bearer_token", "http_headers_helper", "oauth", "oauth_resource", "auth",
	} {
		if !slices.Contains(importer.Launch(), name) {
			t.Errorf("Codex refuses %q beside a command, and it stays", name)
		}
	}
}

func TestTheDocumentHasTheTables(t *testing.T) {
	const path, end = "../../../docs/setup.md", "<!-- end -->"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := string(text)
	for name, table := range map[string]string{"members": importer.MemberTable(), "variables": importer.VariableTable()} {
		begin := "<!-- " + name + ": go test ./sidecar/setup/importer -update -->\n"
		before, rest, ok := strings.Cut(want, begin)
		_, after, closed := strings.Cut(rest, end)
		if !ok || !closed {
			t.Fatalf("%s has no place for the table of %s", path, name)
		}
		want = before + begin + "\n" + table + "\n" + end + after
	}
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if squeezed(want) != squeezed(string(text)) {
		t.Errorf("%s has other tables: run go test ./sidecar/setup/importer -update, and npm run format", path)
	}
}

// TestEveryHostHasItsVariables: no host is left out of the table.
func TestEveryHostHasItsVariables(t *testing.T) {
	table := importer.VariableTable()
	for _, pl := range (importer.Places{OS: "linux", Home: "/h", Env: func(string) string { return "" }, Folders: []string{"/f"}}).Files() {
		if !strings.Contains(table, pl.ID()) {
			t.Errorf("%s is not in\n%s", pl.ID(), table)
		}
	}
}

var padding = regexp.MustCompile(` +|-{3,}`)

// squeezed returns a text without the padding of its tables, which the formatter adds.
func squeezed(text string) string {
	return padding.ReplaceAllStringFunc(text, func(run string) string { return run[:1] })
}
