package wire

import (
	"bufio"
	"bytes"
	"io"
	"mime"
	"net/http"
	"strings"
)

// The content types of answers in MCP.
const (
	kindEvents = "text/event-stream"
	kindJSON   = "application/json"
)

// kindOf returns the content type of a response, in lower case and without parameters; empty if it has none.
func kindOf(response *http.Response) string {
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	return kind
}

// peeked is a body of which the beginning was read ahead.
type peeked struct {
	*bufio.Reader
	io.Closer
}

// sniff returns what the beginning of a response looks like: kindJSON, kindEvents, or an empty text; and whether the
// response is empty. It waits until the response has begun.
func sniff(response *http.Response) (kind string, empty bool) {
	ahead := bufio.NewReader(response.Body)
	response.Body = peeked{ahead, response.Body}
	for n := 1; n <= ahead.Size(); n++ {
		begins, err := ahead.Peek(n)
		text := string(bytes.TrimLeft(bytes.TrimPrefix(begins, byteOrderMark), " \t\r\n"))
		switch {
		case (text == "" || bytes.HasPrefix(byteOrderMark, begins)) && err == nil:
			continue
		case text == "":
			return "", true
		case text[0] == '{', text[0] == '[':
			return kindJSON, false
		}
		may := false
		for _, field := range []string{"data:", "event:", "id:", "retry:", ":"} {
			if strings.HasPrefix(text, field) {
				return kindEvents, false
			}
			may = may || strings.HasPrefix(field, text)
		}
		if !may || err != nil {
			return "", false
		}
	}
	return "", false
}

var byteOrderMark = []byte("\ufeff")

// unixLines reads a stream of server-sent events with line feeds for the line ends that their standard allows: CR, LF,
// and both.
type unixLines struct {
	io.ReadCloser
	// afterCR is set if the last byte was a CR, for which a line feed was returned.
	afterCR bool
}

// Read implements [io.Reader].
func (u *unixLines) Read(p []byte) (int, error) {
	for {
		n, err := u.ReadCloser.Read(p)
		n = u.convert(p[:n])
		if n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
	}
}

// convert converts bytes in place, and returns how many are left.
func (u *unixLines) convert(p []byte) int {
	if !u.afterCR && bytes.IndexByte(p, '\r') < 0 {
		return len(p)
	}
	out := p[:0]
	for _, b := range p {
		switch {
		case b == '\r':
			out = append(out, '\n')
		case b == '\n' && u.afterCR:
		default:
			out = append(out, b)
		}
		u.afterCR = b == '\r'
	}
	return len(out)
}
