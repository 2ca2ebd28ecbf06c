package daemon

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/windows"
)

// here returns the place of this process. Its home is from the account, not from the environment.
func here() (place, error) {
	token := windows.GetCurrentProcessToken()
	home, err := token.GetUserProfileDirectory()
	if err != nil {
		return place{}, err
	}
	sid, err := currentSID()
	return place{os: runtime.GOOS, home: home, user: sid}, err
}

// currentSID identifies this person.
func currentSID() (string, error) {
	u, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return "", err
	}
	return u.User.Sid.String(), nil
}

// keepPrivate creates a folder. Folders in a person's profile inherit a list that keeps other users out.
func keepPrivate(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("create the folder of Assent's daemon: %w: set %s to another folder", err, FolderVariable)
	}
	return nil
}
