package hub

import (
	"assent/protocol"
	"assent/sidecar/hub/shape"
)

// itemShapes are the shapes of the items of each list (2025-11-25 and 2026-07-28, "Schema"). They have the members that
// MCP names: others stay as they are.
var itemShapes = map[protocol.ListKind]shape.Shape{
	protocol.ListTools: shape.Object(map[string]shape.Shape{
		"title": shape.Text, "description": shape.Text, "icons": shape.Icons, "_meta": shape.AnyObject,
		"annotations": shape.Object(map[string]shape.Shape{
			"title": shape.Text, "readOnlyHint": shape.Boolean, "destructiveHint": shape.Boolean, "idempotentHint": shape.Boolean, "openWorldHint": shape.Boolean,
		}),
		"execution": shape.Object(map[string]shape.Shape{"taskSupport": shape.OneOf("forbidden", "optional", "required")}),
	}),
	protocol.ListResources: shape.Resource,
	ListTemplates: shape.Object(map[string]shape.Shape{
		"name": shape.Text, "title": shape.Text, "description": shape.Text, "mimeType": shape.Text, "icons": shape.Icons, "annotations": shape.Annotations, "_meta": shape.AnyObject,
	}),
	protocol.ListPrompts: shape.Object(map[string]shape.Shape{
		"title": shape.Text, "description": shape.Text, "icons": shape.Icons, "_meta": shape.AnyObject,
		"arguments": shape.List(shape.Having("name", shape.Object(map[string]shape.Shape{"name": shape.Text, "title": shape.Text, "description": shape.Text, "required": shape.Boolean}))),
	}),
}
