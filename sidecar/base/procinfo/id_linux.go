package procinfo

import (
	"errors"
	"os"
	"strings"
)

// ID identifies this installation of the system; see machine-id(5). Many containers have none, and are identified
// by their host name.
func ID() (string, error) {
	for _, path := range []string{"/etc/machine-id", "/var/lib/dbus/machine-id"} {
		text, err := os.ReadFile(path)
		if id := strings.TrimSpace(string(text)); err == nil && id != "" && id != "uninitialized" {
			return id, nil
		}
	}
	name, err := os.Hostname()
	if err == nil && name == "" {
		err = errors.New("this machine has neither an id nor a name")
	}
	return name, err
}
