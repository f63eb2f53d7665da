//go:build libopus && cgo

package opus

import (
	"github.com/hraban/opus"

	"github.com/turnwise/turnwise/audio"
)

type cEncoder struct{ *opus.Encoder }

func newEncoderBackend(cfg EncoderConfig) (encoderBackend, error) {
	application := opus.AppVoIP
	if cfg.Music {
		application = opus.AppAudio
	}
	enc, err := opus.NewEncoder(cfg.Format.Rate, cfg.Format.Channels, application)
	if err != nil {
		return nil, err
	}
	if err := enc.SetComplexity(cfg.Complexity); err != nil {
		return nil, err
	}
	if err := enc.SetDTX(cfg.DTX); err != nil {
		return nil, err
	}
	if err := enc.SetInBandFEC(cfg.FEC); err != nil {
		return nil, err
	}
	e := cEncoder{enc}
	return e, e.adapt(cfg.Bitrate, cfg.Loss)
}

func (e cEncoder) encode(frame []int16, packet []byte) (int, error) { return e.Encode(frame, packet) }

func (e cEncoder) adapt(bitrate, loss int) error {
	if err := e.SetBitrate(bitrate); err != nil {
		return err
	}
	return e.SetPacketLossPerc(loss)
}

func (e cEncoder) reset() error { return e.Reset() }

type cDecoder struct {
	*opus.Decoder
	format audio.Format
}

func newDecoderBackend(format audio.Format) (decoderBackend, error) {
	dec, err := opus.NewDecoder(format.Rate, format.Channels)
	if err != nil {
		return nil, err
	}
	return cDecoder{dec, format}, nil
}

func (d cDecoder) decode(packet []byte, out []int16) (int, error) { return d.Decode(packet, out) }

func (d cDecoder) conceal(out []int16) (int, error) {
	return len(out) / d.format.Channels, d.DecodePLC(out)
}

func (d cDecoder) recover(next []byte, out []int16) (int, error) {
	return len(out) / d.format.Channels, d.DecodeFEC(next, out)
}

func (d cDecoder) reset() error { return d.Init(d.format.Rate, d.format.Channels) }
