package form

import (
	"testing"

	"assent/protocol"
)

func TestAsksForSecret(t *testing.T) {
	tests := []struct {
		name, title, description, format string
		want                             bool
	}{
		{name: "password", want: true},
		{name: "db_passwd", want: true},
		{name: "newPassword2", want: true},
		{name: "apiKey", want: true},
		{name: "API-KEY", want: true},
		{name: "OPENAI_API_KEY", want: true},
		{name: "apikey", want: true},
		{name: "github_token", want: true},
		{name: "accessToken", want: true},
		{name: "HTTPBearer", want: true},
		{name: "clientSecret", want: true},
		{name: "card.number", want: true},
		{name: "cardNumber", want: true},
		{name: "cvv", want: true},
		{name: "PIN", want: true},
		{name: "x", title: "Your Password", want: true},
		{name: "x", title: "Credit card", want: true},
		{name: "x", description: "The secret you got by mail.", want: true},
		{name: "x", format: "password", want: true},
		{name: "x", title: "Password (never share it with others)", want: true},
		{name: "x", description: "Do not give us your pin, or other sensitive info"},
		{name: "maxTokens"},
		{name: "max_output_tokens", title: "Max tokens"},
		{name: "tokenCount"},
		{name: "tokenizer"},
		{name: "pinned"},
		{name: "spin"},
		{name: "keyboard"},
		{name: "key"},
		{name: "number"},
		{name: "business_card"},
		{name: "passport"},
		{name: "secretary"},
	}
	for _, tt := range tests {
		head := protocol.FieldHead{Name: tt.name, Title: tt.title, Description: tt.description}
		if got := asksForSecret(head, tt.format); got != tt.want {
			t.Errorf("asksForSecret(%+v) = %v, want %v", tt, got, tt.want)
		}
	}
}
