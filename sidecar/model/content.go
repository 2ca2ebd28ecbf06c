package model

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"assent/protocol"
	"assent/sidecar/base/base64text"
)

const (
	// MaxResultText bounds the text of one result that a model gets, in bytes.
	MaxResultText = 100 << 10
	// MaxImage bounds the images of one result, in bytes of base64. No provider accepts more.
	MaxImage = 5 << 20
)

// Cut shortens a text to at most that many bytes, at a character's boundary.
func Cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// CutNote tells a model that a text was truncated, and how long it was.
func CutNote(sent, whole int) string {
	return fmt.Sprintf("\n[cut here: %d of %d bytes are shown]", sent, whole)
}

// Brief returns an untrusted text as one short line.
func Brief(text string) string { return Cut(strings.Join(strings.Fields(text), " "), 1000) }

// Readable returns the part of a server's content that every model can get: texts and images. Other content is only
// named. It has at most that many bytes of text and of base64, and a note if there was more text. It is never empty.
func Readable(content []protocol.ContentBlock, structured json.RawMessage, mostText, mostImage int) []protocol.ToolResultBlock {
	var blocks []protocol.ToolResultBlock
	left := mostText
	text := func(s string) {
		if len(s) > left {
			kept := Cut(s, left)
			s = kept + CutNote(len(kept), len(s))
			left = 0
		} else {
			left -= len(s)
		}
		blocks = append(blocks, protocol.TextContent{Text: s})
	}
	images := 0
	image := func(data string) bool {
		shown, ok := Image(data)
		if ok = ok && images+len(shown.Data) <= mostImage; ok {
			images += len(shown.Data)
			blocks = append(blocks, shown)
		}
		return ok
	}
	repeated := false
	for _, block := range content {
		switch b := block.(type) {
		case protocol.TextContent:
			repeated = repeated || isSame(structured, b.Text)
			if strings.TrimSpace(b.Text) != "" { // some providers refuse the whole request for an empty text
				text(b.Text)
			}
		case protocol.ImageContent:
			if !image(b.Data) {
				text(imageText(b))
			}
		case protocol.AudioContent:
			text(fmt.Sprintf("[a sound%s, which cannot be played]", ofType(b.MIMEType)))
		case protocol.ResourceLink:
			text(linkText(b))
		case protocol.EmbeddedResource:
			if words, ok := blobText(b.Resource); ok {
				b.Resource.Text, b.Resource.Blob = words, ""
			}
			if b.Resource.Blob == "" {
				text(fmt.Sprintf("[the resource %s]\n%s", Brief(b.Resource.URI), b.Resource.Text))
			} else if !image(b.Resource.Blob) {
				text(fmt.Sprintf("[the resource %s, which cannot be shown]", Brief(b.Resource.URI)+strings.Replace(ofType(b.Resource.MIMEType), " ", ", ", 1)))
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
	if len(structured) > 0 && string(structured) != "null" && !repeated {
		text(string(structured))
	}
	if len(blocks) == 0 {
		text("[it returned nothing]")
	}
	return blocks
}

// blobText returns the text that a resource has as base64, if its type is one of texts.
func blobText(r protocol.ResourceContents) (text string, ok bool) {
	if kind := r.MIMEType; !strings.HasPrefix(kind, "text/") && !strings.HasPrefix(kind, "application/json") {
		return "", false
	}
	raw, err := base64.StdEncoding.DecodeString(r.Blob)
	return string(raw), err == nil && r.Blob != "" && utf8.Valid(raw)
}

// isSame reports whether a text is the JSON of a value.
func isSame(value json.RawMessage, text string) bool {
	var a, b any
	return json.Unmarshal(value, &a) == nil && json.Unmarshal([]byte(text), &b) == nil && reflect.DeepEqual(a, b)
}

func imageText(image protocol.ImageContent) string {
	return fmt.Sprintf("[an image%s, which cannot be shown]", ofType(image.MIMEType))
}

// ofType names the type of content, if its server gave one.
func ofType(mimeType string) string {
	if mimeType == "" {
		return ""
	}
	return " of the type " + Brief(mimeType)
}

func linkText(link protocol.ResourceLink) string {
	text := "[a link to the resource " + Brief(link.URI)
	if link.Name != "" {
		text += ": " + Brief(link.Name)
	}
	if link.Description != "" {
		text += ", " + Brief(link.Description)
	}
	return text + "]"
}

// Image returns an image with the type that its bytes have, or false if it is none that providers accept. A provider that
// checks refuses an image with another type, and with it each later message of the conversation. The base64 may be as in
// [base64text.Normal].
func Image(data string) (protocol.ImageContent, bool) {
	data, ok := base64text.Normal(data)
	mimeType := ImageType(data)
	return protocol.ImageContent{MIMEType: mimeType, Data: data}, ok && mimeType != ""
}

// ImageType returns the media type of an image by the first bytes of its base64, or "" if it is none that providers accept.
func ImageType(data string) string {
	const most = 16 // characters of base64: 12 bytes
	head, _ := base64.StdEncoding.DecodeString(data[:min(len(data), most)])
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(head, []byte("GIF87a")), bytes.HasPrefix(head, []byte("GIF89a")):
		return "image/gif"
	case len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP":
		return "image/webp"
	}
	return ""
}
