package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

func TestTheCommandLine(t *testing.T) {
	key := map[string]string{"OPENAI_API_KEY": "sk-secret-1234567890"}
	for _, c := range []struct {
		name, args string
		env        map[string]string
		code       int
		out, err   string
	}{
		{"without anything it tells how", "", nil, 0, "turnwise serve", ""},
		{"help teaches with examples", "--help", nil, 0, "Exit codes", ""},
		{"help of a command too", "serve --help", nil, 0, "OPENAI_API_KEY=… turnwise serve --llm openai", ""},
		{"and of the chat", "chat --help", nil, 0, "Ctrl-C interrupts", ""},
		{"and of the stand-in", "offline-llm --help", nil, 0, "curl", ""},
		{"the version", "version", nil, 0, "turnwise ", ""},
		{"what there is for voice", "doctor", nil, 0, "flite", ""},
		{"an unknown voice", "serve --tts sing", nil, 2, "", "--tts"},
		{"a voice of OpenAI's without a key", "serve --tts openai", nil, 2, "", "--tts openai needs an API key in the environment variable OPENAI_API_KEY"},
		{"ears of OpenAI's without a key", "serve --stt openai", nil, 2, "", "--stt openai needs an API key"},
		{"ears of OpenAI's that hear while it is spoken", "serve --stt openai-realtime --stt-url http://127.0.0.1:1/v1", nil, 2, "", "--stt openai-realtime needs an API key in the environment variable OPENAI_API_KEY\n"},
		{"Deepgram without a key", "serve --stt deepgram", nil, 2, "", "--stt deepgram needs an API key in the environment variable DEEPGRAM_API_KEY"},
		{"ElevenLabs without a key", "serve --tts elevenlabs", key, 2, "", "--tts elevenlabs needs an API key in the environment variable ELEVENLABS_API_KEY"},
		{"Cartesia without a key", "serve --tts cartesia", key, 2, "", "--tts cartesia needs an API key in the environment variable CARTESIA_API_KEY"},
		{"a Deepgram that is none", "serve --stt deepgram --stt-url nowhere", map[string]string{"DEEPGRAM_API_KEY": "sk-secret-1234567890"}, 2, "", "BaseURL must be"},
		{"an ElevenLabs voice that is none", "serve --tts elevenlabs --tts-voice a/b", map[string]string{"ELEVENLABS_API_KEY": "sk-secret-1234567890"}, 2, "", "--tts elevenlabs: elevenlabs: invalid configuration: Config.Voice"},
		{"a Cartesia that is none", "serve --tts cartesia --tts-url nowhere", map[string]string{"CARTESIA_API_KEY": "sk-secret-1234567890"}, 2, "", "BaseURL must be"},
		{"a speech server that is none", "serve --tts openai --tts-url nowhere", nil, 2, "", "BaseURL"},
		{"what services there are keys for", "doctor", key, 0, "--stt openai           its key is in OPENAI_API_KEY\n  --stt openai-realtime  its key is in OPENAI_API_KEY\n  --stt deepgram         needs a key in DEEPGRAM_API_KEY\n", ""},
		{"a telephone without a secret", "serve --phone", nil, 2, "", "TURNWISE_PHONE_TOKEN"},
		{"a telephone with a key that is none", "serve --phone", map[string]string{"TURNWISE_PHONE_TOKEN": "sk-secret-1234567890", "TELNYX_PUBLIC_KEY": "x"}, 2, "", "TELNYX_PUBLIC_KEY"},
		{"a telephone without a voice", "serve --phone --tts off", map[string]string{"TURNWISE_PHONE_TOKEN": "sk-secret-1234567890"}, 2, "", "Phone needs Voice"},
		{"help of the call", "call --help", nil, 0, "--record", ""},
		{"a call to nobody", "call", nil, 2, "", "<url>"},
		{"a call without patience", "call --patience 0s http://127.0.0.1:1", nil, 2, "", "--patience"},
		{"a call with a file that is not there", "call --wav no-such.wav http://127.0.0.1:1", nil, 1, "", "no-such.wav"},
		{"a call with a file that is no sound", "call --wav call.go http://127.0.0.1:1", nil, 1, "", "call.go: wav"},
		{"a call where nobody is", "call http://127.0.0.1:1", nil, 1, "", "cannot call http://127.0.0.1:1"},
		{"an unknown command", "sing", nil, 2, "", "sing"},
		{"an unknown flag", "serve --loud", nil, 2, "", "turnwise serve --help"},
		{"a flag without its value", "serve --addr", nil, 2, "", "--addr"},
		{"a value of the wrong kind", "serve --max-sessions many", nil, 2, "", "--max-sessions"},
		{"a negative number", "serve --max-sessions=-1", nil, 2, "", "--max-sessions is -1; it must be from 1"},
		{"no sessions at all", "serve --max-sessions 0", nil, 2, "", "--max-sessions is 0"},
		{"a rate beyond all bounds", "serve --connect-rate 9223372036854775807", nil, 2, "", "--connect-rate"},
		{"a rate of nothing", "serve --connect-rate 0", nil, 2, "", "--connect-rate"},
		{"a drain into the past", "serve --drain=-5s", nil, 2, "", "--drain is -5s"},
		{"an idle time below none", "serve --idle-timeout=-1s", nil, 2, "", "--idle-timeout"},
		{"a pace below none", "chat --pace=-1ms", nil, 2, "", "--pace"},
		{"and for the stand-in's server", "offline-llm --pace=-1ms", nil, 2, "", "--pace"},
		{"an origin that is none", "serve --allow-origin shop", nil, 2, "", "as in https://app.example.org"},
		{"a host that is an address", "serve --allow-host https://bot.example", nil, 2, "", "--allow-host: \"https://bot.example\" is not a host name"},
		{"an unknown model kind", "serve --llm magic", nil, 2, "", "--llm"},
		{"an unknown log format", "version --log-format xml", nil, 2, "", "--log-format"},
		{"a model without a server", "serve --model gpt-4.1-mini", nil, 2, "", "--llm openai"},
		{"a server without a model", "serve --llm openai", key, 2, "", "--model"},
		{"OpenAI without a key", "chat --llm openai --model gpt-4.1-mini", nil, 2, "", "OPENAI_API_KEY"},
		{"a base URL that is none", "serve --base-url not-a-url --model x", key, 2, "", "BaseURL"},
		{"a public URL that is none", "serve --public-url not-a-url", nil, 2, "", "PublicURL"},
		{"an address that cannot be", "serve --addr 256.0.0.1:0", nil, 1, "", "--addr"},
		{"and for the stand-in", "offline-llm --addr 256.0.0.1:0", nil, 1, "", "--addr"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := run(t, c.env, "", strings.Fields(c.args)...)
			if got.code != c.code {
				t.Errorf("exit code %d, not %d: %s", got.code, c.code, got.stderr)
			}
			if !strings.Contains(got.stdout, c.out) || !strings.Contains(got.stderr, c.err) {
				t.Errorf("said %q and %q", got.stdout, got.stderr)
			}
			if strings.Contains(got.stdout+got.stderr, "sk-secret") {
				t.Error("it told the key")
			}
		})
	}
}

func TestServeAnswersUntilItIsStopped(t *testing.T) {
	address := serving(t, 0, "serve", "--addr", "127.0.0.1:0", "--log-format", "json")
	response, err := http.Get(address + "/api/flow")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	defer http.DefaultClient.CloseIdleConnections()
	var flow struct {
		Title string
		Model struct {
			StandIn bool
			Note    string
		}
		Nodes []struct{ Name string }
	}
	if err := json.NewDecoder(response.Body).Decode(&flow); err != nil {
		t.Fatal(err)
	}
	if flow.Title == "" || !flow.Model.StandIn || flow.Model.Note == "" || len(flow.Nodes) < 5 {
		t.Errorf("the flow is %+v", flow)
	}
}
