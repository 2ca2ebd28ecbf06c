package apps

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"assent/sidecar/base/jsonscan"
)

// Extension is the capability of a client that shows apps, and MIMEType the type of their pages.
const (
	Extension = "io.modelcontextprotocol/ui"
	MIMEType  = "text/html;profile=mcp-app"
)

// MaxPage bounds the HTML of an app, in bytes.
const MaxPage = 10 << 20

// Capability returns the value of [Extension] in a client's capabilities. A client that shows the app of a form says so
// (draft SEP-3118).
func Capability(forms bool) map[string]any {
	c := map[string]any{"mimeTypes": []string{MIMEType}}
	if forms {
		c["elicitation"] = struct{}{}
	}
	return c
}

// Tool is what a tool's _meta says of apps.
type Tool struct {
	// URI is the ui:// URI of the tool's app; empty if it has none.
	URI string
	// NotForModels and NotForApps hide the tool.
	NotForModels, NotForApps bool
}

// maxURI bounds a URI of an app, in bytes.
const maxURI = 2000

// ReadTool reads the _meta of a tool. A member of another form counts as absent.
func ReadTool(meta json.RawMessage) Tool {
	var m struct {
		UI struct {
			ResourceURI json.RawMessage `json:"resourceUri"`
			Visibility  json.RawMessage `json:"visibility"`
		} `json:"ui"`
		// ResourceURI is deprecated by the specification.
		ResourceURI json.RawMessage `json:"ui/resourceUri"`
	}
	if len(meta) == 0 || jsonscan.Unmarshal(meta, &m) != nil {
		return Tool{}
	}
	var t Tool
	for _, raw := range []json.RawMessage{m.UI.ResourceURI, m.ResourceURI} {
		if t.URI == "" {
			t.URI = readURI(raw)
		}
	}
	var visibility []string
	if json.Unmarshal(m.UI.Visibility, &visibility) == nil && visibility != nil {
		t.NotForModels, t.NotForApps = true, true
		for _, who := range visibility {
			t.NotForModels = t.NotForModels && who != "model"
			t.NotForApps = t.NotForApps && who != "app"
		}
	}
	return t
}

// ReadForm returns the ui:// URI of the app that the _meta of an elicitation names (draft SEP-3118); empty if it names none.
func ReadForm(meta json.RawMessage) string {
	var m struct {
		UI struct {
			ResourceURI json.RawMessage `json:"resourceUri"`
		} `json:"ui"`
	}
	if len(meta) == 0 || jsonscan.Unmarshal(meta, &m) != nil {
		return ""
	}
	return readURI(m.UI.ResourceURI)
}

// readURI returns a ui:// URI, or an empty text for anything else.
func readURI(raw json.RawMessage) string {
	var uri string
	if json.Unmarshal(raw, &uri) != nil || !strings.HasPrefix(uri, "ui://") || len(uri) > maxURI {
		return ""
	}
	return uri
}

// Page is the page of an app.
type Page struct {
	HTML []byte
	// Domains are those that an app may have. Refused are others that the server declares.
	Domains Domains
	Refused []string
	// Border: the app wants a border; nil if it does not say.
	Border *bool
}

// ReadPage reads the result of resources/read for the app's URI. The error is a sentence for the person without its full stop.
func ReadPage(result json.RawMessage, uri string) (Page, error) {
	var r struct {
		Contents []struct {
			URI      string          `json:"uri"`
			MIMEType string          `json:"mimeType"`
			Text     *string         `json:"text"`
			Blob     *string         `json:"blob"`
			Meta     json.RawMessage `json:"_meta"`
		} `json:"contents"`
	}
	if jsonscan.Unmarshal(result, &r) != nil || len(r.Contents) == 0 {
		return Page{}, errors.New("the server's page cannot be read")
	}
	contents := r.Contents[0]
	for _, c := range r.Contents {
		if c.URI == uri {
			contents = c
			break
		}
	}
	if contents.MIMEType != MIMEType {
		return Page{}, fmt.Errorf("the server's page has the type %q, and an app has %q", cut(contents.MIMEType), MIMEType)
	}
	var page Page
	switch {
	case contents.Text != nil:
		page.HTML = []byte(*contents.Text)
	case contents.Blob != nil:
		if len(*contents.Blob) > base64.StdEncoding.EncodedLen(MaxPage) {
			return Page{}, tooLong(base64.StdEncoding.DecodedLen(len(*contents.Blob)))
		}
		var err error
		if page.HTML, err = base64.StdEncoding.DecodeString(*contents.Blob); err != nil {
			return Page{}, errors.New("the server's page is not base64")
		}
	}
	if len(page.HTML) == 0 {
		return Page{}, errors.New("the server's page is empty")
	}
	if len(page.HTML) > MaxPage {
		return Page{}, tooLong(len(page.HTML))
	}
	var meta struct {
		UI struct {
			CSP           json.RawMessage `json:"csp"`
			PrefersBorder json.RawMessage `json:"prefersBorder"`
		} `json:"ui"`
	}
	if len(contents.Meta) > 0 && jsonscan.Unmarshal(contents.Meta, &meta) == nil {
		var declared Domains
		if len(meta.UI.CSP) > 0 && jsonscan.Unmarshal(meta.UI.CSP, &declared) != nil {
			return Page{}, errors.New("the domains that the server's page declares cannot be read")
		}
		page.Domains, page.Refused = declared.checked()
		if json.Unmarshal(meta.UI.PrefersBorder, &page.Border) != nil {
			page.Border = nil
		}
	}
	return page, nil
}

func tooLong(size int) error {
	return fmt.Errorf("the server's page has %.1f MB, and no more than %d MB are shown", float64(size)/(1<<20), MaxPage>>20)
}
