package journal_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// docs/journal.md has a row for each kind of record, in one table.
func TestEveryKindIsDocumentedOnce(t *testing.T) {
	names := func(file, pattern string) (names []string) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join("..", "..", "..", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
			names = append(names, match[1])
		}
		slices.Sort(names)
		return names
	}
	declared := names("protocol/journal.go", `JournalKind = "(\w+)"`)
	if diff := cmp.Diff(declared, names("docs/journal.md", "(?m)^\\| `(\\w+)`")); diff != "" {
		t.Errorf("kinds (-declared +documented):\n%s", diff)
	}
	if heads := names("docs/journal.md", `(?m)^\| (kind) `); len(heads) != 1 {
		t.Errorf("docs/journal.md has %d tables of kinds, want 1", len(heads))
	}
}
