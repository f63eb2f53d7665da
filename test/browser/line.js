// A microphone in the hands of a test, and an ear at the page's loudspeaker. Times are
// seconds of one clock, that of the sound.
(() => {
  const LOUD = 0.01; // −40 dB: speech is above, comfort noise and silence below
  const STEP = 128; // samples that are judged at a time, 2.7 ms
  const sound = new AudioContext({ sampleRate: 48000 });
  const microphone = sound.createMediaStreamDestination();
  const hum = sound.createConstantSource(); // the line is open though nothing is said
  hum.offset.value = 0;
  hum.connect(microphone);
  hum.start();

  const said = []; // [begin, end]
  const heard = []; // [begin, end] of what is loud, step by step joined
  const messages = []; // {at, type, data}
  let until = 0; // what has been listened to

  navigator.mediaDevices.getUserMedia = async () => microphone.stream.clone();

  // All that the bot tells over the data channel is noted when it comes.
  const { createDataChannel } = RTCPeerConnection.prototype;
  RTCPeerConnection.prototype.createDataChannel = function create(...args) {
    const channel = createDataChannel.apply(this, args);
    channel.addEventListener('message', ({ data }) => {
      try {
        const { type, data: body } = JSON.parse(data);
        messages.push({ at: sound.currentTime, type, data: body ?? null });
      } catch { /* not one of these */ }
    });
    return channel;
  };

  // The sound of each connection is listened to beside the page's own loudspeaker.
  const { setRemoteDescription } = RTCPeerConnection.prototype;
  RTCPeerConnection.prototype.setRemoteDescription = function set(...args) {
    this.addEventListener('track', ({ track }) => { if (track.kind === 'audio') listen(track); });
    return setRemoteDescription.apply(this, args);
  };

  function listen(track) {
    const source = sound.createMediaStreamSource(new MediaStream([track]));
    const ear = sound.createScriptProcessor(1024, 1, 1);
    ear.onaudioprocess = ({ inputBuffer, playbackTime }) => {
      const samples = inputBuffer.getChannelData(0);
      // What is given now was heard one buffer before it would be played.
      const begin = playbackTime - 2 * inputBuffer.duration;
      for (let i = 0; i < samples.length; i += STEP) {
        let peak = 0;
        for (let k = i; k < i + STEP; k += 1) peak = Math.max(peak, Math.abs(samples[k]));
        const at = begin + i / sound.sampleRate;
        if (peak >= LOUD) note(at, at + STEP / sound.sampleRate);
      }
      until = begin + inputBuffer.duration;
    };
    source.connect(ear);
    ear.connect(sound.destination); // it is not called else; it stays silent
  }

  function note(begin, end) {
    const last = heard.at(-1);
    if (last && begin - last[1] < 0.03) last[1] = end;
    else heard.push([begin, end]);
  }

  window.line = {
    /** say plays 16-bit samples into the microphone; the promise is kept when they are over. */
    async say(base64, rate) {
      await sound.resume();
      const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
      const samples = new Int16Array(bytes.buffer);
      const buffer = sound.createBuffer(1, samples.length, rate);
      buffer.getChannelData(0).set(Float32Array.from(samples, (s) => s / 32768));
      const source = sound.createBufferSource();
      source.buffer = buffer;
      source.connect(microphone);
      const begin = sound.currentTime + 0.02;
      source.start(begin);
      said.push([begin, begin + buffer.duration]);
      await new Promise((done) => { source.onended = done; });
      return begin;
    },
    now: () => sound.currentTime,
    /** spoken tells whether the bot was heard for so long since a time and has been silent since for as long as asked. */
    spoken(since, long, silence) {
      const loud = heard.filter(([, end]) => end > since);
      const total = loud.reduce((sum, [begin, end]) => sum + end - Math.max(begin, since), 0);
      return total >= long && until - loud.at(-1)[1] >= silence;
    },
    report: () => ({ said, heard, messages }),
  };
  return true;
})()
