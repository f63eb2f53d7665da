package wav

import (
	"encoding/binary"
	"math"

	"github.com/turnwise/turnwise/audio"
	"github.com/turnwise/turnwise/audio/g711"
)

// sampleDecoder returns the function that turns encoded bytes into samples, one for
// each bits/8 bytes, or nil for an encoding that is not supported.
func sampleDecoder(tag uint16, bits int) func(dst []int16, b []byte) {
	switch {
	case tag == tagPCM && bits == 8:
		return decode8
	case tag == tagPCM && bits == 16:
		return decode16
	case tag == tagPCM && bits == 24:
		return decode24
	case tag == tagPCM && bits == 32:
		return decode32
	case tag == tagFloat && bits == 32:
		return decodeFloat32
	case tag == tagFloat && bits == 64:
		return decodeFloat64
	case tag == tagULaw && bits == 8:
		return func(dst []int16, b []byte) { g711.AppendFromULaw(dst[:0], b) }
	case tag == tagALaw && bits == 8:
		return func(dst []int16, b []byte) { g711.AppendFromALaw(dst[:0], b) }
	}
	return nil
}

func decode8(dst []int16, b []byte) {
	for i := range dst {
		dst[i] = (int16(b[i]) - 128) << 8
	}
}

func decode16(dst []int16, b []byte) {
	for i := range dst {
		dst[i] = int16(binary.LittleEndian.Uint16(b[2*i:]))
	}
}

func decode24(dst []int16, b []byte) {
	for i := range dst {
		q := b[3*i : 3*i+3]
		v := int32(q[0])<<8 | int32(q[1])<<16 | int32(q[2])<<24
		dst[i] = top16(v)
	}
}

func decode32(dst []int16, b []byte) {
	for i := range dst {
		dst[i] = top16(int32(binary.LittleEndian.Uint32(b[4*i:])))
	}
}

// top16 rounds to the upper 16 bits.
func top16(v int32) int16 {
	return int16(min((int64(v)+1<<15)>>16, math.MaxInt16))
}

func decodeFloat32(dst []int16, b []byte) {
	for i := range dst {
		dst[i] = fromFloat(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
	}
}

func decodeFloat64(dst []int16, b []byte) {
	for i := range dst {
		dst[i] = fromFloat(float32(math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))))
	}
}

// fromFloat takes -1 to 1 to the range of a sample; what is no number is silence.
func fromFloat(x float32) int16 {
	if x != x {
		return 0
	}
	return audio.Clip(x * (1 << 15))
}
