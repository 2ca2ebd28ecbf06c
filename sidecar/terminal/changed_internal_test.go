package terminal

import (
	"errors"
	"strings"
	"testing"

	"assent/protocol"
)

func TestATerminalSaysWhatHasChangedOfATool(t *testing.T) {
	tool := protocol.UseMcpTool{
		Origin: protocol.Origin{ServerName: "s"}, Tool: protocol.Tool{Name: "t"},
		Changed: &protocol.ToolChange{By: "VS Code", Tool: true, Server: true, Truncated: true, Lines: []protocol.DiffLine{
			{Kind: protocol.DiffSame, Text: "Description:"},
			{Kind: protocol.DiffRemoved, Text: "Reads."},
			{Kind: protocol.DiffAdded, Text: "Sends \u202eit."},
			{Kind: protocol.DiffGap},
		}},
	}
	var lines strings.Builder
	p := newPerson(&session{
		o:      Options{Stdin: strings.NewReader("no\n"), Stderr: &lines},
		stderr: stderr{width: func() int { return 0 }},
	})
	if _, err := p.allow(t.Context(), &openAsk{Ask: protocol.Ask{Question: tool}}, nil); !errors.Is(err, errDeclined) {
		t.Errorf("the answer is %v, want a no", err)
	}
	for name, text := range map[string]string{"a dialog": toolText(tool), "lines": lines.String()} {
		for _, want := range []string{
			"! This tool or its server has changed since you allowed it in VS Code on ",
			"Its server has another configuration now",
			"Its server describes it differently now:\n    Description:\n  - Reads.\n  + Sends <U+202E>it.\n  …\n  … and more\n",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("in %s, %q is not in\n%s", name, want, text)
			}
		}
	}
}
