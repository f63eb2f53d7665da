// One session with the bot: RTVI messages, whatever way they travel.

const PROTOCOL = '2.1.0';
const LABEL = 'rtvi-ai';
const READY_WITHIN = 20000; // ms between the start and the bot's answer

/**
 * Connection starts one session and reports what comes.
 * on(type, data) gets every message of the server, and besides
 * 'state' with 'connecting' | 'ready' | 'away' | 'closed' | 'failed' and, for the last
 * two, words. A connection that is away tries to come back to its session.
 *
 * A way carries texts: open({opened, received, lost, back, ended}) connects and rejects with an
 * error in words, send(text) reports whether it could, close() is final.
 * ended(words, regular) is told when the other side goes; lost() and back() when it
 * comes back.
 */
export class Connection {
  #way;
  #over = false;
  #ready = false;
  #timer = 0;
  #on;

  constructor(way, on) {
    this.#way = way;
    this.#on = on;
  }

  /** open connects. */
  async open() {
    this.#on('state', { state: 'connecting' });
    this.#timer = setTimeout(() => this.#finish('failed', 'The bot did not answer in time.'), READY_WITHIN);
    try {
      await this.#way.open({
        opened: () => this.#send('client-ready', {
          version: PROTOCOL,
          about: { library: 'turnwise-page', platform: 'web' },
        }),
        received: (raw) => this.#receive(raw),
        lost: () => this.#away(true),
        back: () => this.#away(false),
        ended: (words, regular) => this.#finish(this.#ready && regular ? 'closed' : 'failed', words),
      });
    } catch (problem) {
      this.#finish('failed', problem.message);
    }
  }

  /** text sends what the user wrote; it reports whether it could be sent. */
  text(content) {
    return this.#ready && this.#send('send-text', { content });
  }

  /** close ends the session without a word. */
  close() {
    this.#over = true;
    clearTimeout(this.#timer);
    this.#way.close();
  }

  #send(type, data) {
    return !this.#over && this.#way.send(JSON.stringify({ label: LABEL, type, id: newID(), data }));
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

  #away(away) {
    if (this.#over || !this.#ready) return;
    this.#on('state', { state: away ? 'away' : 'ready' });
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

/** ask sends the server a request as JSON; a refusal is thrown in words. */
export async function ask(path, body, method = 'POST') {
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(READY_WITHIN),
    });
  } catch {
    throw new Error('The server cannot be reached.');
  }
  let answer = {};
  try {
    answer = await response.json();
  } catch { /* said below */ }
  if (!response.ok) {
    const problem = new Error(answer.detail ?? `The server refused the conversation (${response.status}).`);
    problem.status = response.status;
    throw problem;
  }
  return answer;
}
