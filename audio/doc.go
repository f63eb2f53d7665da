// Package audio holds what the rest of Turnwise needs to treat sound as numbers:
// the shape of a stream, bytes and samples, channels, levels, tones.
//
// Samples are signed 16-bit, interleaved when there is more than one channel. A
// slice of samples says nothing about its rate, so every function and type that
// depends on it takes a [Format] or names the rate in its contract. Streams are
// read through [Source].
//
// The sub-packages each do one thing to such samples:
//
//	audio/wav       reads and writes WAV streams
//	audio/g711      µ-law and A-law, the codecs of telephone networks
//	audio/mp3       decodes MP3 streams
//	audio/opus      the codec of WebRTC
//	audio/resample  changes the sample rate of a stream
//	audio/vad       tells speech from the rest
//	audio/mix       background sound and hold music under speech
//
// Nothing here starts a goroutine or keeps state between values. Unless a type
// says otherwise, a value belongs to one stream and is used by one goroutine at a
// time.
package audio
