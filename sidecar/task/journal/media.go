package journal

import (
	"crypto/sha256"
	"fmt"

	"assent/protocol"
)

// requestWithoutMedia returns a request with images, audio and files replaced by their names, so that the
// journal does not store them again.
func requestWithoutMedia(request *protocol.McpSamplingRequest) *protocol.McpSamplingRequest {
	if request == nil {
		return nil
	}
	named := *request
	named.Messages = make([]protocol.SamplingMessage, len(request.Messages))
	for i, m := range request.Messages {
		m.Content = nameMedia(m.Content)
		named.Messages[i] = m
	}
	return &named
}

// withoutMedia does the same for a model's answer.
func withoutMedia(response protocol.McpSamplingResponse) protocol.McpSamplingResponse {
	response.Content = nameMedia(response.Content)
	return response
}

func nameMedia[B protocol.ContentBlock](blocks []B) []B {
	out := make([]B, len(blocks))
	for i, block := range blocks {
		out[i] = block
		var named protocol.ContentBlock
		switch b := protocol.ContentBlock(block).(type) {
		case protocol.ImageContent:
			b.Data = name(b.Data)
			named = b
		case protocol.AudioContent:
			b.Data = name(b.Data)
			named = b
		case protocol.EmbeddedResource:
			b.Resource.Blob = name(b.Resource.Blob)
			named = b
		case protocol.ToolResultContent:
			b.Content = nameMedia(b.Content)
			named = b
		}
		if b, ok := named.(B); ok {
			out[i] = b
		}
	}
	return out
}

// name returns the text that replaces base64 data.
func name(data string) string {
	if data == "" {
		return ""
	}
	return fmt.Sprintf("[%d characters of base64, sha256:%x]", len(data), sha256.Sum256([]byte(data)))
}

// SizeOf counts the bytes of the texts and the data in content; data as it is encoded.
func SizeOf(blocks []protocol.ContentBlock) (bytes int) {
	for _, block := range blocks {
		switch b := block.(type) {
		case protocol.TextContent:
			bytes += len(b.Text)
		case protocol.ImageContent:
			bytes += len(b.Data)
		case protocol.AudioContent:
			bytes += len(b.Data)
		case protocol.EmbeddedResource:
			bytes += len(b.Resource.Text) + len(b.Resource.Blob)
		case protocol.UnknownContent:
			bytes += len(b.Raw)
		}
	}
	return bytes
}
