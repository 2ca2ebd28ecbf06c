package terminal

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"assent/protocol"
	"assent/sidecar/base/visible"
	"assent/sidecar/broker/form"
)

// missingCapability is the code of a server that needs a capability that the client did not declare (2026-07-28,
// "Client Capabilities").
const missingCapability = -32021

// finish prints how a call ended, and returns the error for the exit code.
func (s *session) finish(result protocol.CallResult) error {
	if s.line.json {
		if err := s.printJSON(result); err != nil {
			return err
		}
	}
	switch r := result.(type) {
	case protocol.ToolResult:
		if !s.line.json {
			text := resultText(r)
			if err := s.print("%s", text); err != nil {
				return err
			}
			switch empty := strings.TrimSpace(text) == ""; {
			case empty && r.IsError:
				s.note("The tool failed, and the server does not say why.")
			case empty:
				s.note("The result has no content.")
			}
		}
		if r.IsError {
			return errToolFailed
		}
		return nil
	case protocol.PromptResult:
		if s.line.json {
			return nil
		}
		return s.print("%s", promptText(r))
	case protocol.CallError:
		text := fmt.Sprintf("the server gave the error %d: %s", r.Code, r.Message)
		if len(r.Data) > 0 {
			text += " " + string(r.Data)
		}
		if r.Code == missingCapability && s.answerer == nil {
			return &unanswered{safe(text) + "\n" + nobody}
		}
		return fmt.Errorf("%s", text)
	case protocol.CallAbandoned:
		if s.answerer == nil {
			return &unanswered{safe(r.Reason) + "\n" + nobody}
		}
		return &unanswered{safe(r.Reason)}
	case protocol.CallLost:
		return &lostError{r.Reason}
	case protocol.CallCancelled:
		return fmt.Errorf("the call was cancelled")
	}
	return fmt.Errorf("the call ended in a way that a terminal does not know: %T", result)
}

// printJSON prints a value of the protocol, indented. Hidden characters are escaped, which does not change the value.
func (s *session) printJSON(v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return s.write(string(visible.JSON(text)) + "\n")
}

// resultText returns a tool's result as text. It names content that is not text, and appends the structured content
// unless the texts repeat it.
func resultText(r protocol.ToolResult) string {
	var b strings.Builder
	var texts []string
	for _, block := range r.Content {
		text := blockText(block)
		texts = append(texts, text)
		b.WriteString(text)
		if !strings.HasSuffix(text, "\n") {
			b.WriteByte('\n')
		}
	}
	if len(r.StructuredContent) > 0 && form.Repeated(r.StructuredContent, texts) == nil {
		b.Write(r.StructuredContent)
		b.WriteByte('\n')
	}
	return b.String()
}

// aboutBytes says how large content is, and where it is.
func aboutBytes(size int) string { return fmt.Sprintf("about %d bytes: --output json has it", size) }

// inBrackets lists the known facts about content.
func inBrackets(parts ...string) string {
	return "[" + strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ", ") + "]"
}

// blockText returns a content block for reading.
func blockText(block protocol.ContentBlock) string {
	size := func(data string) int { return base64.StdEncoding.DecodedLen(len(strings.TrimRight(data, "="))) }
	switch c := block.(type) {
	case protocol.TextContent:
		return c.Text
	case protocol.ImageContent:
		return inBrackets("an image", c.MIMEType, aboutBytes(size(c.Data)))
	case protocol.AudioContent:
		return inBrackets("a sound", c.MIMEType, aboutBytes(size(c.Data)))
	case protocol.ResourceLink:
		if c.Name == "" {
			return fmt.Sprintf("[%s]", c.URI)
		}
		return fmt.Sprintf("[%s: %s]", c.Name, c.URI)
	case protocol.EmbeddedResource:
		if c.Resource.Blob == "" {
			return c.Resource.Text
		}
		return inBrackets(cmp.Or(c.Resource.URI, "a resource without a URI"), c.Resource.MIMEType, aboutBytes(size(c.Resource.Blob)))
	case protocol.ToolUseContent:
		return fmt.Sprintf("[calls %s with %s]", cmp.Or(c.Name, "a tool without a name"), cmp.Or(string(c.Input), "nothing"))
	case protocol.ToolResultContent:
		var parts []string
		for _, part := range c.Content {
			parts = append(parts, blockText(part))
		}
		return fmt.Sprintf("[the result of %s: %s]", cmp.Or(c.ToolUseID, "a call without an id"), cmp.Or(strings.Join(parts, "\n"), "nothing"))
	case protocol.UnknownContent:
		return string(c.Raw)
	}
	return "[something that a terminal cannot show]"
}
