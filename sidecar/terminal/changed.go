package terminal

import (
	"fmt"
	"strings"
	"time"

	"assent/protocol"
)

// changeText describes how a tool has changed since a person last allowed it to run, with hidden characters made
// visible. It returns "" for a tool that has not changed.
func changeText(c *protocol.ToolChange) string {
	if c == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "! This tool or its server has changed since you allowed it in %s on %s.\n", safe(c.By), time.UnixMilli(c.At).Format("2 Jan 2006, 15:04"))
	if c.Server {
		b.WriteString("Its server has another configuration now.\n")
	}
	if c.Tool && c.Lines == nil {
		b.WriteString("Its server describes it differently now. The earlier description was not saved.\n")
	}
	if c.Lines != nil {
		b.WriteString("Its server describes it differently now:\n")
	}
	marks := map[protocol.DiffKind]string{protocol.DiffRemoved: "- ", protocol.DiffAdded: "+ ", protocol.DiffGap: "…", protocol.DiffSame: "  "}
	for _, line := range c.Lines {
		fmt.Fprintf(&b, "  %s%s\n", marks[line.Kind], safe(line.Text))
	}
	if c.Truncated {
		b.WriteString("  … and more\n")
	}
	return b.String()
}
