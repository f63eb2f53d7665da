package server

import (
	"slices"

	"github.com/turnwise/turnwise/pipeline"
	"github.com/turnwise/turnwise/speech/recording"
)

// record has a call recorded. One that cannot be is held all the same, and the reason
// logged.
func (s *Server) record(cfg *SessionConfig, source recording.Source, rate int) recording.Source {
	cfg.ID = newSessionID()
	log := s.log.With("session", cfg.ID)
	out, err := s.cfg.Record(cfg.ID)
	if err != nil {
		log.Error("the call is not recorded", "err", err)
		return source
	}
	recorder, err := recording.New(recording.Config{
		Output: out, Rate: rate,
		OnError: func(err error) { log.Error("the call is not recorded any more", "err", err) },
	})
	if err != nil {
		log.Error("the call is not recorded", "err", err)
		_ = out.Close() // there is nothing in it
		return source
	}
	cfg.Listen = slices.Insert(cfg.Listen, 0, pipeline.Processor(recorder.Listen()))
	cfg.release = func() {
		_ = recorder.Close() // told by OnError
		if n := recorder.Dropped(); n > 0 {
			log.Warn("the recording has gaps: the disk was too slow", "slots", n)
		}
		if err := out.Close(); err != nil {
			log.Error("the recording was not finished", "err", err)
		}
	}
	return recorder.Play(source)
}
