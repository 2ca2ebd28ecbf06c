package protocol

import "encoding/json"

// MCP Apps (SEP-1865, version 2026-01-26): a tool may name a page that shows its result, as a resource with a ui:// URI.
// The sidecar reads the page and serves it to a frame of the front end, in a sandbox. What the page asks for comes back
// as [Sidecar.RequestApp]. An elicitation may name a page, too, which proposes an answer (draft SEP-3118).

// CallAppFound says that the tool of a call has an app.
//
//protocol:variant Event callAppFound
type CallAppFound struct {
	Type      tag[CallAppFound] `json:"type"`
	MessageID int64             `json:"messageId"`
	// AppURI is [Call.AppURI].
	AppURI string `json:"appUri"`
}

// OpenAppParams names the app to open.
type OpenAppParams struct {
	TaskID string `json:"taskId"`
	// MessageID is the message of a call with [Call.AppURI], or of an open ask with [McpElicitationRequest.AppURI].
	MessageID int64 `json:"messageId"`
	// Network is the person's answer to [OpenAppResult.Asks]. It is remembered for the server and exactly these domains.
	Network AppNetwork `json:"network,omitempty"`
	// Reload reads the page from the server, even if Assent has it.
	Reload bool `json:"reload,omitempty"`
}

// AppNetwork is a person's decision about the domains that an app declares.
type AppNetwork string

// The decisions.
const (
	// AppNetworkAllow: the app may load from the domains that it declares, and from no other.
	AppNetworkAllow AppNetwork = "allow"
	// AppNetworkWithout: the app is shown, and loads from nowhere.
	AppNetworkWithout AppNetwork = "without"
)

// OpenAppResult is an open app, or the question that comes before.
type OpenAppResult struct {
	// Asks are the domains that the app declares, in their order: https and wss origins, or with * for any subdomain. If
	// they are present, the person has to decide first, and nothing else is set.
	Asks []string `json:"asks,omitempty"`
	// AppID names the open app until it is closed.
	AppID string `json:"appId,omitempty"`
	// URL is the address of the frame. It is on the loopback interface, and valid for as long as the app is open.
	URL string `json:"url,omitempty"`
	// Tool is the server's definition of the call's tool; absent if it is unknown, and for an ask.
	Tool json.RawMessage `json:"tool,omitempty"`
	// Border: the app wants a border around itself; absent if it leaves that to the front end.
	Border *bool `json:"border,omitempty"`
	// Network is the person's decision about the domains; absent if the app declares none.
	Network AppNetwork `json:"network,omitempty"`
	// Refused are declared domains that no app may have, such as addresses of this machine.
	Refused []string `json:"refused,omitempty"`
}

// CloseAppParams names an open app.
type CloseAppParams struct {
	AppID string `json:"appId"`
	// TaskID is that of [OpenAppParams].
	TaskID string `json:"taskId"`
}

// CloseAppResult is empty.
type CloseAppResult struct{}

// AppRequestParams is a request of an app.
type AppRequestParams struct {
	TaskID string `json:"taskId"`
	AppID  string `json:"appId"`
	// Method is one of MCP's: tools/call, resources/read, resources/list, resources/templates/list or prompts/list; or
	// ui/open-link, which checks the link and opens nothing.
	Method string `json:"method"`
	// Params are the app's.
	Params json.RawMessage `json:"params,omitempty"`
}

// AppRequestResult is the server's result, byte for byte. For ui/open-link it is an [AppLink].
type AppRequestResult struct {
	Result json.RawMessage `json:"result"`
}

// AppLink is a link that an app wants opened. The person decides.
type AppLink struct {
	// URL is http or https, without a user's name and a password.
	URL string `json:"url"`
}
