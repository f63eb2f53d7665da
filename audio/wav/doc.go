// Package wav reads and writes WAV streams.
//
// The reader takes what is met in practice: files and pipes, 8 to 32-bit integers,
// 32 and 64-bit floats, µ-law and A-law, the extensible header, unknown chunks
// before the sound, odd sizes, and headers whose sizes are made up because the
// writer did not know the length. The writer streams, and writes the sizes into the
// header at the end where the destination allows it.
package wav
