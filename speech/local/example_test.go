package local_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"

	"github.com/turnwise/turnwise/speech"
	"github.com/turnwise/turnwise/speech/local"
)

// Offline ears for a call, or advice.
func ExampleReport_Transcriber() {
	report := local.Find(context.Background())
	ears, err := report.Transcriber()
	if errors.Is(err, local.ErrMissing) {
		fmt.Println("please install", report.Install())
		return
	}
	recognizer, err := speech.NewSegmented(speech.SegmentedConfig{Transcriber: ears})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("it listens at", recognizer.Rate(), "Hz")
}

// What a machine without any of the programs is told.
func ExampleFinder() {
	finder := local.Finder{
		LookPath: func(string) (string, error) { return "", exec.ErrNotFound },
		Models:   []string{"/opt/model"},
	}
	fmt.Print(finder.Find(context.Background()))
	// Output:
	// flite (speaks English): missing: no program flite; Debian: apt-get install flite
	// espeak-ng (speaks many languages): missing: no program espeak-ng; Debian: apt-get install espeak-ng
	// pocketsphinx_continuous (understands English): missing: no program pocketsphinx_continuous; no model in /opt/model; Debian: apt-get install pocketsphinx pocketsphinx-en-us
}
