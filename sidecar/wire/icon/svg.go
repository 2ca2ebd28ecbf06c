package icon

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"

	"assent/sidecar/base/lazyregexp"
)

// A page shows an SVG picture as an image, which runs no script and loads nothing. But a browser has to draw it: in a few
// kilobytes, elements that draw others over and over keep it busy for good. So only pictures without such elements are
// plain. An icon needs none of them.

const svgSpace = "http://www.w3.org/2000/svg"

// maxElements bounds the elements of a picture, and with them how often one is drawn through a clip.
const maxElements = 500

// plainElements are the elements that an icon may have. Those of other namespaces are not drawn.
var plainElements = []string{
	"svg", "g", "defs", "title", "desc", "metadata", "style", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon",
	"text", "tspan", "linearGradient", "radialGradient", "stop", "clipPath", "mask",
}

// plainProperties are the properties that a style may set, and the feature that it may ask for. None of them refers to
// anything but a gradient.
var plainProperties = []string{
	"fill", "fill-opacity", "fill-rule", "clip-rule", "stroke", "stroke-width", "stroke-opacity", "stroke-linecap",
	"stroke-linejoin", "stroke-miterlimit", "stroke-dashoffset", "opacity", "stop-color", "stop-opacity", "color", "color-scheme",
	"display", "visibility", "overflow", "isolation", "mix-blend-mode", "mask-type", "paint-order", "vector-effect",
	"shape-rendering", "text-rendering", "enable-background", "transform", "font-family", "font-size", "font-style", "font-weight",
	"text-anchor", "letter-spacing", "line-height", "prefers-color-scheme",
}

// isPlainSVG reports whether data is an SVG picture that costs a browser little.
func isPlainSVG(data []byte) bool {
	d := xml.NewDecoder(bytes.NewReader(data))
	var p svgReader
	for {
		token, err := d.Token()
		if err != nil {
			return errors.Is(err, io.EOF) && p.elements > 0
		}
		if !p.take(token) {
			return false
		}
	}
}

// svgReader is what was read of a picture.
type svgReader struct {
	elements int
	// clips counts the open elements that others are drawn through.
	clips int
	// inSheet: a style element is open, and sheet is its text so far. A browser joins what comments part.
	inSheet bool
	sheet   strings.Builder
}

// take reads a token, and reports whether the picture may have it.
func (p *svgReader) take(token xml.Token) bool {
	switch t := token.(type) {
	case xml.StartElement:
		return p.start(t)
	case xml.EndElement:
		if isClip(t.Name) {
			p.clips--
		}
		if p.inSheet {
			p.inSheet = false
			return isPlainCSS(p.sheet.String())
		}
	case xml.CharData:
		if p.inSheet {
			p.sheet.Write(t)
		}
	case xml.ProcInst:
		return t.Target == "xml"
	case xml.Directive:
		return !bytes.ContainsRune(t, '[') // which declares entities
	}
	return true
}

func (p *svgReader) start(e xml.StartElement) bool {
	p.elements++
	switch {
	case p.elements == 1 && (e.Name != xml.Name{Space: svgSpace, Local: "svg"}), p.elements > maxElements, p.inSheet:
		return false
	case e.Name.Space == svgSpace && !slices.Contains(plainElements, e.Name.Local):
		return false
	case isClip(e.Name):
		p.clips++
	case e.Name.Local == "style":
		p.inSheet = true
		p.sheet.Reset()
	}
	return !slices.ContainsFunc(e.Attr, func(a xml.Attr) bool { return !isPlainAttribute(a, p.clips > 0) })
}

func isClip(name xml.Name) bool { return name.Local == "clipPath" || name.Local == "mask" }

// isPlainAttribute reports whether an attribute is cheap. Nothing in a clip is drawn through another clip.
func isPlainAttribute(a xml.Attr, inClip bool) bool {
	switch name := a.Name.Local; {
	case a.Name.Space == "xmlns", name == "xmlns", a.Value == "none":
		return true
	case strings.Contains(strings.ToLower(a.Value), "data:"):
		return false
	case name == "href":
		return strings.HasPrefix(a.Value, "#")
	case name == "style":
		return isPlainCSS(a.Value)
	case name == "clip-path", name == "mask":
		return !inClip
	case name == "filter", name == "stroke-dasharray", strings.HasPrefix(name, "marker"):
		return false
	}
	return true
}

// declaration is the beginning of a declaration, to its end if the value is "none".
var declaration = lazyregexp.New(`([-\w]*)\s*:\s*(none\s*(?:[;}]|$))?`)

// isPlainCSS reports whether a style is cheap. The colon of each declaration follows the name of its property; what follows
// no such name, as after a comment, is not plain. An escape could hide a name.
func isPlainCSS(css string) bool {
	if strings.Contains(css, `\`) {
		return false
	}
	for _, found := range declaration().FindAllStringSubmatch(strings.ToLower(css), -1) {
		if found[2] == "" && !slices.Contains(plainProperties, found[1]) {
			return false
		}
	}
	return true
}
