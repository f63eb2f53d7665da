package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// recordings gives the files that calls are recorded in; nil records none. The
// directory is made, for its owner's eyes alone.
func (f *voiceFlags) recordings() (func(session string) (io.WriteCloser, error), error) {
	if f.Record == "" {
		return nil, nil
	}
	if err := os.MkdirAll(f.Record, 0o700); err != nil {
		return nil, fmt.Errorf("--record: %w", err)
	}
	return func(session string) (io.WriteCloser, error) {
		return os.OpenFile(filepath.Join(f.Record, session+".wav"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	}, nil
}
