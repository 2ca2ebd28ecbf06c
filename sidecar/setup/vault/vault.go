// Package vault keeps the secrets of the person's servers, sealed, in a folder.
//
// One key seals all secrets. It is in the system's keychain, or in a second file if there is no keychain. With the key in a
// file, the secrets are safe from searches and from copies of one of the two files, but not from programs that run as the
// person. Any goroutine and process may read a [Vault]. Callers make sure that only one writes at a time.
package vault

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/zalando/go-keyring"

	"assent/sidecar/base/atomicfile"
)

// Place is where the key is.
type Place string

// The places.
const (
	Keychain Place = "keychain"
	KeyFile  Place = "file"
)

// service is the program's name in the keychain.
const service = "Assent"

// Vault holds the secrets of a folder.
type Vault struct{ dir string }

// Open returns the vault of a folder. [Vault.Prepare] makes the folder.
func Open(dir string) *Vault { return &Vault{dir} }

func (v *Vault) keyFile() string { return filepath.Join(v.dir, "secrets.key") }
func (v *Vault) file() string    { return filepath.Join(v.dir, "secrets.sealed") }

// HasKeychain reports whether the system has a keychain that answers.
func HasKeychain() bool {
	_, err := keyring.Get(service, "is there a keychain?")
	return err == nil || errors.Is(err, keyring.ErrNotFound)
}

// key returns the key, or [fs.ErrNotExist].
func (v *Vault) key() ([]byte, error) {
	text, err := os.ReadFile(v.keyFile())
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(v.dir); err != nil {
			return nil, err // an empty vault does not make the keychain ask the person
		}
		var kept string
		if kept, err = keyring.Get(service, v.dir); errors.Is(err, keyring.ErrNotFound) {
			return nil, fs.ErrNotExist
		}
		text = []byte(kept)
	}
	if err != nil {
		return nil, fmt.Errorf("the key of the kept secrets cannot be read: unlock the keychain, or try again: %w", err)
	}
	key, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil {
		return nil, fmt.Errorf("the key of the kept secrets cannot be read: %w", err)
	}
	return key, nil
}

// Prepare makes the key in the keychain or in the file, if there is no key.
func (v *Vault) Prepare(place Place) error {
	switch _, err := v.key(); {
	case err == nil:
		return nil
	case place == Keychain && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := os.MkdirAll(v.dir, 0o700); err != nil {
		return err
	}
	key := make([]byte, 32)
	rand.Read(key) // it never fails
	text := base64.StdEncoding.EncodeToString(key)
	if place == Keychain {
		if err := keyring.Set(service, v.dir, text); err != nil {
			return fmt.Errorf("the keychain did not take the key: %w", err)
		}
		return nil
	}
	return atomicfile.Write(v.keyFile(), []byte(text))
}

// Seal encrypts data with the key.
func (v *Vault) Seal(data []byte) ([]byte, error) {
	aead, err := v.cipher()
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, aead.NonceSize())
	rand.Read(nonce) // it never fails
	return aead.Seal(nonce, nonce, data, nil), nil
}

// Unseal decrypts the result of Seal.
func (v *Vault) Unseal(data []byte) ([]byte, error) {
	aead, err := v.cipher()
	if err != nil {
		return nil, err
	}
	if len(data) < aead.NonceSize() {
		return nil, errors.New("it is too short to be a sealed file")
	}
	plain, err := aead.Open(nil, data[:aead.NonceSize()], data[aead.NonceSize():], nil)
	if err != nil {
		return nil, errors.New("it was sealed with another key, or was changed")
	}
	return plain, nil
}

func (v *Vault) cipher() (cipher.AEAD, error) {
	key, err := v.key()
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// all returns the secrets by name.
func (v *Vault) all() (map[string]string, error) {
	secrets := map[string]string{}
	sealed, err := os.ReadFile(v.file())
	if errors.Is(err, fs.ErrNotExist) {
		return secrets, nil
	}
	if err != nil {
		return nil, err
	}
	text, err := v.Unseal(sealed)
	if err == nil {
		err = json.Unmarshal(text, &secrets)
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", v.file(), err)
	}
	return secrets, nil
}

func (v *Vault) write(secrets map[string]string) error {
	text, err := json.Marshal(secrets)
	if err != nil {
		return err
	}
	sealed, err := v.Seal(text)
	if err != nil {
		return err
	}
	return atomicfile.Write(v.file(), sealed)
}

// Get returns the secret of that name.
func (v *Vault) Get(name string) (string, error) {
	secrets, err := v.all()
	if err != nil {
		return "", err
	}
	secret, ok := secrets[name]
	if !ok {
		return "", fmt.Errorf("there is no kept secret %q: write the value into the file instead", name)
	}
	return secret, nil
}

// Set saves secrets by name. The caller calls [Vault.Prepare] first.
func (v *Vault) Set(more map[string]string) error {
	secrets, err := v.all()
	if err != nil {
		return err
	}
	maps.Copy(secrets, more)
	return v.write(secrets)
}

// Delete deletes secrets.
func (v *Vault) Delete(names []string) error {
	secrets, err := v.all()
	if err != nil || len(names) == 0 {
		return err
	}
	for _, name := range names {
		delete(secrets, name)
	}
	return v.write(secrets)
}

// Clear removes the key and the file if no secret is left. Nothing can unseal the earlier results of Seal after that.
func (v *Vault) Clear() error {
	secrets, err := v.all()
	if err != nil || len(secrets) > 0 {
		return err
	}
	inFile := false
	for _, path := range []string{v.file(), v.keyFile()} {
		switch err := os.Remove(path); {
		case err == nil:
			inFile = path == v.keyFile()
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	if inFile || !HasKeychain() {
		return nil
	}
	if err := keyring.Delete(service, v.dir); err != nil && !errors.Is(err, keyring.ErrNotFound) {
		return err
	}
	return nil
}
