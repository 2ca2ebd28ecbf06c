module assent

go 1.26.0

// Servers of others that the end-to-end tests build. Nothing of them is in the product.
tool (
	github.com/mark3labs/mcp-go/examples/conformance
	github.com/mark3labs/mcp-go/examples/elicitation
	github.com/mark3labs/mcp-go/examples/multi_round_trip
	github.com/mark3labs/mcp-go/examples/roots_http_server
	github.com/mark3labs/mcp-go/examples/roots_server
	github.com/mark3labs/mcp-go/examples/sampling_http_server
	github.com/mark3labs/mcp-go/examples/sampling_server
)

require (
	github.com/google/jsonschema-go v0.4.2 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/mark3labs/mcp-go v1.2.1 // indirect
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.2 // indirect
	github.com/spf13/cast v1.7.1 // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	golang.org/x/text v0.14.0 // indirect
)
