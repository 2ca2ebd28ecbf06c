package icon_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assent/protocol"
	"assent/sidecar/wire/icon"
)

const (
	plainSVG  = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 2"><path d="M0 0h2v2z"/></svg>`
	pngType   = "image/png"
	emptyPage = "<html>no icon</html>"
)

// picture returns a PNG picture whose contents differ with the grey.
func picture(width int, grey uint8) []byte {
	img := image.NewGray(image.Rect(0, 0, width, 2))
	img.SetGray(0, 0, color.Gray{Y: grey})
	return encode(func(b *bytes.Buffer) error { return png.Encode(b, img) })
}

func encode(into func(*bytes.Buffer) error) []byte {
	var b bytes.Buffer
	if err := into(&b); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func uri(contentType string, data []byte) string {
	return "data:" + contentType + ";base64," + base64.StdEncoding.EncodeToString(data)
}

// webP returns the beginning of a lossless WebP picture (RFC 9649, section 3).
func webP(width, height uint32) []byte {
	data := []byte("RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f")
	bits := (width - 1) | (height-1)<<14
	return append(data, byte(bits), byte(bits>>8), byte(bits>>16), byte(bits>>24), 0, 0, 0, 0, 0, 0, 0, 0)
}

// shown returns the images that a server with one icon has.
func shown(t *testing.T, declared ...string) []string {
	t.Helper()
	var icons []string
	for _, d := range declared {
		if !strings.HasPrefix(d, "{") {
			raw, err := json.Marshal(map[string]string{"src": d})
			if err != nil {
				t.Fatal(err)
			}
			d = string(raw)
		}
		icons = append(icons, d)
	}
	handshake := json.RawMessage(`{"serverInfo":{"name":"s","version":"1","icons":[` + strings.Join(icons, ",") + `]}}`)
	offered := icon.Offered{Server: icon.OfServer(handshake)}
	return icon.Collect(offered).Images
}

func TestOnlySmallPicturesAreShown(t *testing.T) {
	small := picture(2, 1)
	grey := image.NewGray(image.Rect(0, 0, 2, 2))
	jpg := encode(func(b *bytes.Buffer) error { return jpeg.Encode(b, grey, nil) })
	gif := encode(func(b *bytes.Buffer) error { return gif.Encode(b, grey, nil) })
	padded := func(n int) []byte { return append(bytes.Clone(small), make([]byte, n-len(small))...) }
	svg := func(text string) string { return uri("image/svg+xml", []byte(text)) }
	inSVG := func(inner string) string {
		return svg(`<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">` + inner + `</svg>`)
	}
	for _, tt := range []struct{ name, src, want string }{
		{"PNG", uri(pngType, small), uri(pngType, small)},
		{"JPEG", uri("image/jpeg", jpg), uri("image/jpeg", jpg)},
		{"GIF", uri("image/gif", gif), uri("image/gif", gif)},
		{"WebP", uri("image/webp", webP(2, 2)), uri("image/webp", webP(2, 2))},
		{"SVG", svg(plainSVG), svg(plainSVG)},
		{"SVG as a text", "data:image/svg+xml;charset=utf-8," + url.PathEscape(plainSVG), svg(plainSVG)},
		{"base64 without its end", strings.TrimRight(uri(pngType, padded(100)), "="), uri(pngType, padded(100))},
		{"a PNG that calls itself JPEG", uri("image/jpeg", small), uri(pngType, small)},
		{"a PNG that calls itself SVG", uri("image/svg+xml", small), uri(pngType, small)},
		{"as many bytes as allowed", uri(pngType, padded(icon.MaxBytes)), uri(pngType, padded(icon.MaxBytes))},
		{"one byte more", uri(pngType, padded(icon.MaxBytes+1)), ""},
		{"the widest", uri(pngType, picture(1024, 1)), uri(pngType, picture(1024, 1))},
		{"too wide", uri(pngType, picture(1025, 1)), ""},
		{"a WebP that is too high", uri("image/webp", webP(2, 1025)), ""},
		{"an SVG that calls itself PNG", uri(pngType, []byte(plainSVG)), ""},
		{"a page", uri("text/html", []byte(emptyPage)), ""},
		{"a page that calls itself SVG", svg(emptyPage), ""},
		{"a bitmap", uri("image/bmp", []byte("BM\x1e\x00\x00\x00\x00\x00\x00\x00\x1a\x00\x00\x00")), ""},
		{"broken base64", "data:image/png;base64,!!!", ""},
		{"no data", "data:image/png;base64", ""},
		{"a file", "file:///etc/passwd", ""},
		{"a script", "javascript:alert(1)", ""},
		{"another scheme", "ftp://example.com/a.png", ""},
		{"SVG with gradients, a mask and a sheet", inSVG(`<defs><linearGradient id="a"/><linearGradient id="b" xlink:href="#a"/><mask id="m"><rect/></mask></defs><style>.a{fill:url(#b)}</style><g mask="url(#m)"><path class="a" style="opacity:.5"/></g>`), "same"},
		{"SVG with a script", inSVG(`<script>alert(1)</script>`), ""},
		{"SVG that repeats itself", inSVG(`<g id="a"><rect/></g><g id="b"><use href="#a"/><use href="#a"/></g>`), ""},
		{"SVG with a page", inSVG(`<foreignObject/>`), ""},
		{"SVG with a picture", inSVG(`<image href="https://example.com/a.png"/>`), ""},
		{"SVG with a filter", inSVG(`<rect filter="blur(9px)"/>`), ""},
		{"SVG with a filter in a sheet", inSVG(`<style>rect{FILTER:blur(9px)}</style>`), ""},
		{"SVG with a filter in a style", inSVG(`<rect style="fill:red;filter : blur(9px)"/>`), ""},
		{"SVG with a filter in a parted sheet", inSVG(`<style>rect{fil<!-- -->ter<![CDATA[:blur(9px)}]]></style>`), ""},
		{"SVG with a comment in a sheet", inSVG(`<style>/* red */rect{fill:red}</style>`), "same"},
		{"SVG with an escape", inSVG(`<style>rect{x\ fill:red}</style>`), ""},
		{"SVG with data in an attribute", inSVG(`<rect fill="url(data:image/svg+xml,a#b)"/>`), ""},
		{"SVG with a filter in an escape", inSVG(`<style>rect{f\69lter:blur(9px)}</style>`), ""},
		{"SVG with a filter after a comment", inSVG(`<style>rect{filter/**/:blur(9px)}</style>`), ""},
		{"SVG with a filter in a condition", inSVG(`<style>@media (prefers-color-scheme:dark){rect{filter:blur(9px)}}</style>`), ""},
		{"SVG with a list that begins with none", inSVG(`<rect style="animation:none,a 1s"/>`), ""},
		{"SVG with a condition, and properties that say none", inSVG(`<style>@media (prefers-color-scheme: dark) { rect { fill : #fff; filter:none } }</style><rect style="stroke-dasharray:none" filter="none"/>`), "same"},
		{"SVG with a part in a sheet", inSVG(`<style>rect{<g/>}</style>`), ""},
		{"SVG with masks in masks", inSVG(`<mask id="a"><rect mask="url(#b)"/></mask>`), ""},
		{"SVG with inherited masks in masks", inSVG(`<g mask="url(#b)"><mask id="a" mask="inherit"><rect/></mask></g>`), ""},
		{"SVG with a mask in a style", inSVG(`<rect style="mask:url(#b)"/>`), ""},
		{"SVG with all properties inherited", inSVG(`<style>*{all:inherit}</style>`), ""},
		{"SVG with a property of its own", inSVG(`<g style="--a:url(#b)"/>`), ""},
		{"SVG that loads a gradient", inSVG(`<linearGradient xlink:href="https://example.com/#a"/>`), ""},
		{"SVG with entities", svg(`<!DOCTYPE svg [<!ENTITY a "b">]>` + plainSVG), ""},
		{"SVG with another sheet", svg(`<?xml-stylesheet href="a.css"?>` + plainSVG), ""},
		{"SVG with a great many elements", inSVG(strings.Repeat("<g/>", 500)), ""},
		{"SVG without an end", svg(strings.TrimSuffix(plainSVG, "</svg>")), ""},
		{"SVG outside of its namespace", svg(`<svg><path d="M0 0"/></svg>`), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var want []string
			switch tt.want {
			case "":
			case "same":
				want = []string{tt.src}
			default:
				want = []string{tt.want}
			}
			if diff := cmp.Diff(want, shown(t, tt.src)); diff != "" {
				t.Errorf("images (-want +got):\n%s", diff)
			}
		})
	}
}

// What a server declares comes to a page only as a small picture.
func FuzzIcons(f *testing.F) {
	for _, src := range []string{
		uri(pngType, picture(2, 1)), uri("image/webp", webP(2, 2)), uri("image/svg+xml", []byte(plainSVG)), "data:image/svg+xml,%3Csvg", "data:;base64,", "http://[::1",
		"data:image/svg+xml;a=b,<svg xmlns='http://www.w3.org/2000/svg'><style>a{b:c}</style><x:mask/></svg>",
	} {
		f.Add(src, "32x32", "dark")
	}
	f.Fuzz(func(t *testing.T, src, size, theme string) {
		offered := icon.Offered{Server: []icon.Icon{{Src: src, Sizes: []string{size}, Theme: theme}}}
		for _, image := range icon.Collect(offered).Images {
			contentType, _, _ := strings.Cut(strings.TrimPrefix(image, "data:"), ";base64,")
			if !slices.Contains([]string{pngType, "image/jpeg", "image/webp", "image/gif", "image/svg+xml"}, contentType) || len(image) > 2*icon.MaxBytes {
				t.Errorf("%q is shown as %q", src, image)
			}
		}
	})
}

func TestTheIconThatSuitsIsChosen(t *testing.T) {
	of := func(grey uint8) string { return uri(pngType, picture(2, grey)) }
	declare := func(grey uint8, more string) string { return fmt.Sprintf(`{"src":%q%s}`, of(grey), more) }
	for _, tt := range []struct {
		name        string
		declared    []string
		light, dark uint8
	}{
		{"one for both", []string{declare(1, "")}, 1, 1},
		{"one for each", []string{declare(1, `,"theme":"dark"`), declare(2, `,"theme":"light"`)}, 2, 1},
		{"one for the other theme", []string{declare(1, `,"theme":"dark"`)}, 1, 1},
		{"one for both before one for the other", []string{declare(1, `,"theme":"dark"`), declare(2, "")}, 2, 1},
		{"the nearest size", []string{declare(1, `,"sizes":["16x16"]`), declare(2, `,"sizes":["512x512"]`), declare(3, `,"sizes":["48x48"]`), declare(4, "")}, 3, 3},
		{"any size", []string{declare(1, `,"sizes":["48x48"]`), declare(2, `,"sizes":["any"]`)}, 2, 2},
		{"the largest of the small ones", []string{declare(1, `,"sizes":["16x16"]`), declare(2, `,"sizes":["24x24"]`)}, 2, 2},
		{"a theme before a size", []string{declare(1, `,"sizes":["32x32"]`), declare(2, `,"sizes":["16x16"],"theme":"dark"`)}, 1, 2},
		{"sizes as a text", []string{declare(1, `,"sizes":"16x16"`), declare(2, `,"sizes":"32x32"`)}, 2, 2},
		{"the next one if the best is none", []string{`{"src":"data:,no","sizes":["any"]}`, declare(2, "")}, 2, 2},
		{"what can be read", []string{`7`, `{"src":7}`, `{"src":"` + of(3) + `","mimeType":7,"sizes":{},"theme":[]}`}, 3, 3},
		{"sixteen at most", append(strings.Split(strings.Repeat(`{"src":"data:,"} `, 16), " ")[:16], declare(1, "")), 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			page := json.RawMessage(`{"tools":[{"name":"plain"},{"name":"tool","icons":[` + strings.Join(tt.declared, ",") + `]}]}`)
			things := icon.OfList([]json.RawMessage{page}, "tools", "name")
			got := icon.Collect(icon.Offered{Tools: things})
			want := map[string][2]string{}
			if tt.light != 0 {
				want["tool"] = [2]string{of(tt.light), of(tt.dark)}
			}
			if diff := cmp.Diff(want, resolved(got.Images, got.Tools)); diff != "" {
				t.Errorf("icons (-want +got):\n%s", diff)
			}
		})
	}
}

// resolved returns the images for a light and a dark background of each thing.
func resolved(images []string, icons map[string]protocol.Icons) map[string][2]string {
	all := map[string][2]string{}
	for key, i := range icons {
		all[key] = [2]string{images[i.Light], images[i.Dark]}
	}
	return all
}

func TestAnImageIsSentOnce(t *testing.T) {
	page := json.RawMessage(`{"tools":[{"name":"a","icons":[{"src":"` + uri(pngType, picture(2, 1)) + `"}]},{"name":"b","icons":[{"src":"` + uri(pngType, picture(2, 1)) + `"}]}]}`)
	things := icon.OfList([]json.RawMessage{page, page}, "tools", "name")
	got := icon.Collect(icon.Offered{Tools: things})
	if want := []string{uri(pngType, picture(2, 1))}; !cmp.Equal(want, got.Images) || len(got.Tools) != 2 {
		t.Errorf("got %d images of %d tools", len(got.Images), len(got.Tools))
	}
}

// A list of many large icons stays a message of a few megabytes.
func TestAllImagesOfAServerAreBounded(t *testing.T) {
	var tools []string
	for n := range 40 {
		data := append(picture(2, uint8(n)), make([]byte, icon.MaxBytes-1000)...)
		tools = append(tools, fmt.Sprintf(`{"name":"t%d","icons":[{"src":%q}]}`, n, uri(pngType, data)))
	}
	page := json.RawMessage(`{"tools":[` + strings.Join(tools, ",") + `]}`)
	got := icon.Collect(icon.Offered{Tools: icon.OfList([]json.RawMessage{page}, "tools", "name")})
	total := 0
	for _, image := range got.Images {
		total += len(image)
	}
	if total > 2<<20 || len(got.Images) != 24 {
		t.Errorf("got %d bytes in %d images", total, len(got.Images))
	}
}
