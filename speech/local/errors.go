package local

import (
	"errors"
	"fmt"
)

// Errors of this package, to be found with [errors.Is].
var (
	// ErrConfig is wrapped by every error about a configuration.
	ErrConfig = errors.New("local: invalid configuration")
	// ErrMissing tells that no program for the purpose is on the machine. The
	// error says which package to install.
	ErrMissing = errors.New("local: program missing")
	// ErrLanguage tells that the voice does not speak the utterance's language.
	ErrLanguage = errors.New("local: language not spoken")
	// ErrTooLong tells that a program gave more than it may.
	ErrTooLong = errors.New("local: too much output")
)

// ProcessError tells that a program did not do its work.
type ProcessError struct {
	// Program is the path of what was run.
	Program string
	// Stderr is the end of what it complained about, at most 400 bytes of
	// printable text; may be empty.
	Stderr string
	// Err is how it ended, e.g. an [*os/exec.ExitError], or what was wrong with its
	// output.
	Err error
}

// Error says which program failed, how, and with what complaint. What was to be
// said is not in it unless the program repeats it.
func (e *ProcessError) Error() string {
	if e.Stderr == "" {
		return fmt.Sprintf("local: %s: %v", e.Program, e.Err)
	}
	return fmt.Sprintf("local: %s: %v: %s", e.Program, e.Err, e.Stderr)
}

// Unwrap returns how it ended.
func (e *ProcessError) Unwrap() error { return e.Err }
