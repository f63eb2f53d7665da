// Package local gives a voice and ears without a key and without a network, by
// running programs that are on the machine: flite or espeak-ng to speak,
// pocketsphinx to listen.
//
// [Find] looks for them and says what is missing. A report makes the rest:
//
//	report := local.Find(ctx)
//	voice, err := report.Synthesizer()
//	ears, err := report.Transcriber()
//	recognizer, err := speech.NewSegmented(speech.SegmentedConfig{Transcriber: ears})
//
// Every utterance and every piece of speech is a process of its own, run by the
// goroutine that asks for it and ended, with all that it started, when the
// context ends. Text goes to it through standard input: no shell is involved and
// nothing that is said can be seen in a list of processes. The processes get an
// environment of their own, without what this program's holds. A [Synthesizer] or
// [Transcriber] runs a limited number of processes at once; further callers wait.
//
// It is meant for trying things out and for tests. The voices are plain, and
// pocketsphinx understands English said clearly.
package local
