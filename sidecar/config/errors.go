package config

import "fmt"

// NotFoundError says that a command has no program.
type NotFoundError struct {
	Command string
	// Searched are the folders in which it was looked for, in this order; none where the command is a path.
	Searched []string
	// NearMisses are sentences about similar programs.
	NearMisses []string
	// WayOut says what to do, without a full stop.
	WayOut string
	// text is a sentence or more on where the program is not.
	text string
}

// Error implements error.
func (e *NotFoundError) Error() string { return e.text + " " + e.WayOut }

// NotExecutableError says that a command names a file that is no program.
type NotExecutableError struct{ Command, Path string }

// Error implements error.
func (e *NotExecutableError) Error() string {
	return fmt.Sprintf("the command %q cannot be run: %s may not be executed. Allow it with chmod +x, or name its interpreter as \"command\" and the file in \"args\"", e.Command, e.Path)
}

// InputError says that an input has no value.
type InputError struct {
	ID  string
	Err error
}

// Error implements error.
func (e *InputError) Error() string { return e.Err.Error() }

// Unwrap returns why.
func (e *InputError) Unwrap() error { return e.Err }
