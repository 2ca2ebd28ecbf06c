package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/tailscale/hujson"

	"assent/sidecar/base/lazyregexp"
)

const (
	// maxFile bounds an mcp.json and an envFile, in bytes.
	maxFile = 4 << 20
	// maxDepth bounds how deep values lie in each other: the parser is recursive, and has no bound of
	// its own.
	maxDepth = 200
)

// ReadFile reads a configuration file of at most limit bytes, without the byte order mark that some
// editors on Windows add. It fails for a file that is not regular, because it could be endless.
func ReadFile(path string, limit int64) ([]byte, error) { return readFile(path, limit, 0) }

// readFile is [ReadFile], which also reads files of another type.
func readFile(path string, limit int64, also fs.FileMode) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if kind := info.Mode().Type(); kind != 0 && kind != also {
		return nil, fmt.Errorf("%s is not a file", path)
	}
	flags := os.O_RDONLY
	if also == 0 {
		flags |= syscall.O_NONBLOCK // it may have become a pipe, and to open one is to wait for a writer
	}
	f, err := os.OpenFile(path, flags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Mode().Type() != 0 && info.Mode().Type() != also {
		return nil, cmp.Or(err, fmt.Errorf("%s is not a file", path))
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s has more than %d bytes", path, limit)
	}
	return bytes.TrimPrefix(data, []byte("\ufeff")), nil
}

// Parse parses JSON with comments and trailing commas. The error of invalid JSON begins with
// "hujson: line L, column C: ".
func Parse(data []byte) (hujson.Value, error) {
	if err := CheckEncoding(data); err != nil {
		return hujson.Value{}, err
	}
	if depth(data) > maxDepth {
		return hujson.Value{}, fmt.Errorf("its values lie more than %d deep in each other", maxDepth)
	}
	root, err := hujson.Parse(data)
	if err == nil {
		return root, nil
	}
	switch text := err.Error(); {
	case badLiteral().MatchString(text) && !usualWord().MatchString(text):
		said := "invalid literal"
		if brokenText().MatchString(text) {
			said += ": a text has a line break, which is written \\n"
		}
		err = errors.New(badLiteral().ReplaceAllLiteralString(text, said))
	case earlyEnd().MatchString(text):
		err = errors.New(earlyEnd().ReplaceAllString(text, "the file ends too early"))
	case otherQuote().MatchString(text):
		err = fmt.Errorf("%w: names and texts need straight double quotes", err)
	}
	return root, err
}

var (
	// badLiteral is the end of an error with a text of the file, which may be a secret.
	badLiteral = lazyregexp.New(`(?s)invalid literal: .*`)
	brokenText = lazyregexp.New(`invalid literal: "[^"\r\n]*[\r\n]`)
	usualWord  = lazyregexp.New(`(?i)invalid literal: (true|false|null|none|nil|undefined|nan|yes|no|on|off)$`)
	earlyEnd   = lazyregexp.New(`parsing [a-z ]+: unexpected EOF$`)
	otherQuote = lazyregexp.New("invalid character '(\\\\'|[‘’‚“”„«»`])'")
)

// depth returns how deep brackets lie in each other at most, outside of texts and comments.
func depth(data []byte) int {
	deepest, now := 0, 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '{', '[':
			now++
			deepest = max(deepest, now)
		case '}', ']':
			now--
		case '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		case '/':
			end, skip := []byte("\n"), 0
			if bytes.HasPrefix(data[i:], []byte("/*")) {
				end, skip = []byte("*/"), 2
			} else if !bytes.HasPrefix(data[i:], []byte("//")) {
				continue
			}
			n := bytes.Index(data[i+skip:], end)
			if n < 0 {
				return deepest
			}
			i += skip + n + len(end) - 1
		}
	}
	return deepest
}
