// What an application that uses the RTVI client libraries looks like, reduced to
// what a test can call. The libraries are used as published: nothing in them is
// replaced, and only public names are used.
import { PipecatClient, RTVIMessage } from "@pipecat-ai/client-js";
import { ProtobufFrameSerializer, WavMediaManager, WebSocketTransport } from "@pipecat-ai/websocket-transport";

// Every callback of the client that the tests look at, as it is called.
const names = [
  "onConnected", "onDisconnected", "onTransportStateChanged", "onBotReady", "onError",
  "onServerMessage", "onMessageError", "onUserLlmText",
  "onBotLlmStarted", "onBotLlmText", "onBotLlmStopped", "onBotOutput",
  "onLLMFunctionCallStarted", "onLLMFunctionCallInProgress", "onLLMFunctionCallStopped",
  "onMetrics", "onUserTranscript", "onUserStartedSpeaking", "onUserStoppedSpeaking",
  "onBotStartedSpeaking", "onBotStoppedSpeaking", "onBotTtsStarted", "onBotTtsStopped",
];

// An ear at the loudspeaker: what the library plays is heard by analysers, too. That is
// all that is changed, and it changes nothing for the library.
const analysers = [];
const { connect } = AudioNode.prototype;
AudioNode.prototype.connect = function listened(to, ...rest) {
  if (to instanceof AudioDestinationNode) {
    const analyser = this.context.createAnalyser();
    connect.call(this, analyser);
    analysers.push(analyser);
  }
  return connect.call(this, to, ...rest);
};

// level is the peak of what is being played, from 0 to 1.
function level() {
  let peak = 0;
  for (const analyser of analysers) {
    const samples = new Float32Array(analyser.fftSize);
    analyser.getFloatTimeDomainData(samples);
    for (const s of samples) peak = Math.max(peak, Math.abs(s));
  }
  return peak;
}

// played waits until what is played has been as asked so many times in a row.
async function played(as, times, limit) {
  const begin = performance.now();
  for (let n = 0; n < times;) {
    n = as(level()) ? n + 1 : 0;
    if (performance.now() - begin > limit) throw new Error(`the level is ${level()} after ${limit} ms`);
    await new Promise((done) => { setTimeout(done, 10); });
  }
  return performance.now() - begin;
}

let client;
let events = [];
let watchers = [];

function note(name, data) {
  events.push({ name, data: data ?? null });
  watchers = watchers.filter((look) => !look());
}

window.interop = {
  // open makes a client; connect or startAndConnect comes next.
  open() {
    events = [];
    const callbacks = {};
    for (const name of names) callbacks[name] = (data) => note(name, data);
    client = new PipecatClient({
      transport: new WebSocketTransport({
        mediaManager: new WavMediaManager(undefined, 16000),
        serializer: new ProtobufFrameSerializer(),
        recorderSampleRate: 16000,
        playerSampleRate: 24000,
      }),
      enableMic: false,
      enableCam: false,
      callbacks,
    });
    return true;
  },
  // Both resolve with what the server's bot-ready carried.
  connect: (wsUrl) => client.connect({ wsUrl }),
  startAndConnect: (endpoint) => client.startBotAndConnect({ endpoint, requestData: {} }),

  state: () => client.state,
  sendText: (text) => client.sendText(text).then(() => true),
  enableMic: async (on) => { await client.enableMic(on); return true; },
  disconnectBot: () => { client.disconnectBot(); return true; },
  disconnect: () => client.disconnect().then(() => true),

  // request resolves with {response} or, when the server refused it, {error}.
  request: (type, data) => client.sendClientRequest(type, data, 5000).then(
    (response) => ({ response }),
    (error) => ({ error: error?.data?.error ?? String(error) }),
  ),
  // send sends a message of a type that the library has no function for, and
  // returns its id.
  send(type, data) {
    const message = new RTVIMessage(type, data);
    client.transport.sendMessage(message);
    return message.id;
  },

  // Both resolve with the milliseconds it took; they reject after limit.
  loud: (limit = 15000) => played((peak) => peak > 0.05, 1, limit),
  silent: (limit = 15000) => played((peak) => peak < 0.01, 10, limit),

  // How many events there were, and those from a position on.
  position: () => events.length,
  events: (from = 0) => events.slice(from),

  // until resolves with the first event from a position on that has this name
  // and, when text is given, text somewhere in its JSON; it rejects after limit
  // milliseconds, naming what did come.
  until: (name, text = "", from = 0, limit = 15000) => new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      watchers = watchers.filter((look) => look !== find);
      reject(new Error(`no ${name} with "${text}" from ${from} on; there were ${JSON.stringify(events.slice(from))}`));
    }, limit);
    function find() {
      const event = events.slice(from).find((e) => e.name === name && JSON.stringify(e.data).includes(text));
      if (event) {
        clearTimeout(timer);
        resolve(event);
      }
      return Boolean(event);
    }
    if (!find()) watchers.push(find);
  }),
};
