package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// textPiece is how many bytes of a long text are encoded at once.
const textPiece = 64 << 10

// MarshalJSON implements [json.Marshaler]. A long text is encoded in pieces: encoding/json would copy it again at each of the
// many steps in which its buffer grows.
func (c TextContent) MarshalJSON() ([]byte, error) {
	type plain TextContent
	text := c.Text
	if len(text) > textPiece {
		c.Text = ""
	}
	whole, err := json.Marshal(plain(c))
	if err != nil || len(text) <= textPiece {
		return whole, err
	}
	const member = `"text":"`
	before, after, ok := bytes.Cut(whole, []byte(member))
	if !ok {
		return nil, fmt.Errorf("encode a text: %s has no text", whole)
	}
	out := make([]byte, 0, len(whole)+len(text)+len(text)/8) // escapes make it longer
	out = append(append(out, before...), member...)
	var piece bytes.Buffer
	encoder := json.NewEncoder(&piece)
	for len(text) > 0 {
		end := min(textPiece, len(text))
		for end < len(text) && !utf8.RuneStart(text[end]) {
			end++
		}
		piece.Reset()
		if err := encoder.Encode(text[:end]); err != nil {
			return nil, err
		}
		out = append(out, piece.Bytes()[1:piece.Len()-2]...) // without quotes and the end of the line
		text = text[end:]
	}
	return append(out, after...), nil
}
