package gateway

import (
	"encoding/json"

	"assent/sidecar/base/jsonscan"
	"assent/sidecar/broker/form"
	"assent/sidecar/gateway/mcpserver"
)

// repeated returns a tool's result as a host's model can see all of it: a host that shows no structuredContent gets that
// as a text, too, unless a text of the result says the same. Before 2026-07-28 structuredContent is an object, and hosts with
// strict types refuse the whole result for another value: they get that as a text alone. Everything else stays.
func repeated(client mcpserver.Client, result json.RawMessage) json.RawMessage {
	structured := jsonscan.Member(result, "structuredContent")
	isOdd := structured != nil && structured[0] != '{' && !client.Modern()
	if structured == nil || !isOdd && !known(client).hidesStructured {
		return result
	}
	if isOdd {
		result = without(result, "structuredContent")
	}
	var content []json.RawMessage
	if json.Unmarshal(jsonscan.Member(result, "content"), &content) != nil {
		return result
	}
	var texts []string
	for _, block := range content {
		texts = append(texts, jsonscan.Text(block, "text"))
	}
	if form.Repeated(structured, texts) != nil {
		return result
	}
	block := jsonscan.AppendMember([]byte(`{"type":"text"`), "text", jsonscan.Quote(string(structured)))
	return jsonscan.With(result, "content", jsonscan.Array(append(content, append(block, '}'))))
}

// toolFor returns a tool as a host's revision has it. Before 2026-07-28 an outputSchema has the type "object", and hosts with
// strict types refuse the whole list for another.
func toolFor(client mcpserver.Client, tool json.RawMessage) json.RawMessage {
	if schema := jsonscan.Member(tool, "outputSchema"); schema != nil && !client.Modern() && jsonscan.Text(schema, "type") != "object" {
		tool = without(tool, "outputSchema")
	}
	return execution(client, tool)
}

// without returns an object without a member.
func without(object json.RawMessage, member string) json.RawMessage {
	return jsonscan.Edit(object, func(name string, value json.RawMessage) json.RawMessage {
		if name == member {
			return nil
		}
		return value
	})
}
