package journal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"

	"assent/protocol"
	"assent/sidecar/task/journal"
)

// outcomeReasons reads the constants of [protocol.OutcomeReason] from its source.
func outcomeReasons(t *testing.T) (all []protocol.OutcomeReason) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../../protocol/ask.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		kind, ok := spec.Type.(*ast.Ident)
		if !ok || kind.Name != "OutcomeReason" {
			return true
		}
		reason, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, protocol.OutcomeReason(reason))
		return true
	})
	return all
}

// A new reason needs a text for the person, for the journal and in the documentation.
func TestEveryReasonHasItsWords(t *testing.T) {
	read := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	panel := read("../../../webview-ui/src/timeline/line.ts")
	_, panel, _ = strings.Cut(panel, "function described(")
	table := read("../../../docs/outcomes.md")
	reasons := outcomeReasons(t)
	if len(reasons) < 12 {
		t.Fatalf("found the reasons %q only", reasons)
	}
	for _, reason := range reasons {
		if words := journal.Words(reason); words == string(reason) && reason != protocol.OutcomeAnswered && reason != protocol.OutcomeDeclined {
			t.Errorf("the journal has no words for %q", reason)
		}
		if !strings.Contains(panel, `case "`+string(reason)+`"`) {
			t.Errorf("the panel has no words for %q", reason)
		}
		_, row, found := strings.Cut(table, "\n| `"+string(reason)+"` ")
		row, _, _ = strings.Cut(row, "\n")
		if cells := strings.Split(strings.Trim(row, "| "), "|"); !found || len(cells) != 4 {
			t.Errorf("docs/outcomes.md does not say what %q means for the person and for servers of either era: %q", reason, cells)
		}
	}
}
