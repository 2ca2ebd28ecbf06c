package managedfiles

import (
	"encoding/json"
	"errors"

	"golang.org/x/sys/windows/registry"

	"assent/sidecar/config/orgpolicy"
)

// registered returns what administrators set in the registry. A value that is no text is a file that cannot be read.
func registered() []orgpolicy.File {
	return registeredIn(registry.LOCAL_MACHINE, `HKLM\`, `SOFTWARE\Policies\`)
}

func registeredIn(root registry.Key, name, below string) (files []orgpolicy.File) {
	claude := below + "ClaudeCode"
	if values, err := texts(root, claude, "Settings"); len(values) > 0 || err != nil {
		files = append(files, orgpolicy.File{Path: name + claude, Kind: orgpolicy.ClaudeCode, Data: []byte(values["Settings"]), Err: err})
	}
	vscode := below + `Microsoft\VSCode`
	if values, err := texts(root, vscode, "ChatMCP", "ChatAllowedMcpServers", "ChatDeniedMcpServers"); len(values) > 0 || err != nil {
		data, _ := json.Marshal(values) // texts can always be written
		files = append(files, orgpolicy.File{Path: name + vscode, Kind: orgpolicy.VSCode, Data: data, Err: err})
	}
	return files
}

// texts returns those of the values that a key has.
func texts(root registry.Key, path string, names ...string) (map[string]string, error) {
	key, err := registry.OpenKey(root, path, registry.QUERY_VALUE|registry.WOW64_64KEY)
	if errors.Is(err, registry.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer key.Close()
	values := map[string]string{}
	for _, name := range names {
		value, _, err := key.GetStringValue(name)
		switch {
		case err == nil:
			values[name] = value
		case !errors.Is(err, registry.ErrNotExist):
			return nil, err
		}
	}
	return values, nil
}
