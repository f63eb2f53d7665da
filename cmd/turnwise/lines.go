package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// maxLine bounds a line of the input, in bytes.
const maxLine = 32 << 10

// readLines calls each with every line of r until each returns false or the input
// ends. A line longer than maxLine ends the reading with an error that says which
// one it is; nothing of it is passed on.
func readLines(r io.Reader, each func(line string) bool) error {
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, maxLine)
	n := 0
	for scanner.Scan() {
		n++
		if !each(scanner.Text()) {
			return nil
		}
	}
	switch err := scanner.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("%w: line %d has more than %d bytes", errInput, n+1, maxLine)
	case err != nil:
		return fmt.Errorf("%w: %w", errInput, err)
	}
	return nil
}
