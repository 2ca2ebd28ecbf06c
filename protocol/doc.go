// Package protocol is the wire between the sidecar and its front ends: JSON-RPC 2.0 messages in
// Content-Length frames. Go is the source of truth. The interfaces [Sidecar] and [FrontEnd] are the
// API, the structs are its messages, and the comments are its reference; scripts/tools/protogen reads all
// three and writes the dispatch, the stubs and the union codecs (protocol_gen.go) and the same API
// for TypeScript (protocol.ts).
//
// A constant marked //protocol:const NAME is exported to TypeScript under that name.
//
// A union is an interface marked //protocol:union. Its variants are structs marked //protocol:variant
// UNION TAG. The tag is encoded in a member "type", which the generated code writes and checks. A
// field that may be absent is omitempty or omitzero. A field that may be null is a pointer or slice
// without either. A union without either is always present. Times are milliseconds since the Unix
// epoch.
//
// The package holds data and no state: every value may be copied, and used from any goroutine. It
// knows no transport; the stubs only need a [Conn].
package protocol

//go:generate go run ../scripts/tools/protogen

// Version of this wire. It changes when a message changes its meaning or a required field comes or
// goes; the handshake refuses a peer that speaks another one.
//
//protocol:const protocolVersion
const Version = 1

// CloseTimeoutMs is how many milliseconds a front end waits for the sidecar to end after it closed the sidecar's stdin.
// Only then may it kill the sidecar. The sidecar needs less, even if it has to kill servers. A sidecar that is killed
// earlier leaves such servers behind.
//
//protocol:const closeTimeoutMs
const CloseTimeoutMs = 20_000

// ExitEnded is the exit code of a sidecar whose daemon ended before the front end did. The front end then starts the
// sidecar again at once, which starts a new daemon.
//
//protocol:const exitEnded
const ExitEnded = 6
