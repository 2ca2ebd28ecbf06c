package model

import (
	"iter"

	"assent/protocol"
)

// Texts yields all texts that a model gets, piece by piece.
func Texts(request *protocol.McpSamplingRequest) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !yield(request.SystemPrompt) {
			return
		}
		for _, t := range request.Tools {
			for _, text := range []string{t.Name, t.Description, string(t.InputSchema)} {
				if !yield(text) {
					return
				}
			}
		}
		for _, m := range request.Messages {
			for _, block := range m.Content {
				for text := range BlockTexts(block) {
					if !yield(text) {
						return
					}
				}
			}
		}
		for _, stop := range request.StopSequences {
			if !yield(stop) {
				return
			}
		}
	}
}

// BlockTexts returns the texts of a block, with its names and URIs, which can hold a secret, too.
func BlockTexts(block protocol.ContentBlock) iter.Seq[string] {
	return func(yield func(string) bool) {
		switch block := block.(type) {
		case protocol.TextContent:
			yield(block.Text)
		case protocol.ToolUseContent:
			_ = yield(block.Name) && yield(string(block.Input))
		case protocol.ResourceLink:
			_ = yield(block.URI) && yield(block.Name) && yield(block.Title) && yield(block.Description)
		case protocol.EmbeddedResource:
			_ = yield(block.Resource.URI) && yield(block.Resource.Text)
		case protocol.ToolResultContent:
			for _, part := range block.Content {
				for text := range BlockTexts(part) {
					if !yield(text) {
						return
					}
				}
			}
			yield(string(block.StructuredContent))
		}
	}
}
