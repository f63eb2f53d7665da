package openai

import (
	"bufio"
	"fmt"
	"io"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/mp3"
	"github.com/turnwise/turnwise/audio/resample"
	"github.com/turnwise/turnwise/audio/wav"
	"github.com/turnwise/turnwise/speech"
)

// pieceSamples is how much audio is given at once, at most.
const pieceSamples = 4096

// decode reads an answer of a media type as mono samples at the configured rate.
func (c *SynthesizerConfig) decode(body io.Reader, kind string) (audio.Source, error) {
	in := bufio.NewReader(body)
	var source audio.Source
	var err error
	switch c.format(in, kind) {
	case WAV:
		var stream *wav.Reader
		if stream, err = wav.NewReader(in); err == nil {
			source = &whole{Reader: stream}
		}
	case MP3:
		source, err = mp3.NewDecoder(in)
	default:
		source, err = audio.NewReader(&even{r: in}, audio.Mono(c.PCMRate))
	}
	if err != nil {
		return nil, err
	}
	return resample.NewSource(audio.NewMono(source), c.Rate)
}

// format is what an answer is. Raw samples look like anything, and anything played
// as raw samples is noise, so what the server says counts.
func (c *SynthesizerConfig) format(in *bufio.Reader, kind string) Format {
	switch kind {
	case "audio/mpeg", "audio/mp3":
		return MP3
	case "audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave":
		return WAV
	}
	if start, err := in.Peek(4); err == nil && string(start) == "RIFF" {
		return WAV
	}
	return c.Format
}

// give emits a source and returns how many samples it had.
func give(source audio.Source, emit func(speech.Speech) error) (int, error) {
	most := source.Format().Samples(maxSpeech)
	for heard := 0; ; {
		piece := make([]int16, pieceSamples)
		n, err := source.Read(piece)
		if heard += n; heard > most {
			return heard, fmt.Errorf("there are more than %s of sound in it", maxSpeech)
		}
		if n > 0 {
			if err := emit(speech.Speech{Samples: piece[:n]}); err != nil {
				return heard, &listenerError{err}
			}
		}
		if err == io.EOF {
			return heard, nil
		}
		if err != nil {
			return heard, err
		}
	}
}

// listenerError is a failure of whom the audio is for.
type listenerError struct{ err error }

func (e *listenerError) Error() string { return e.err.Error() }

// even is raw samples, of which there must be whole ones.
type even struct {
	r   io.Reader
	odd bool
}

func (e *even) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	e.odd = e.odd != (n%2 == 1)
	if err == io.EOF && e.odd {
		return n, fmt.Errorf("it ends within a sample: %w", io.ErrUnexpectedEOF)
	}
	return n, err
}

// whole is a WAV stream that must have as many samples as it says.
type whole struct {
	*wav.Reader
	read int64
}

func (w *whole) Read(p []int16) (int, error) {
	n, err := w.Reader.Read(p)
	w.read += int64(n)
	if want := w.Samples(); err == io.EOF && w.read < want {
		return n, fmt.Errorf("it ends after %d samples of %d: %w", w.read, want, io.ErrUnexpectedEOF)
	}
	return n, err
}
