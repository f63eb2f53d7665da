package llm

import (
	"errors"
	"fmt"
	"time"

	"github.com/turnwise/turnwise/frames"
	"github.com/turnwise/turnwise/pipeline"
)

// attemptFailed decides between another attempt, the fallback, and giving up.
func (s *Service) attemptFailed(g *generation, err error) {
	g.cancel(err)
	g.waited, s.stalled = 0, stall{}
	if g.text.Len() == 0 {
		if pause, again := s.again(g, err); again {
			s.Logger().Warn("generation failed, trying again", "model", modelName(g.model), "err", err, "in", pause)
			g.attempt++ // what the failed attempt still posts is ignored
			s.After(pipeline.TurnScope, pause, func() {
				if s.gen == g {
					s.try(g)
				}
			})
			return
		}
		if s.cfg.Fallback != nil && !g.fallback {
			s.Logger().Warn("generation failed, using the fallback model", "model", modelName(g.model), "err", err)
			s.modelFailed()
			s.useFallback(g)
			return
		}
	}
	if !g.fallback {
		s.modelFailed()
	}
	s.giveUp(g, err)
}

// again reports whether the same model is asked once more, and after what pause.
func (s *Service) again(g *generation, err error) (time.Duration, bool) {
	if g.tries > s.cfg.Retries || !retryable(err) {
		return 0, false
	}
	pause := s.cfg.Backoff << (g.tries - 1)
	var e *Error
	if errors.As(err, &e) && e.RetryAfter > 0 {
		if e.RetryAfter > 10*s.cfg.Backoff {
			return 0, false
		}
		pause = max(pause, e.RetryAfter)
	}
	return pause, true
}

func retryable(err error) bool {
	var e *Error
	if errors.As(err, &e) {
		return e.Retryable() || errors.Is(err, ErrCut)
	}
	return errors.Is(err, errFirst) || errors.Is(err, errBetween) || errors.Is(err, ErrCut)
}

// giveUp ends the response with an event that says why and, where nothing was
// said, an apology.
func (s *Service) giveUp(g *generation, err error) {
	category := categoryOf(err)
	s.discard("error")
	s.trouble(category, publicText(category), fmt.Errorf("response %d of %s: %w", g.response, modelName(g.model), err))
	if s.cfg.Apology != "" {
		s.send(&frames.SpeakFrame{Text: s.cfg.Apology, NoContext: true})
	}
	s.turnEnded(g)
	s.Dirty()
}

// turnEnded tells the director that the bot has said what it has to say.
func (s *Service) turnEnded(g *generation) {
	if w, ok := s.director.(TurnWatcher); ok {
		w.BotTurnEnded(g.response)
	}
}

func categoryOf(err error) frames.ErrorCategory {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e.Category
	case errors.Is(err, errFirst), errors.Is(err, errBetween), errors.Is(err, errTotal):
		return frames.ErrorTimeout
	case errors.Is(err, ErrCut):
		return frames.ErrorNetwork
	case errors.Is(err, errUnusable):
		return frames.ErrorServer
	}
	return frames.ErrorInternal
}

// publicText is what a client may be told about an error.
func publicText(c frames.ErrorCategory) string {
	switch c {
	case frames.ErrorAuth:
		return "The language model refused the server's credentials."
	case frames.ErrorQuota:
		return "The language model's quota is used up."
	case frames.ErrorRateLimit:
		return "The language model is busy."
	case frames.ErrorInvalid:
		return "The language model could not handle the request."
	case frames.ErrorNetwork:
		return "The language model could not be reached."
	case frames.ErrorTimeout:
		return "The language model did not answer in time."
	case frames.ErrorContent:
		return "The language model declined to answer."
	}
	return "The language model failed."
}

func modelName(m Model) string {
	if n, ok := m.(Named); ok {
		return n.ModelName()
	}
	return ""
}
