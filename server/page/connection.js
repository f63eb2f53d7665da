// One session with the bot: RTVI messages as JSON over a WebSocket.

const PROTOCOL = '2.1.0';
const LABEL = 'rtvi-ai';
const READY_WITHIN = 15000; // ms between opening and the bot's answer

/** Words for the ways in which a connection ends. */
const CLOSED = {
  1001: 'The server is shutting down.',
  1008: 'The server closed the conversation because of something this page sent.',
  1009: 'A message was too long for the server.',
  1011: 'The server had an internal problem and closed the conversation.',
  1012: 'The server is restarting.',
  1013: 'The server is too busy. Try again in a moment.',
};

/**
 * Connection starts one session and reports what comes.
 * on(type, data) gets every message of the server, and besides
 * 'state' with 'connecting' | 'ready' | 'closed' | 'failed' and, for the last two, words.
 */
export class Connection {
  #socket = null;
  #over = false;
  #ready = false;
  #timer = 0;
  #on;

  constructor(on) {
    this.#on = on;
  }

  /** open asks the server for an address and connects. */
  async open() {
    this.#on('state', { state: 'connecting' });
    let address;
    try {
      address = await askForAddress();
    } catch (problem) {
      this.#finish('failed', problem.message);
      return;
    }
    if (this.#over) return;
    const socket = new WebSocket(address);
    this.#socket = socket;
    this.#timer = setTimeout(() => this.#finish('failed', 'The bot did not answer in time.'), READY_WITHIN);
    socket.onopen = () => this.#send('client-ready', {
      version: PROTOCOL,
      about: { library: 'turnwise-page', platform: 'web' },
    });
    socket.onmessage = (event) => this.#receive(event.data);
    socket.onclose = (event) => {
      if (this.#ready && event.code === 1000) this.#finish('closed', 'The conversation is over.');
      else this.#finish('failed', CLOSED[event.code] ?? 'The connection was lost.');
    };
  }

  /** text sends what the user wrote; it reports whether it could be sent. */
  text(content) {
    return this.#ready && this.#send('send-text', { content });
  }

  /** close ends the session without a word. */
  close() {
    this.#over = true;
    clearTimeout(this.#timer);
    this.#socket?.close(1000);
  }

  #send(type, data) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify({ label: LABEL, type, id: newID(), data }));
    return true;
  }

  #receive(raw) {
    if (this.#over || typeof raw !== 'string') return;
    let message;
    try {
      message = JSON.parse(raw);
    } catch {
      return;
    }
    if (message?.label !== LABEL) return;
    if (message.type === 'bot-ready') {
      clearTimeout(this.#timer);
      this.#ready = true;
      this.#on('state', { state: 'ready' });
    }
    this.#on(message.type, message.data ?? {});
  }

  #finish(state, words) {
    if (this.#over) return;
    this.close();
    this.#on('state', { state, words });
  }
}

// crypto.randomUUID would need a secure context, which a phone on the local
// network does not have.
let counter = 0;
function newID() {
  counter += 1;
  return `page-${counter}`;
}

/** askForAddress asks at the door, where a refusal can be told in words. */
async function askForAddress() {
  let response;
  try {
    response = await fetch('connect', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{}',
      signal: AbortSignal.timeout(READY_WITHIN),
    });
  } catch {
    throw new Error('The server cannot be reached.');
  }
  let answer = {};
  try {
    answer = await response.json();
  } catch { /* said below */ }
  if (!response.ok) throw new Error(answer.detail ?? `The server refused the conversation (${response.status}).`);
  if (typeof answer.wsUrl !== 'string') throw new Error('The server gave no address to connect to.');
  return answer.wsUrl;
}
