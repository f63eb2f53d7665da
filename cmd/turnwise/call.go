package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/resample"
	"github.com/turnwise/turnwise/audio/wav"
	"github.com/turnwise/turnwise/internal/caller"
)

// maxTurn bounds what is said in one turn.
const maxTurn = 10 * time.Minute

type callCmd struct {
	URL      string        `arg:"" help:"The server's address, e.g. http://localhost:8080."`
	Say      []string      `name:"wav" sep:"none" placeholder:"FILE" help:"A WAV file with what to say, of any rate; repeat it for each turn."`
	Type     []string      `name:"text" sep:"none" placeholder:"TEXT" help:"What to type after the files; repeat it for each turn."`
	Record   string        `placeholder:"FILE" help:"Write the call as a stereo WAV file: the caller on the left, the bot on the right."`
	Patience time.Duration `default:"15s" placeholder:"TIME" help:"How long the bot may take to begin an answer (${default})."`
	Pause    time.Duration `default:"800ms" placeholder:"TIME" help:"How long the bot is silent when it has finished (${default})."`
	JSON     bool          `name:"json" help:"Print the report as one JSON object at the end; times are in nanoseconds."`
}

// run makes a call and prints what happens in it.
func (c *callCmd) run(ctx context.Context, w *world) (err error) {
	ctx, stop := untilStopped(ctx)
	defer stop()
	if c.Patience <= 0 || c.Pause <= 0 {
		return usageError("--patience and --pause must be longer than nothing")
	}
	turns, err := c.turns()
	if err != nil {
		return err
	}
	cfg := caller.Config{URL: c.URL, Turns: turns, Patience: c.Patience, Pause: c.Pause}
	if !c.JSON {
		cfg.OnLine = func(l caller.Line) { printLine(w.stdout, l) }
	}
	if c.Record != "" {
		recorder, done, bad := record(c.Record)
		if bad != nil {
			return bad
		}
		defer func() { err = errors.Join(err, done()) }()
		cfg.Record = recorder
	}
	report, err := caller.Call(ctx, cfg)
	if c.JSON {
		encoded, bad := json.MarshalIndent(report, "", "  ")
		if bad != nil {
			return errors.Join(err, bad)
		}
		_, bad = fmt.Fprintf(w.stdout, "%s\n", encoded)
		return errors.Join(err, bad)
	}
	return errors.Join(err, printLatencies(w.stdout, report))
}

// turns are what the flags say to say.
func (c *callCmd) turns() ([]caller.Turn, error) {
	var turns []caller.Turn
	for _, path := range c.Say {
		samples, err := readTurn(path)
		if err != nil {
			return nil, err
		}
		turns = append(turns, caller.Turn{Name: filepath.Base(path), Samples: samples})
	}
	for _, text := range c.Type {
		turns = append(turns, caller.Turn{Name: fmt.Sprintf("%q", text), Text: text})
	}
	return turns, nil
}

// readTurn reads a file as it will be said.
func readTurn(path string) ([]int16, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in, err := wav.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	src, err := resample.NewSource(audio.NewMono(in), caller.Rate)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	samples, err := audio.ReadAll(src, audio.Mono(caller.Rate).Samples(maxTurn))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(samples) == 0 {
		return nil, fmt.Errorf("%s: there is no sound in it", path)
	}
	return samples, nil
}

// record makes the file of a recording; done finishes it.
func record(path string) (r caller.Recorder, done func() error, err error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, nil, err
	}
	out, err := wav.NewWriter(f, audio.Format{Rate: caller.Rate, Channels: 2})
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return out, func() error { return errors.Join(out.Close(), f.Close()) }, nil
}

func printLine(w io.Writer, l caller.Line) {
	text := printable(l.Text)
	if l.Who == caller.Node {
		text = "→ " + text
	}
	_, _ = fmt.Fprintf(w, "%6.2fs  %-4s  %s\n", l.At.Seconds(), l.Who, text) // told at the end
}

func printLatencies(w io.Writer, r *caller.Report) error {
	if r.SetUp == 0 { // no call came about
		return nil
	}
	_, err := fmt.Fprintf(w, "\nset-up   %s\n", r.SetUp.Round(100*time.Microsecond))
	for _, reply := range r.Replies {
		took := "no sound"
		if reply.Latency > 0 {
			took = reply.Latency.Round(time.Millisecond).String()
		}
		_, bad := fmt.Fprintf(w, "answer   %-10s after %s%s\n", took, printable(reply.Turn), spent(reply.Parts))
		err = errors.Join(err, bad)
	}
	if r.HungUp {
		_, bad := fmt.Fprintln(w, "The bot has ended the call.")
		err = errors.Join(err, bad)
	}
	return err
}

// spent tells in brackets where the time went, as far as the server tells.
func spent(parts []caller.Part) string {
	var told []string
	for _, p := range parts {
		told = append(told, fmt.Sprintf("%s %s", p.Name, p.Took.Round(time.Millisecond)))
	}
	if len(told) == 0 {
		return ""
	}
	return " (" + strings.Join(told, ", ") + ")"
}
