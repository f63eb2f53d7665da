// The conversation as it is seen: what the bot streams, what the user wrote.

const scroll = document.getElementById('scroll');
const list = document.getElementById('messages');
const announcer = document.getElementById('announce');
const alarm = document.getElementById('alarm');

/** What the time until an answer was made of. */
const PARTS = [
  ['recognition', 'understanding the words'], ['endpointing', 'knowing that you had finished'], ['model', 'the model'],
  ['sentence', 'the first sentence'], ['synthesis', 'making the sound'], ['playout', 'sending it'],
];

/** Chat shows one conversation. */
export class Chat {
  /** spoken tells that the user hears the bot: screen readers need not read it out. */
  spoken = false;
  #heard = null; // the message in which the user's words appear: {item, body, sure}
  #open = false; // a response is under way
  #bot = null; // the message of that response: {item, body, sent, tail}
  #dots = null;
  #dotsTimer = 0;
  #last = '';
  #latency = null; // of an answer that has no message yet
  #frame = 0;

  /** clear takes everything away. */
  clear() {
    this.#stopWaiting();
    this.#open = false;
    this.#bot = null;
    this.#heard = null;
    this.#latency = null;
    this.#last = '';
    list.replaceChildren();
    announcer.replaceChildren();
    alarm.textContent = '';
  }

  /** user shows what the user wrote. */
  user(text) {
    this.#add('user', 'You', text);
    this.#toBottom(true);
  }

  /**
   * hear shows what the bot has heard the user say; words that are not final are
   * replaced by the next.
   */
  hear(text, final) {
    const words = text.trim();
    if (!words) return;
    this.#stopWaiting();
    this.#heard ??= { ...this.#add('user', 'You', ''), sure: '' };
    const heard = this.#heard;
    const all = `${heard.sure} ${words}`.trim();
    if (final) heard.sure = all;
    heard.item.classList.toggle('hearing', !final);
    heard.body.textContent = all;
    this.#toBottom(true);
  }

  /** wait shows that an answer is on its way. */
  wait() {
    clearTimeout(this.#dotsTimer);
    if (this.#dots || this.#bot) return;
    const dots = message('bot waiting', 'Bot');
    dots.body.append(el('i'), el('i'), el('i'));
    dots.body.setAttribute('aria-label', 'The bot is about to answer');
    dots.body.setAttribute('role', 'img');
    const stick = atBottom();
    this.#group(dots.item, 'bot');
    this.#dots = dots.item;
    list.append(dots.item);
    this.#toBottom(stick);
  }

  /** begin opens a response. */
  begin() {
    this.finish();
    this.#heard = null;
    this.#open = true;
    this.wait();
  }

  /**
   * stream adds a piece of the response. Pieces may be left out when this page is
   * slow; the sentences that follow them are not.
   */
  stream(text) {
    if (!text) return;
    if (!this.#bot && !text.trim()) return;
    this.#response().tail += text;
    this.#frame ||= requestAnimationFrame(() => this.#paint());
  }

  /** output is a whole sentence: of the response under way, or a line of its own. */
  output(text) {
    const words = text.trim();
    if (!words) return;
    this.#heard = null;
    if (!this.#open) {
      this.#stopWaiting();
      const stick = atBottom();
      this.#add('bot', 'Bot', words);
      this.#announce(words);
      this.#toBottom(stick);
      return;
    }
    const bot = this.#response();
    const at = bot.tail.indexOf(words);
    if (at >= 0 && !bot.tail.slice(0, at).trim()) {
      bot.sent += bot.tail.slice(0, at + words.length);
      bot.tail = bot.tail.slice(at + words.length);
    } else {
      bot.sent += (bot.sent && !/\s$/.test(bot.sent) ? ' ' : '') + words;
      bot.tail = '';
    }
    this.#announce(words);
    this.#frame ||= requestAnimationFrame(() => this.#paint());
  }

  /** waited tells how long the user of a call waited for the answer that begins. */
  waited(latency) {
    this.#latency = latency;
    if (this.#bot) this.#tellLatency(this.#bot.item);
  }

  #tellLatency(item) {
    const latency = this.#latency;
    this.#latency = null;
    if (!latency) return;
    const line = el('p', 'latency');
    line.textContent = `answered after ${latency.total.toFixed(1)} s`;
    line.title = PARTS.map(([part, words]) => `${words} ${latency[part].toFixed(2)} s`).join(', ');
    item.append(line);
  }

  /** finish closes the response. */
  finish() {
    this.#open = false;
    const bot = this.#bot;
    if (!bot) {
      // A function may have been called and the answer come at once.
      clearTimeout(this.#dotsTimer);
      this.#dotsTimer = setTimeout(() => this.#stopWaiting(), 1500);
      return;
    }
    this.#paint();
    bot.item.classList.remove('streaming');
    bot.body.textContent = (bot.sent + bot.tail).trim();
    this.#bot = null;
  }

  /** interrupt closes the response as cut short by the user. */
  interrupt() {
    const bot = this.#bot;
    this.finish();
    if (!bot) return;
    bot.item.classList.add('interrupted');
    const cut = el('p', 'cut');
    cut.textContent = 'interrupted';
    bot.item.append(cut);
  }

  /** trouble tells an error in words. */
  trouble(text) {
    this.#stopWaiting();
    const item = el('li', 'trouble');
    item.textContent = text;
    list.append(item);
    this.#last = '';
    alarm.textContent = text;
    this.#toBottom();
  }

  #announce(words) {
    if (!this.spoken) announce(words);
  }

  #response() {
    if (!this.#bot) {
      this.#stopWaiting();
      const { item, body } = this.#add('bot', 'Bot', '');
      item.classList.add('streaming');
      this.#bot = { item, body, sent: '', tail: '' };
      this.#tellLatency(item);
    }
    return this.#bot;
  }

  #paint() {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    if (!this.#bot) return;
    const stick = atBottom();
    this.#bot.body.textContent = (this.#bot.sent + this.#bot.tail).trimStart();
    this.#toBottom(stick);
  }

  #add(who, name, text) {
    const stick = atBottom();
    const made = message(who, name);
    made.body.textContent = text;
    this.#group(made.item, who);
    this.#last = who;
    list.append(made.item);
    this.#toBottom(stick);
    return made;
  }

  #group(item, who) {
    if (this.#last === who) item.classList.add('again');
  }

  #stopWaiting() {
    clearTimeout(this.#dotsTimer);
    this.#dots?.remove();
    this.#dots = null;
  }

  /** toBottom shows what is last. */
  toBottom() {
    this.#toBottom(true);
  }

  #toBottom(force = atBottom()) {
    if (force) scroll.scrollTop = scroll.scrollHeight;
  }
}

function atBottom() {
  return scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 80;
}

// Screen readers are told whole sentences, not tokens.
function announce(words) {
  const line = el('p');
  line.textContent = words;
  announcer.append(line);
  while (announcer.children.length > 8) announcer.firstElementChild.remove();
}

function message(kind, name) {
  const item = el('li', `message ${kind}`);
  const who = el('p', 'who');
  who.textContent = name;
  const body = el('div', 'body');
  item.append(who, body);
  return { item, body };
}

function el(tag, className = '') {
  const e = document.createElement(tag);
  e.className = className;
  return e;
}
