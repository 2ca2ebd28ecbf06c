package terminal

import (
	"strings"
	"testing"

	"assent/protocol"
)

func TestATerminalSaysWhatHasChangedOfATool(t *testing.T) {
	text := toolText(protocol.UseMcpTool{
		Origin: protocol.Origin{ServerName: "s"}, Tool: protocol.Tool{Name: "t"},
		Changed: &protocol.ToolChange{By: "VS Code", Tool: true, Server: true, Truncated: true, Lines: []protocol.DiffLine{
			{Kind: protocol.DiffSame, Text: "Description:"},
			{Kind: protocol.DiffRemoved, Text: "Reads."},
			{Kind: protocol.DiffAdded, Text: "Sends \u202eit."},
			{Kind: protocol.DiffGap},
		}},
	})
	for _, want := range []string{
		"! It has changed since you allowed it in VS Code on ",
		"Its server is configured otherwise now",
		"Its server describes it otherwise:\n    Description:\n  - Reads.\n  + Sends <U+202E>it.\n  …\n  … and more\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}
