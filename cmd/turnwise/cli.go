package main

import (
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/alecthomas/kong"
)

const description = `Conversations that a flow steers, in the browser and in the terminal.

Nothing is needed to try it: without a key and a network an offline stand-in plays the
language model's part.`

// cli is the command line.
type cli struct {
	LogFormat string `enum:"text,json" default:"text" help:"How the log is written: text or json."`
	LogLevel  string `enum:",debug,info,warn,error" default:"" placeholder:"LEVEL" help:"What the log holds: debug, info, warn or error. The default is info, and for chat warn."`

	Serve      serveCmd      `cmd:"" help:"Serve a bot to browsers and to RTVI clients."`
	Chat       chatCmd       `cmd:"" help:"Talk to the bot here in the terminal."`
	OfflineLLM offlineLLMCmd `cmd:"" name:"offline-llm" help:"Serve the offline stand-in as an OpenAI-compatible server."`
	Call       callCmd       `cmd:"" help:"Call a bot with sound from files, and measure how it answers."`
	Doctor     doctorCmd     `cmd:"" help:"Tell what this machine has for voice, and what is missing."`
	Version    struct{}      `cmd:"" help:"Print the version."`
}

type serveCmd struct {
	modelFlags
	voiceFlags
	phoneFlags
	Addr           string        `default:":8080" placeholder:"ADDR" help:"Where to listen, host:port; :0 takes a free port (${default}, all addresses of the machine)."`
	MaxSessions    int           `default:"1000" placeholder:"N" help:"The most conversations at a time; further clients are refused with 503 (${default})."`
	ConnectRate    int           `default:"500" placeholder:"N" help:"The most conversations that begin in a second (${default})."`
	Drain          time.Duration `default:"20s" placeholder:"TIME" help:"How long conversations may go on after SIGTERM or Ctrl-C; a second Ctrl-C stops at once (${default})."`
	IdleTimeout    time.Duration `default:"15m" placeholder:"TIME" help:"End a conversation in which nothing is said for so long; 0 never does (${default})."`
	AllowedOrigins []string      `name:"allow-origin" placeholder:"ORIGIN" help:"A web origin besides the server's own that may connect, e.g. https://shop.example; * for all. Repeatable."`
	AllowedHosts   []string      `name:"allow-host" placeholder:"HOST" help:"A host name the server goes by, besides localhost and that of --public-url. It matters only when --addr is this machine alone. Repeatable."`
	PublicURL      string        `placeholder:"URL" help:"The address clients use, when it is not the one they send, behind a proxy."`
	NoMetrics      bool          `help:"Leave out /metrics."`
}

type chatCmd struct {
	modelFlags
	Inside bool `help:"Show nodes and function calls as they happen."`
}

type offlineLLMCmd struct {
	Addr string        `default:"127.0.0.1:8090" placeholder:"ADDR" help:"Where to listen, host:port (${default})."`
	Pace time.Duration `default:"0" placeholder:"TIME" help:"Pause before each word, to look like a model at work."`
}

// modelFlags choose who answers.
type modelFlags struct {
	LLM     string `name:"llm" enum:"offline,openai" default:"offline" help:"Who answers: offline, a stand-in that needs nothing, or openai, any OpenAI-compatible server."`
	Model   string `placeholder:"NAME" help:"The model's name at the server, with --llm openai."`
	BaseURL string `placeholder:"URL" help:"Address of an OpenAI-compatible server such as Ollama or vLLM, e.g. http://localhost:11434/v1; implies --llm openai."`

	Pace *time.Duration `placeholder:"TIME" help:"Pause of the offline stand-in before each word, to look like a model at work. The default is 20ms, and none in a pipe."`
}

// defaultPace makes the offline model look like one at work, slow enough to be
// interrupted.
const defaultPace = 20 * time.Millisecond

// examples teach by doing; they follow the help of their command.
func examples(command string) string {
	switch command {
	case "":
		return `Examples:
  turnwise serve                     a page to chat with on http://localhost:8080
  turnwise chat                      the same conversation here
  echo "a table for four" | turnwise chat
  turnwise serve --help              all there is to say about one command

Exit codes: 0 fine, 1 something failed, 2 the command line is wrong.
`
	case "serve":
		return `Examples:
  turnwise serve
  turnwise serve --addr 127.0.0.1:9000 --max-sessions 50
  OPENAI_API_KEY=… turnwise serve --llm openai --model gpt-4.1-mini
  turnwise serve --stt off               for chat only
  OPENAI_API_KEY=… turnwise serve --stt openai --tts openai --llm openai --model gpt-4.1-mini
  DEEPGRAM_API_KEY=… ELEVENLABS_API_KEY=… turnwise serve --stt deepgram --tts elevenlabs
  turnwise serve --tts openai --tts-url http://localhost:8880/v1 --tts-model kokoro --tts-voice af_heart
  turnwise serve --base-url http://localhost:11434/v1 --model qwen3      with Ollama

Calls by telephone: the carrier asks https://…/phone/twilio?token=… (or telnyx, plivo)
what to do with a call, with the token of TURNWISE_PHONE_TOKEN; Exotel is given
wss://…/phone/stream?token=…. TWILIO_AUTH_TOKEN and TELNYX_PUBLIC_KEY have signatures
checked. With TWILIO_ACCOUNT_SID, TELNYX_API_KEY, or PLIVO_AUTH_ID and PLIVO_AUTH_TOKEN
the bot hangs up when it has finished.
  TURNWISE_PHONE_TOKEN=… turnwise serve --phone --public-url https://bot.example

Then open the page, connect an RTVI client to POST /connect or ws://…/ws, or look at
/healthz, /readyz and /metrics. Keys are read from the environment alone: OPENAI_API_KEY,
DEEPGRAM_API_KEY, ELEVENLABS_API_KEY, CARTESIA_API_KEY.
`
	case "chat":
		return `Examples:
  turnwise chat
  turnwise chat --inside                              with nodes and function calls
  printf 'a table for four\ntomorrow at 7 pm\n' | turnwise chat
  turnwise chat --base-url http://localhost:11434/v1 --model qwen3

Ctrl-C interrupts the bot; twice, or Ctrl-D, ends the conversation.

Exit codes: 0 fine; 1 a line is longer than 32 KiB, the output cannot be written or,
in a pipe, the model failed; 2 the command line is wrong.
`
	case "call":
		return `Examples:
  turnwise call http://localhost:8080                                    hear the greeting
  turnwise call --wav question.wav --record call.wav http://localhost:8080
  turnwise call --wav one.wav --wav two.wav --json https://bot.example
  turnwise call --text 'a table for four' http://localhost:8080          typed, answered aloud

It prints who said what and when, then how long the call took to set up and each answer to
begin: from the last sound of the turn to the first of the answer, as heard here.

Exit codes: 0 every turn was answered; 1 it was not, or no call came about; 2 the command
line is wrong.
`
	case "offline-llm":
		return `Examples:
  turnwise offline-llm --addr 127.0.0.1:8090
  curl -s http://127.0.0.1:8090/v1/chat/completions -H 'Content-Type: application/json' \
    -d '{"model":"offline","messages":[{"role":"user","content":"hello"}]}'
  turnwise serve --base-url http://127.0.0.1:8090/v1 --model offline
`
	}
	return ""
}

// withExamples prints kong's help and the examples after it.
func withExamples(options kong.HelpOptions, ctx *kong.Context) error {
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
		return err
	}
	command := ""
	if n := ctx.Selected(); n != nil {
		command = n.Name
	}
	if text := examples(command); text != "" {
		_, err := fmt.Fprint(ctx.Stdout, "\n", text)
		return err
	}
	return nil
}

// logger makes the log the command line asks for.
func (c *cli) logger(w io.Writer, level slog.Level) (*slog.Logger, error) {
	if c.LogLevel != "" {
		if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil {
			return nil, usageError(err.Error())
		}
	}
	options := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, options)), nil
	}
	return slog.New(slog.NewTextHandler(w, options)), nil
}

// version is the module's version, or the revision it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel " + s.Value[:12]
		}
	}
	return "devel"
}
