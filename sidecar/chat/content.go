package chat

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"strings"
	"unicode/utf8"

	"assent/protocol"
)

const (
	// maxResultText bounds the text of one result that a model gets, in bytes.
	maxResultText = 100 << 10
	// maxImage bounds the images of one result, in bytes of base64. No provider accepts more.
	maxImage = 5 << 20
)

// cut shortens a text to at most that many bytes, at a character's boundary.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// cutNote tells a model that a text was truncated, and how long it was.
func cutNote(sent, whole int) string {
	return fmt.Sprintf("\n[cut here: %d of %d bytes are shown]", sent, whole)
}

// readable returns the part of a server's content that a model can get: texts and images. Other content is
// only named. It has at most maxResultText bytes of text, and a note if there was more.
func readable(content []protocol.ContentBlock, structured json.RawMessage) []protocol.ToolResultBlock {
	var blocks []protocol.ToolResultBlock
	left := maxResultText
	text := func(s string) {
		if len(s) > left {
			kept := cut(s, left)
			s = kept + cutNote(len(kept), len(s))
			left = 0
		} else {
			left -= len(s)
		}
		blocks = append(blocks, protocol.TextContent{Text: s})
	}
	images := 0
	image := func(mimeType, data string) bool {
		shown, ok := imageOf(mimeType, data)
		if ok = ok && images+len(data) <= maxImage; ok {
			images += len(data)
			blocks = append(blocks, shown)
		}
		return ok
	}
	hasJSON := false
	for _, block := range content {
		switch b := block.(type) {
		case protocol.TextContent:
			hasJSON = hasJSON || json.Valid([]byte(b.Text))
			text(b.Text)
		case protocol.ImageContent:
			if !image(b.MIMEType, b.Data) {
				text(fmt.Sprintf("[an image%s, which cannot be shown]", ofType(b.MIMEType)))
			}
		case protocol.AudioContent:
			text(fmt.Sprintf("[a sound%s, which cannot be played]", ofType(b.MIMEType)))
		case protocol.ResourceLink:
			text(linkText(b))
		case protocol.EmbeddedResource:
			if b.Resource.Blob == "" {
				text(fmt.Sprintf("[the resource %s]\n%s", brief(b.Resource.URI), b.Resource.Text))
			} else if !image(b.Resource.MIMEType, b.Resource.Blob) {
				text(fmt.Sprintf("[the resource %s, which cannot be shown]", brief(b.Resource.URI)+strings.Replace(ofType(b.Resource.MIMEType), " ", ", ", 1)))
			}
		case protocol.UnknownContent:
			text(strings.TrimSpace("[content of a kind that cannot be shown]\n" + string(b.Raw)))
		default:
			text("[content of a kind that cannot be shown]")
		}
		if left == 0 {
			return blocks
		}
	}
	// Tools with structured content should return its JSON as text too (2025-06-18, "Tools: Structured
	// Content"), but some do not.
	if len(structured) > 0 && !hasJSON {
		text(string(structured))
	}
	if len(blocks) == 0 {
		text("[it returned nothing]")
	}
	return blocks
}

// ofType names the type of content, if its server gave one.
func ofType(mimeType string) string {
	if mimeType == "" {
		return ""
	}
	return " of the type " + brief(mimeType)
}

// imageOf returns an image in the form that providers accept, or false if they do not accept its type or size.
func imageOf(mimeType, data string) (protocol.ImageContent, bool) {
	kind, _, err := mime.ParseMediaType(mimeType)
	if err != nil {
		return protocol.ImageContent{}, false
	}
	switch kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
	default:
		return protocol.ImageContent{}, false
	}
	if data == "" || len(data) > maxImage {
		return protocol.ImageContent{}, false
	}
	if _, err := base64.StdEncoding.DecodeString(data); err != nil {
		return protocol.ImageContent{}, false
	}
	return protocol.ImageContent{MIMEType: kind, Data: data}, true
}

func linkText(link protocol.ResourceLink) string {
	text := "[a link to the resource " + brief(link.URI)
	if link.Name != "" {
		text += ": " + brief(link.Name)
	}
	if link.Description != "" {
		text += ", " + brief(link.Description)
	}
	return text + "]"
}

// brief returns an untrusted text as one short line.
func brief(text string) string { return cut(strings.Join(strings.Fields(text), " "), 1000) }

// resultOf returns a call's result for a model.
func resultOf(toolUseID string, result protocol.CallResult) protocol.ToolResultContent {
	failed := func(text string) protocol.ToolResultContent { return failedUse(toolUseID, text) }
	switch r := result.(type) {
	case protocol.ToolResult:
		if r.RemovedAfter > 0 {
			return failed("The result was removed by the retention setting.")
		}
		return protocol.ToolResultContent{ToolUseID: toolUseID, Content: readable(r.Content, r.StructuredContent), IsError: r.IsError}
	case protocol.CallError:
		return failed(fmt.Sprintf("The server answered with the error %d: %s", r.Code, cut(r.Message, maxResultText)))
	case protocol.CallCancelled:
		return failed("The user cancelled the call.")
	case protocol.CallAbandoned:
		return failed("The call was abandoned: " + r.Reason)
	case protocol.CallLost:
		return failed("There is no result: " + cut(r.Reason, maxResultText))
	default:
		return failed("The call has not ended yet.")
	}
}

// failedUse is the result of a call that has none.
func failedUse(toolUseID, text string) protocol.ToolResultContent {
	return protocol.ToolResultContent{ToolUseID: toolUseID, Content: []protocol.ToolResultBlock{protocol.TextContent{Text: text}}, IsError: true}
}
