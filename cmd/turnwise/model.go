package main

import (
	"log/slog"
	"time"

	"github.com/turnwise/turnwise/llm"
	"github.com/turnwise/turnwise/llm/offline"
	"github.com/turnwise/turnwise/llm/openai"
	"github.com/turnwise/turnwise/server"
)

// keyVariable is where the API key is read from. There is no flag for it: command
// lines are seen by every user of a machine and end up in histories.
const keyVariable = "OPENAI_API_KEY"

// model makes the model that the flags choose and says what users are told of it.
// Pace is the offline model's when the flags do not say.
func (f *modelFlags) model(w *world, log *slog.Logger, pace time.Duration) (llm.Model, server.ModelInfo, error) {
	if f.Pace != nil {
		pace = *f.Pace
		if err := notNegative("pace", pace); err != nil {
			return nil, server.ModelInfo{}, err
		}
	}
	if f.LLM == "offline" && f.BaseURL == "" {
		if f.Model != "" {
			return nil, server.ModelInfo{}, usageError("--model needs --llm openai or --base-url; the offline stand-in has no models to choose from")
		}
		return offline.New(offline.Config{WordDelay: pace}), server.ModelInfo{
			Name: offline.Name, StandIn: true,
			Note: "It follows the flow's functions and texts by rules and understands simple English. " +
				"For a real model start the server with --llm openai.",
		}, nil
	}
	key := w.getenv(keyVariable)
	switch {
	case f.Model == "":
		return nil, server.ModelInfo{}, usageError("--llm openai needs --model, the model's name at the server")
	case key == "" && f.BaseURL == "":
		return nil, server.ModelInfo{}, usageError("--llm openai needs an API key in the environment variable " + keyVariable +
			", or --base-url of a server that takes none")
	}
	m, err := openai.New(openai.Config{Model: f.Model, APIKey: key, BaseURL: f.BaseURL})
	if err != nil {
		return nil, server.ModelInfo{}, usageError(err.Error())
	}
	log.Debug("model", "name", f.Model, "base_url", f.BaseURL, "key", key != "")
	return m, server.ModelInfo{Name: f.Model}, nil
}
