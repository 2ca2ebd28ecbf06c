package chat

import (
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"assent/protocol"
	"assent/sidecar/model"
)

// The bounds of the files of one message, in bytes.
const (
	maxTextFile  = 256 << 10
	maxImageFile = model.MaxImage / 4 * 3 // the limit of providers, before base64
	maxFiles     = 10 << 20
	maxFileName  = 255
)

// attachmentsOf returns the files of a message as they are stored. The error names the file, its size and the
// limit.
func attachmentsOf(files []protocol.AttachedFile) ([]protocol.Attachment, error) {
	var attachments []protocol.Attachment
	total := 0
	for _, file := range files {
		refused := func(format string, args ...any) error {
			return protocol.Errorf(protocol.CodeInvalidParams, "%q cannot be attached: %s", model.Brief(file.Name), fmt.Sprintf(format, args...))
		}
		if file.Name == "" || len(file.Name) > maxFileName {
			return nil, refused("a file's name has 1 to %d bytes, and this has %d", maxFileName, len(file.Name))
		}
		switch content := file.Content.(type) {
		case protocol.TextContent:
			if len(content.Text) > maxTextFile {
				return nil, refused("it has %d KiB of text, and %d KiB is the most", len(content.Text)>>10, maxTextFile>>10)
			}
			if !utf8.ValidString(content.Text) || strings.ContainsRune(content.Text, 0) {
				return nil, refused("it is no text")
			}
			total += len(content.Text)
		case protocol.ImageContent:
			size := base64.StdEncoding.DecodedLen(len(content.Data))
			if size > maxImageFile+2 {
				return nil, refused("it has %d KiB, and an image may have %d KiB", size>>10, maxImageFile>>10)
			}
			image, ok := model.Image(content.Data)
			if !ok {
				return nil, refused("images are PNG, JPEG, GIF or WebP")
			}
			file.Content = image
			total += size
		default:
			return nil, refused("it is neither text nor an image")
		}
		if total > maxFiles {
			return nil, refused("together the files have more than %d MiB: send some of them with another message", maxFiles>>20)
		}
		attachments = append(attachments, protocol.Attachment{Name: file.Name, Content: file.Content})
	}
	return attachments, nil
}

// attached returns a file as a model gets it.
func attached(file protocol.Attachment) []protocol.ContentBlock {
	switch content := file.Content.(type) {
	case protocol.TextContent:
		return []protocol.ContentBlock{protocol.TextContent{Text: fmt.Sprintf("[the file %s]\n%s", model.Brief(file.Name), content.Text)}}
	case protocol.ImageContent:
		return []protocol.ContentBlock{protocol.TextContent{Text: fmt.Sprintf("[the image %s]", model.Brief(file.Name))}, content}
	default:
		return nil
	}
}
