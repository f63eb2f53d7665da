package openai_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/wav"
	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/speech"
	"github.com/turnwise/turnwise/speech/openai"
	"github.com/turnwise/turnwise/test/peer"
)

type object = map[string]any

// aimock starts a third-party server with these answers and returns its address.
func aimock(t *testing.T, fixtures ...object) string {
	t.Helper()
	modules := peer.NodeModules(t, filepath.Join("..", "..", "test", "peers", "aimock"))
	node := peer.Program(t, "node")
	b, err := json.Marshal(object{"fixtures": fixtures})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "audio.json"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	// The test's context ends before its clean-up runs.
	cmd := exec.CommandContext(t.Context(), node, filepath.Join(modules, "@copilotkit", "aimock", "dist", "cli.js"), "-p", "0", "-f", dir)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	address, drained := make(chan string, 1), make(chan struct{})
	var said []string // until the address is known
	go func() {
		defer close(drained)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if _, a, ok := strings.Cut(lines.Text(), "listening on "); ok {
				address <- a
			} else if len(address) == 0 && len(said) < 50 {
				said = append(said, lines.Text())
			}
		}
	}()
	t.Cleanup(func() {
		<-drained
		_ = cmd.Wait() // it was interrupted
	})
	select {
	case a := <-address:
		return a + "/v1"
	case <-drained:
		t.Fatalf("aimock did not start:\n%s", strings.Join(said, "\n"))
	}
	return ""
}

// spoken is an answer with sound.
func spoken(text, format string, b []byte) object {
	return object{
		"match":    object{"endpoint": "speech", "userMessage": text},
		"response": object{"audio": base64.StdEncoding.EncodeToString(b), "format": format},
	}
}

func TestThirdPartyServerSpeaks(t *testing.T) {
	file, err := os.ReadFile("../../audio/mp3/testdata/mono24k.mp3")
	if err != nil {
		t.Fatal(err)
	}
	sound := ramp(12000)
	url := aimock(t,
		spoken("in mp3", "mp3", file),
		spoken("in pcm", "pcm", audio.AppendBytes(nil, sound)),
		spoken("in wav", "wav", wav.Append(nil, audio.Mono(24000), sound)),
		object{
			"match":    object{"endpoint": "speech", "userMessage": "too often"},
			"response": object{"error": object{"message": "slow down", "type": "rate_limit_error"}, "status": 429, "retryAfter": 3},
		},
		object{
			"match":    object{"endpoint": "speech", "userMessage": "wrong key"},
			"response": object{"error": object{"message": "no", "code": "invalid_api_key"}, "status": 401},
		},
	)
	say := func(text string, f openai.Format) (n int, err error) {
		err = newSynthesizer(t, url, format(f)).Synthesize(t.Context(), speech.Utterance{Text: text}, func(p speech.Speech) error {
			n += len(p.Samples)
			return nil
		})
		return n, err
	}
	if n, err := say("in mp3", openai.MP3); err != nil || n < 2400 {
		t.Errorf("mp3: %d samples, %v", n, err)
	}
	for _, f := range []openai.Format{openai.PCM, openai.WAV} {
		if n, err := say("in "+string(f), f); err != nil || n != len(sound) {
			t.Errorf("%s: %d samples, %v", f, n, err)
		}
	}
	_, err = say("too often", openai.PCM)
	if e := wantError(t, err, frames.ErrorRateLimit, "slow down"); e.RetryAfter != 3*time.Second {
		t.Errorf("retry after %s", e.RetryAfter)
	}
	_, err = say("wrong key", openai.PCM)
	wantError(t, err, frames.ErrorAuth)
	_, err = say("what nobody knows", openai.PCM)
	wantError(t, err, frames.ErrorInvalid, "No fixture matched")
}

func TestThirdPartyServerListens(t *testing.T) {
	url := aimock(t, object{
		"match":    object{"endpoint": "transcription", "model": "stt"},
		"response": object{"transcription": object{"text": "a table for four"}},
	})
	words, err := newTranscriber(t, url).Transcribe(t.Context(), ramp(3200), 16000)
	if err != nil || words != "a table for four" {
		t.Errorf("heard %q, %v", words, err)
	}
	_, err = newTranscriber(t, url, func(c *openai.TranscriberConfig) { c.Model = "other" }).Transcribe(t.Context(), ramp(3200), 16000)
	wantError(t, err, frames.ErrorInvalid, "No fixture matched")
}
