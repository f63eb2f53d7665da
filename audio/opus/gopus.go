//go:build !libopus || !cgo

package opus

import (
	"errors"
	"time"

	"github.com/thesyncim/gopus"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/resample"
)

// goEncoder encodes with the pure-Go implementation.
type goEncoder struct {
	enc *gopus.Encoder
	// up is nil where frames are encoded at their own rate.
	up  *resample.Resampler
	buf []int16
}

// fullRate is the rate of the codec itself.
const fullRate = 48000

// encodesAsIs reports whether the implementation does well at the format's own rate.
// Version 0.1.1 does not below 48 kHz where the upper band is coded apart or alone: a
// 24 kHz stream of speech gains a hiss at -50 dBFS between 8 and 12 kHz, which the C
// library given the same frames has not, and music has 5 dB more noise.
func encodesAsIs(cfg EncoderConfig) bool {
	return cfg.Format.Rate == fullRate || cfg.Format.Rate <= 16000 && !cfg.Music
}

func newEncoderBackend(cfg EncoderConfig) (encoderBackend, error) {
	e := &goEncoder{}
	format := cfg.Format
	if !encodesAsIs(cfg) {
		if err := e.upsample(format); err != nil {
			return nil, err
		}
		format.Rate = fullRate
	}
	application := gopus.ApplicationVoIP
	if cfg.Music {
		application = gopus.ApplicationAudio
	}
	var err error
	e.enc, err = gopus.NewEncoder(gopus.EncoderConfig{SampleRate: format.Rate, Channels: format.Channels, Application: application})
	if err != nil {
		return nil, err
	}
	if err := e.enc.SetFrameSize(format.Samples(cfg.Frame) / format.Channels); err != nil {
		return nil, err
	}
	if err := e.enc.SetComplexity(cfg.Complexity); err != nil {
		return nil, err
	}
	if err := e.enc.SetMaxBandwidth(bandwidth(cfg.Format.Rate)); err != nil {
		return nil, err
	}
	e.enc.SetDTX(cfg.DTX)
	e.enc.SetFEC(cfg.FEC)
	return e, e.adapt(cfg.Bitrate, cfg.Loss)
}

// upsample prepares for encoding at the full rate. The resampler is fed the silence
// that makes it give a whole frame for every frame, 1.5 ms later for 24 kHz.
func (e *goEncoder) upsample(format audio.Format) error {
	filter, err := resample.NewFilter(format.Rate, fullRate)
	if err != nil {
		return err
	}
	e.up = filter.New(format.Channels)
	e.buf = e.up.Append(e.buf, make([]int16, format.Samples(filter.HoldBack()+time.Microsecond)))
	return nil
}

// bandwidth is the widest that a rate can fill.
func bandwidth(rate int) gopus.Bandwidth {
	switch rate {
	case 8000:
		return gopus.BandwidthNarrowband
	case 12000:
		return gopus.BandwidthMediumband
	case 16000:
		return gopus.BandwidthWideband
	case 24000:
		return gopus.BandwidthSuperwideband
	}
	return gopus.BandwidthFullband
}

func (e *goEncoder) encode(frame []int16, packet []byte) (int, error) {
	if e.up != nil {
		e.buf = e.up.Append(e.buf[:0], frame)
		frame = e.buf
	}
	return e.enc.EncodeInt16(frame, packet)
}

func (e *goEncoder) adapt(bitrate, loss int) error {
	if err := e.enc.SetBitrate(bitrate); err != nil {
		return err
	}
	return e.enc.SetPacketLoss(loss)
}

// reset asks for a new encoder: the implementation's own leaves some state behind.
func (e *goEncoder) reset() error { return errors.ErrUnsupported }

type goDecoder struct {
	*gopus.Decoder
	channels int
	float    []float32 // FEC is decoded to floats only
}

func newDecoderBackend(format audio.Format) (decoderBackend, error) {
	dec, err := gopus.NewDecoder(gopus.DefaultDecoderConfig(format.Rate, format.Channels))
	if err != nil {
		return nil, err
	}
	return &goDecoder{Decoder: dec, channels: format.Channels}, nil
}

func (d *goDecoder) decode(packet []byte, out []int16) (int, error) {
	return d.DecodeInt16(packet, out)
}

func (d *goDecoder) conceal(out []int16) (int, error) { return d.DecodeInt16(nil, out) }

func (d *goDecoder) recover(next []byte, out []int16) (int, error) {
	if len(d.float) < len(out) {
		d.float = make([]float32, len(out))
	}
	n, err := d.DecodeWithFEC(next, d.float[:len(out)], true)
	if err != nil {
		return 0, err
	}
	for i, v := range d.float[:n*d.channels] {
		out[i] = audio.Clip(v * 32768)
	}
	return n, nil
}

func (d *goDecoder) reset() error {
	d.Reset()
	return nil
}
