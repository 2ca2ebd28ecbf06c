package icon_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

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
func shown(t *testing.T, from icon.Origin, declared ...string) []string {
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
	return icon.NewCache(zerolog.Nop()).Collect(t.Context(), from, offered).Images
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
			if diff := cmp.Diff(want, shown(t, icon.Origin{}, tt.src)); diff != "" {
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
		for _, image := range icon.NewCache(zerolog.Nop()).Collect(t.Context(), icon.Origin{}, offered).Images {
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
			got := icon.NewCache(zerolog.Nop()).Collect(t.Context(), icon.Origin{}, icon.Offered{Tools: things})
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
	got := icon.NewCache(zerolog.Nop()).Collect(t.Context(), icon.Origin{}, icon.Offered{Tools: things})
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
	got := icon.NewCache(zerolog.Nop()).Collect(t.Context(), icon.Origin{}, icon.Offered{Tools: icon.OfList([]json.RawMessage{page}, "tools", "name")})
	total := 0
	for _, image := range got.Images {
		total += len(image)
	}
	if total > 2<<20 || len(got.Images) != 24 {
		t.Errorf("got %d bytes in %d images", total, len(got.Images))
	}
}

// site is a web server with icons.
type site struct {
	*httptest.Server
	from icon.Origin
	hits atomic.Int32
}

func newSite(t *testing.T, serve http.HandlerFunc) *site {
	t.Helper()
	s := &site{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.hits.Add(1)
		serve(w, r)
	}))
	t.Cleanup(s.Close)
	at, err := url.Parse(s.URL + "/mcp")
	if err != nil {
		t.Fatal(err)
	}
	s.from = icon.OriginOf(at, http.DefaultTransport)
	return s
}

func TestIconsAreFetchedFromTheServersOriginAlone(t *testing.T) {
	small := picture(2, 1)
	elsewhere := newSite(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(small) })
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" || r.Header.Get("Cookie") != "" || r.Method != http.MethodGet {
			t.Errorf("%s %s with the headers %v", r.Method, r.URL, r.Header)
		}
		w.Header().Set("Set-Cookie", "a=b")
		switch r.URL.Path {
		case "/small.png":
			_, _ = w.Write(small)
		case "/svg":
			w.Header().Set("Content-Type", "image/svg+xml; charset=utf-8")
			_, _ = w.Write([]byte(plainSVG))
		case "/text.svg":
			w.Header().Set("Content-Type", "text/plain")
			_, _ = w.Write([]byte(plainSVG))
		case "/large.png":
			_, _ = w.Write(append(bytes.Clone(small), make([]byte, icon.MaxBytes)...))
		case "/away":
			http.Redirect(w, r, elsewhere.URL+"/small.png", http.StatusFound)
		case "/here":
			http.Redirect(w, r, "/small.png", http.StatusFound)
		case "/page":
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write(small)
		}
	})
	port := s.URL[strings.LastIndex(s.URL, ":"):]
	for _, tt := range []struct {
		name, src, want string
		hits            int32
	}{
		{"a picture", s.URL + "/small.png", uri(pngType, small), 1},
		{"an SVG picture", s.URL + "/svg", uri("image/svg+xml", []byte(plainSVG)), 1},
		{"an SVG picture that is served as a text", s.URL + "/text.svg", "", 1},
		{"too many bytes", s.URL + "/large.png", "", 1},
		{"a redirect to another origin", s.URL + "/away", "", 1},
		{"a redirect to the same origin", s.URL + "/here", "", 1},
		{"an error", s.URL + "/page", "", 1},
		{"another port", elsewhere.URL + "/small.png", "", 0},
		{"another name", "http://localhost" + port + "/small.png", "", 0},
		{"another scheme", "https://127.0.0.1" + port + "/small.png", "", 0},
		{"with a password", strings.Replace(s.URL, "//", "//a:b@", 1) + "/small.png", "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := s.hits.Load()
			var want []string
			if tt.want != "" {
				want = []string{tt.want}
			}
			if diff := cmp.Diff(want, shown(t, s.from, tt.src)); diff != "" {
				t.Errorf("images (-want +got):\n%s", diff)
			}
			if hits := s.hits.Load() - before; hits != tt.hits {
				t.Errorf("the server was asked %d times, want %d", hits, tt.hits)
			}
			if got := shown(t, icon.OriginOf(nil, http.DefaultTransport), tt.src); got != nil {
				t.Errorf("a server that is a process has the images %v", got)
			}
		})
	}
	if hits := elsewhere.hits.Load(); hits != 0 {
		t.Errorf("another origin was asked %d times", hits)
	}
}

func TestAFetchedIconIsKept(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(picture(2, 1)) })
	cache := icon.NewCache(zerolog.Nop())
	offered := icon.Offered{Server: []icon.Icon{{Src: s.URL + "/a.png"}}}
	for range 2 {
		if got := cache.Collect(t.Context(), s.from, offered); len(got.Images) != 1 {
			t.Fatalf("got %d images", len(got.Images))
		}
	}
	if hits := s.hits.Load(); hits != 1 {
		t.Errorf("the server was asked %d times", hits)
	}
}

func TestAServerIsAskedForFewIcons(t *testing.T) {
	var now, tooMany atomic.Int32
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		if now.Add(1) > 4 {
			tooMany.Add(1)
		}
		defer now.Add(-1)
		_, _ = w.Write(picture(2, uint8(len(r.URL.Path))))
	})
	var things []icon.Thing
	for n := range 100 {
		things = append(things, icon.Thing{Key: fmt.Sprint(n), Icons: []icon.Icon{{Src: s.URL + "/" + strings.Repeat("x", n+1)}}})
	}
	cache := icon.NewCache(zerolog.Nop())
	for range 2 {
		if got := cache.Collect(t.Context(), s.from, icon.Offered{Tools: things}); len(got.Images) != 64 {
			t.Errorf("got %d images", len(got.Images))
		}
	}
	if hits := s.hits.Load(); hits != 64 || tooMany.Load() > 0 {
		t.Errorf("the server was asked %d times, and %d times for too many at once", hits, tooMany.Load())
	}
}

// silent is a server that never answers.
type silent struct{ asked atomic.Int32 }

func (s *silent) RoundTrip(r *http.Request) (*http.Response, error) {
	s.asked.Add(1)
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestASlowServerIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at, way := &url.URL{Scheme: "https", Host: "example.com"}, &silent{}
		offered := icon.Offered{
			Server: []icon.Icon{{Src: "https://example.com/a.png"}, {Src: uri(pngType, picture(2, 1)), Sizes: []string{"16x16"}}},
			Tools:  []icon.Thing{{Key: "t", Icons: []icon.Icon{{Src: "https://example.com/b.png"}}}},
		}
		cache := icon.NewCache(zerolog.Nop())
		began := time.Now()
		got := cache.Collect(t.Context(), icon.OriginOf(at, way), offered)
		if took := time.Since(began); took != icon.FetchTimeout {
			t.Errorf("it took %s", took)
		}
		if diff := cmp.Diff(&protocol.ListIconsResult{Images: []string{uri(pngType, picture(2, 1))}, Server: &protocol.Icons{}}, got); diff != "" {
			t.Errorf("icons (-want +got):\n%s", diff)
		}
		if n := way.asked.Load(); n != 2 {
			t.Errorf("the server was asked %d times", n)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if got := cache.Collect(ctx, icon.OriginOf(at, way), offered); len(got.Images) > 1 {
			t.Errorf("a front end that has gone got %v", got)
		}
	})
}
