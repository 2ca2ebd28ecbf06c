package chat

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"assent/protocol"
)

func TestFilesThatAreNotTaken(t *testing.T) {
	png := func(bytes int) protocol.ContentBlock {
		return protocol.ImageContent{MIMEType: "image/png", Data: base64.StdEncoding.EncodeToString(append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, bytes-8)...))}
	}
	for _, tt := range []struct {
		name  string
		files []protocol.ContentBlock
		want  string
	}{
		{"much text", []protocol.ContentBlock{protocol.TextContent{Text: strings.Repeat("x", maxTextFile+1024)}}, "it has 257 KiB of text, and 256 KiB is the most"},
		{"a zero", []protocol.ContentBlock{protocol.TextContent{Text: "a\x00"}}, "it is no text"},
		{"half a character", []protocol.ContentBlock{protocol.TextContent{Text: "\xc3"}}, "it is no text"},
		{"a picture of another kind", []protocol.ContentBlock{protocol.ImageContent{MIMEType: "image/svg+xml", Data: "QUJD"}}, "images are PNG, JPEG, GIF or WebP"},
		{"no base64", []protocol.ContentBlock{protocol.ImageContent{MIMEType: "image/png", Data: "?"}}, "images are PNG, JPEG, GIF or WebP"},
		{"a large image", []protocol.ContentBlock{png(maxImageFile + 1024)}, "it has 3841 KiB, and an image may have 3840 KiB"},
		{"a sound", []protocol.ContentBlock{protocol.AudioContent{}}, "it is neither text nor an image"},
		{"much together", []protocol.ContentBlock{png(maxImageFile), png(maxImageFile), png(maxImageFile)}, "together the files have more than 10 MiB: send some of them with another message"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var files []protocol.AttachedFile
			for _, content := range tt.files {
				files = append(files, protocol.AttachedFile{Name: "a", Content: content})
			}
			_, err := attachmentsOf(files)
			if e := (*protocol.Error)(nil); !errors.As(err, &e) || e.Message != `"a" cannot be attached: `+tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
	for _, name := range []string{"", strings.Repeat("a", maxFileName+1)} {
		if _, err := attachmentsOf([]protocol.AttachedFile{{Name: name, Content: protocol.TextContent{Text: "a"}}}); err == nil {
			t.Errorf("a name of %d bytes was taken", len(name))
		}
	}
	if got, err := attachmentsOf([]protocol.AttachedFile{{Name: "a", Content: png(maxImageFile)}}); err != nil || len(got) != 1 {
		t.Errorf("the largest image that may be: %v", err)
	}
}
