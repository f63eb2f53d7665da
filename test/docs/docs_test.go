// Package docs holds the tests that keep the documents true: their Go code
// compiles or stands in the code as it is shown, and their links lead somewhere.
package docs

import (
	"encoding/json"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

// block is one fenced piece of Go in a document.
type block struct {
	where string // file:line
	info  string // what follows "```go"
	code  string
}

func documents(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"} {
		found = append(found, filepath.Join(root, name))
	}
	return found
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var fence = regexp.MustCompile("(?ms)^```go([^\n]*)\n(.*?)^```")

func goBlocks(t *testing.T) []block {
	t.Helper()
	var all []block
	for _, path := range documents(t) {
		text := read(t, path)
		for _, m := range fence.FindAllStringSubmatchIndex(text, -1) {
			name, _ := filepath.Rel(root, path)
			all = append(all, block{
				where: fmt.Sprintf("%s:%d", name, 1+strings.Count(text[:m[0]], "\n")),
				info:  strings.TrimSpace(text[m[2]:m[3]]),
				code:  text[m[4]:m[5]],
			})
		}
	}
	return all
}

// The code in the documents is of three kinds: a whole program, which has to
// compile; a piece of a program or of a package, which has to stand in a Go file
// of this module as it is shown; and, marked "sketch", an outline of a
// surface, which only has to be well formed.
func TestGoCodeInDocumentsIsRealCode(t *testing.T) {
	blocks := goBlocks(t)
	if len(blocks) == 0 {
		t.Fatal("no Go code was found in any document; is the pattern wrong?")
	}
	sources := moduleSource(t)
	for _, b := range blocks {
		t.Run(b.where, func(t *testing.T) {
			switch {
			case b.info == "sketch":
				if strings.HasPrefix(b.where, "README.md") || strings.HasPrefix(b.where, "docs/getting-started.md") {
					t.Errorf("%s: a reader copies from this page; show real code instead of a sketch", b.where)
				}
				if _, err := format.Source([]byte(b.code)); err != nil {
					t.Errorf("%s: %v", b.where, err)
				}
			case strings.HasPrefix(b.code, "package ") || strings.Contains(b.code, "\npackage "):
				compile(t, b)
			case !strings.Contains(sources, squeeze(b.code)):
				t.Errorf("%s: no Go file of this module contains this piece of code; copy it from one:\n%s", b.where, b.code)
			}
		})
	}
}

// compile compiles the block as a package of this module, without writing it into
// the source tree. A program becomes a library for that, which needs no linking.
func compile(t *testing.T, b block) {
	dir := t.TempDir()
	file := filepath.Join(dir, "main.go")
	code := strings.Replace(b.code, "package main\n", "package snippet\n", 1)
	if err := os.WriteFile(file, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	const pkg = "test/docs/snippet"
	overlay, err := json.Marshal(map[string]any{
		"Replace": map[string]string{filepath.Join(top, pkg, "main.go"): file},
	})
	if err != nil {
		t.Fatal(err)
	}
	overlayFile := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlayFile, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-overlay", overlayFile, "./"+pkg)
	cmd.Dir = top
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s does not compile: %v\n%s", b.where, err, out)
	}
}

// moduleSource is every Go file of the module, squeezed, comment markers at the
// start of lines taken off so that code in doc comments counts.
func moduleSource(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || d.Name() == "bin") {
			return fs.SkipDir
		}
		if filepath.Ext(path) == ".go" {
			all.WriteString(squeeze(read(t, path)))
			all.WriteByte('\n')
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// squeeze takes indentation, comment markers and empty lines away, so that a
// piece of a function compares equal to its copy at the margin of a document.
func squeeze(code string) string {
	var out []string
	for line := range strings.Lines(code) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "//"))
		if line != "" {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

func TestLinksBetweenDocumentsLeadSomewhere(t *testing.T) {
	for _, path := range documents(t) {
		for _, m := range link.FindAllStringSubmatch(read(t, path), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			file := path
			if target != "" {
				file = filepath.Join(filepath.Dir(path), target)
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s links to %s, which is not there", path, m[1])
				continue
			}
			if anchor != "" && !hasHeading(read(t, file), anchor) {
				t.Errorf("%s links to %s, but %s has no such heading", path, m[1], file)
			}
		}
	}
}

var notInAnchors = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// hasHeading reports whether a heading of the document has this anchor.
func hasHeading(text, anchor string) bool {
	for line := range strings.Lines(text) {
		heading, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
		if !ok || !strings.HasPrefix(line, "#") {
			continue
		}
		heading = notInAnchors.ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), "")
		if strings.ReplaceAll(heading, " ", "-") == anchor {
			return true
		}
	}
	return false
}

// What `make help` and the documents call a target has to exist.
func TestMakeTargetsNamedInDocumentsExist(t *testing.T) {
	makefile := read(t, filepath.Join(root, "Makefile"))
	target := regexp.MustCompile("(?m)(?:^|`)make ([a-z]+)")
	for _, path := range documents(t) {
		for _, m := range target.FindAllStringSubmatch(read(t, path), -1) {
			if !strings.Contains(makefile, "\n"+m[1]+":") {
				t.Errorf("%s names `make %s`, which the Makefile does not have", path, m[1])
			}
		}
	}
}
