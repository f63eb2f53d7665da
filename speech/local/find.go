package local

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// probeTimeout bounds the question whether a program works.
const probeTimeout = 5 * time.Second

// Find looks for the programs in the usual places and asks each whether it works,
// for a few seconds at most.
func Find(ctx context.Context) Report { return Finder{}.Find(ctx) }

// Finder looks for the programs; the zero value in the usual places.
type Finder struct {
	// LookPath finds a program by its name; nil means [exec.LookPath].
	LookPath func(name string) (path string, err error)
	// Models are the folders in which a pocketsphinx model may be; nil means
	// those of the packages.
	Models []string
}

// Find looks for the programs and asks each whether it works.
func (f Finder) Find(ctx context.Context) Report {
	if f.LookPath == nil {
		f.LookPath = exec.LookPath
	}
	if f.Models == nil {
		f.Models = []string{
			"/usr/share/pocketsphinx/model/en-us",
			"/usr/local/share/pocketsphinx/model/en-us",
			"/opt/homebrew/share/pocketsphinx/model/en-us",
		}
	}
	return Report{
		Flite:        f.look(ctx, Program{Engine: Flite, Purpose: "speaks English", Packages: []string{"flite"}}),
		ESpeakNG:     f.look(ctx, Program{Engine: ESpeakNG, Purpose: "speaks many languages", Packages: []string{"espeak-ng"}}),
		PocketSphinx: f.ears(ctx),
	}
}

// ears looks for either program of pocketsphinx, and its model.
func (f Finder) ears(ctx context.Context) Program {
	const purpose = "understands English"
	p := f.look(ctx, Program{Engine: PocketSphinxContinuous, Purpose: purpose, Packages: []string{"pocketsphinx"}})
	if !p.Found() {
		if other := f.look(ctx, Program{Engine: PocketSphinx, Purpose: purpose, Packages: []string{"pocketsphinx"}}); other.Found() {
			p = other
		}
	}
	for _, folder := range f.Models {
		if m := modelIn(folder); m.complete() {
			p.Model = &m
			return p
		}
	}
	p.Packages = append(p.Packages, "pocketsphinx-en-us")
	if p.Path != "" {
		p.Packages = p.Packages[1:]
	}
	p.Missing = strings.TrimPrefix(p.Missing+"; no model in "+strings.Join(f.Models, ", "), "; ")
	return p
}

func (m Model) complete() bool {
	for _, path := range []string{m.Acoustic, m.Language, m.Dictionary} {
		if _, err := os.Stat(path); err != nil {
			return false
		}
	}
	return true
}

// look finds one program.
func (f Finder) look(ctx context.Context, p Program) Program {
	path, err := f.LookPath(string(p.Engine))
	if err != nil {
		p.Missing = "no program " + string(p.Engine)
		return p
	}
	p.Path = path
	if err := p.probe(ctx); err != nil {
		p.Missing = "it does not work: " + err.Error()
	}
	return p
}

// probe has the program say something about itself. pocketsphinx has nothing that
// takes no model: that it is there must do.
func (p *Program) probe(ctx context.Context) error {
	var arg string
	switch p.Engine {
	case Flite:
		arg = "-lv"
	case ESpeakNG:
		arg = "--version"
	default:
		return nil
	}
	r, err := newRunner(1, probeTimeout)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	err = r.run(ctx, command{path: p.Path, args: []string{arg}, read: func(in io.Reader) error {
		_, err := io.CopyN(&out, in, maxTail)
		if err == io.EOF {
			return nil
		}
		return err
	}})
	if err != nil {
		return err
	}
	p.About = strings.Join(strings.Fields(strings.ToValidUTF8(out.String(), "")), " ")
	return nil
}
