// What an application that uses the RTVI client libraries looks like, reduced to
// what a test can call. The libraries are used as published: nothing in them is
// replaced, and only public names are used.
import { PipecatClient, RTVIMessage } from "@pipecat-ai/client-js";
import { ProtobufFrameSerializer, WavMediaManager, WebSocketTransport } from "@pipecat-ai/websocket-transport";

// Every callback of the client that the tests look at, as it is called.
const names = [
  "onConnected", "onDisconnected", "onTransportStateChanged", "onBotReady", "onError",
  "onServerMessage", "onMessageError", "onUserTranscript", "onUserLlmText",
  "onBotLlmStarted", "onBotLlmText", "onBotLlmStopped", "onBotOutput",
  "onLLMFunctionCallStarted", "onLLMFunctionCallInProgress", "onLLMFunctionCallStopped",
  "onMetrics",
];

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
