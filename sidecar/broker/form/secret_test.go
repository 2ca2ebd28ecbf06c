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
		{name: "authorization", want: true},
		{name: "x", title: "Kennwort", want: true},
		{name: "neues_passwort", want: true},
		{name: "x", title: "Benutzerkennwort (mindestens 8 Zeichen)", want: true},
		{name: "x", title: "Mot de passe", want: true},
		{name: "motDePasse", want: true},
		{name: "x", title: "Clé d’API", want: true},
		{name: "x", title: "Contraseña", want: true},
		{name: "x", title: "Contrasen\u0303a", want: true},
		{name: "contrasena", want: true},
		{name: "x", title: "Senha", want: true},
		{name: "x", title: "密码", want: true},
		{name: "x", title: "请输入您的密码。", want: true},
		{name: "x", title: "パスワードを入力", want: true},
		{name: "x", title: "비밀번호", want: true},
		{name: "x", title: "Пароль", want: true},
		{name: "x", description: "Введите пароль от почты", want: true},
		{name: "x", title: "Hasło", want: true},
		{name: "x", title: "Şifre", want: true},
		{name: "x", title: "Κωδικός πρόσβασης", want: true},
		{name: "x", title: "كلمة المرور", want: true},
		{name: "x", title: "סיסמה", want: true},
		{name: "x", title: "Mật khẩu", want: true},
		{name: "x", title: "रहने का पासवर्ड", want: true},
		{name: "x", title: "รหัสผ่าน", want: true},
		{name: "x", title: "Kreditkartennummer", want: true},
		{name: "x", title: "Clé secrète (24 caractères)", want: true},
		{name: "x", title: "Article d'accès libre"},
		{name: "x", title: "Desenhar um mapa"},
		{name: "x", title: "Parole chiave"},
		{name: "x", title: "Mot préféré"},
		{name: "x", title: "암호화 방식"},
		{name: "x", title: "Пинта"},
		{name: "progressToken"},
		{name: "contextTokens"},
	}
	for _, tt := range tests {
		head := protocol.FieldHead{Name: tt.name, Title: tt.title, Description: tt.description}
		if got := asksForSecret(head, tt.format); got != tt.want {
			t.Errorf("asksForSecret(%+v) = %v, want %v", tt, got, tt.want)
		}
	}
}
