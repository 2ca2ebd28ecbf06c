package vault_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/zalando/go-keyring"

	"assent/sidecar/setup/vault"
)

func TestSecretsAreKeptSealed(t *testing.T) {
	for _, place := range []vault.Place{vault.Keychain, vault.KeyFile} {
		t.Run(string(place), func(t *testing.T) {
			keyring.MockInit()
			dir := filepath.Join(t.TempDir(), "assent")
			v := vault.Open(dir)
			if _, err := v.Get("a"); err == nil {
				t.Error("a secret of an empty vault")
			}
			if err := v.Prepare(place); err != nil {
				t.Fatal(err)
			}
			if err := v.Set(map[string]string{"a": "first-secret", "b": "second-secret"}); err != nil {
				t.Fatal(err)
			}
			if err := v.Prepare(place); err != nil { // the key stays
				t.Fatal(err)
			}
			if got, err := vault.Open(dir).Get("a"); err != nil || got != "first-secret" {
				t.Errorf("%q, %v", got, err)
			}
			if text, err := os.ReadFile(filepath.Join(dir, "secrets.sealed")); err != nil || bytes.Contains(text, []byte("secret")) {
				t.Errorf("%q, %v", text, err)
			}
			if _, err := os.Stat(filepath.Join(dir, "secrets.key")); (err == nil) != (place == vault.KeyFile) {
				t.Error("the key's file:", err)
			}
			sealed, err := v.Seal([]byte("copy"))
			if err != nil {
				t.Fatal(err)
			}
			if plain, err := v.Unseal(sealed); err != nil || string(plain) != "copy" {
				t.Errorf("%q, %v", plain, err)
			}
			sealed[len(sealed)-1]++
			if _, err := v.Unseal(sealed); err == nil {
				t.Error("what was changed is opened")
			}
			if err := v.Delete([]string{"a"}); err != nil {
				t.Fatal(err)
			}
			if err := v.Clear(); err != nil { // b is kept
				t.Fatal(err)
			}
			if got, err := v.Get("b"); err != nil || got != "second-secret" {
				t.Errorf("%q, %v", got, err)
			}
			if err := v.Delete([]string{"b"}); err != nil {
				t.Fatal(err)
			}
			if err := v.Clear(); err != nil {
				t.Fatal(err)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("%v, %v", left, err)
			}
			if _, err := keyring.Get("Assent", dir); err == nil {
				t.Error("the keychain has the key still")
			}
		})
	}
}

// TestALockedKeychainIsNamed has a keychain that fails.
func TestALockedKeychainIsNamed(t *testing.T) {
	keyring.MockInitWithError(os.ErrPermission)
	dir := t.TempDir()
	v := vault.Open(dir)
	if vault.HasKeychain() {
		t.Error("there is a keychain")
	}
	if err := v.Prepare(vault.Keychain); err == nil {
		t.Error("the keychain took the key")
	}
	if err := v.Prepare(vault.KeyFile); err != nil {
		t.Fatal(err)
	}
	if err := v.Set(map[string]string{"a": "x"}); err != nil {
		t.Fatal(err)
	}
}
