// Package g711 is the µ-law and A-law companding of ITU-T G.711, the codecs that
// telephone networks and the media streams of telephony carriers use: one byte a
// sample, 8000 samples a second, one channel.
//
// Encoding and decoding are pure functions, safe for concurrent use.
package g711

import "math/bits"

// Rate is the sample rate of a G.711 stream in Hz.
const Rate = 8000

// Bytes that decode to the quietest sample: what to send as silence.
const (
	// ULawSilence is a positive zero in µ-law.
	ULawSilence = 0xff
	// ALawSilence is the smallest positive value in A-law, which has no zero.
	ALawSilence = 0xd5
)

// µ-law companding works on 14-bit magnitudes with a bias of 33, here scaled to
// 16-bit samples.
const (
	ulawBias = 33 << 2
	ulawClip = 32635
)

// EncodeULaw is the µ-law byte of a sample.
func EncodeULaw(sample int16) byte {
	magnitude, sign := int32(sample), byte(0)
	if magnitude < 0 {
		magnitude, sign = -magnitude, 0x80
	}
	magnitude = min(magnitude, ulawClip) + ulawBias
	segment := bits.Len32(uint32(magnitude)) - 8
	step := byte(magnitude>>(segment+3)) & 0x0f
	return ^(sign | byte(segment)<<4 | step)
}

// DecodeULaw is the sample of a µ-law byte.
func DecodeULaw(code byte) int16 {
	code = ^code
	magnitude := (int32(code&0x0f)<<3+ulawBias)<<(code>>4&7) - ulawBias
	if code&0x80 != 0 {
		return int16(-magnitude)
	}
	return int16(magnitude)
}

// alawToggle inverts every other bit on the line.
const alawToggle = 0x55

// EncodeALaw is the A-law byte of a sample.
func EncodeALaw(sample int16) byte {
	magnitude, sign := int32(sample)>>3, byte(0x80)
	if magnitude < 0 {
		magnitude, sign = ^magnitude, 0
	}
	code := byte(magnitude>>1) & 0x0f // segment 0 and 1 have the same step
	if segment := bits.Len32(uint32(magnitude)) - 5; segment > 0 {
		code = byte(segment)<<4 | byte(magnitude>>segment)&0x0f
	}
	return (sign | code) ^ alawToggle
}

// DecodeALaw is the sample of an A-law byte.
func DecodeALaw(code byte) int16 {
	code ^= alawToggle
	magnitude := int32(code&0x0f)<<4 + 8
	if segment := code >> 4 & 7; segment > 0 {
		magnitude = (magnitude + 0x100) << (segment - 1)
	}
	if code&0x80 == 0 {
		return int16(-magnitude)
	}
	return int16(magnitude)
}

// AppendULaw appends the µ-law bytes of the samples to dst.
func AppendULaw(dst []byte, samples []int16) []byte {
	for _, s := range samples {
		dst = append(dst, EncodeULaw(s))
	}
	return dst
}

// AppendFromULaw appends the samples of µ-law bytes to dst.
func AppendFromULaw(dst []int16, codes []byte) []int16 {
	for _, c := range codes {
		dst = append(dst, DecodeULaw(c))
	}
	return dst
}

// AppendALaw appends the A-law bytes of the samples to dst.
func AppendALaw(dst []byte, samples []int16) []byte {
	for _, s := range samples {
		dst = append(dst, EncodeALaw(s))
	}
	return dst
}

// AppendFromALaw appends the samples of A-law bytes to dst.
func AppendFromALaw(dst []int16, codes []byte) []int16 {
	for _, c := range codes {
		dst = append(dst, DecodeALaw(c))
	}
	return dst
}
