package icon

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"image"
	_ "image/gif"  // for its size
	_ "image/jpeg" // for its size
	_ "image/png"  // for its size
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

const (
	// MaxBytes is the most bytes of a picture.
	MaxBytes = 64 << 10
	// maxSide is the longest side of a picture in pixels: a few bytes can hold a picture that fills the memory.
	maxSide = 1024
)

const svgType = "image/svg+xml"

var rasterTypes = []string{"image/png", "image/jpeg", "image/webp", "image/gif"}

// fromDataURI returns a data: URI as one that is safe to show, or "" if there is none.
func fromDataURI(src string) string {
	if len(src) < 5 || !strings.EqualFold(src[:5], "data:") {
		return ""
	}
	head, body, ok := strings.Cut(src[5:], ",")
	if !ok {
		return ""
	}
	text, err := url.PathUnescape(body)
	if err != nil {
		return ""
	}
	data := []byte(text)
	declared, _, _ := strings.Cut(head, ";")
	if strings.HasSuffix(strings.ToLower(head), ";base64") {
		if data, err = base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "=")); err != nil {
			return ""
		}
	}
	return checked(data, strings.TrimSpace(declared))
}

// checked returns a picture as a data: URI, or "" if it is not one that may be shown. The contents say which raster type it
// is. A picture is SVG only if it is declared to be.
func checked(data []byte, declared string) string {
	if len(data) > MaxBytes {
		return ""
	}
	contentType := http.DetectContentType(data)
	switch {
	case slices.Contains(rasterTypes, contentType):
		if !isSmall(data, contentType) {
			return ""
		}
	case mediaType(declared) == svgType && isPlainSVG(data):
		contentType = svgType
	default:
		return ""
	}
	return "data:" + contentType + ";base64," + base64.StdEncoding.EncodeToString(data)
}

func mediaType(declared string) string {
	t, _, err := mime.ParseMediaType(declared)
	if err != nil {
		return ""
	}
	return t
}

// isSmall reports whether the sides of a raster picture are short enough.
func isSmall(data []byte, contentType string) bool {
	var width, height int
	if contentType == "image/webp" {
		width, height = webPSize(data)
	} else if c, _, err := image.DecodeConfig(bytes.NewReader(data)); err == nil {
		width, height = c.Width, c.Height
	}
	return width > 0 && height > 0 && width <= maxSide && height <= maxSide
}

// webPSize returns the size of a WebP picture in pixels, or zeros if its beginning is not as it has to be (RFC 9649,
// sections 2.5 to 2.7; RFC 6386, section 9.1).
func webPSize(data []byte) (width, height int) {
	if len(data) < 30 {
		return 0, 0
	}
	uint24 := func(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
	switch string(data[12:16]) {
	case "VP8X":
		return uint24(data[24:]) + 1, uint24(data[27:]) + 1
	case "VP8L":
		bits := binary.LittleEndian.Uint32(data[21:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1
	case "VP8 ":
		return int(binary.LittleEndian.Uint16(data[26:]) & 0x3fff), int(binary.LittleEndian.Uint16(data[28:]) & 0x3fff)
	}
	return 0, 0
}
