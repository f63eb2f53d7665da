// What happens inside the conversation: the graph, the state, the calls.

const byID = (id) => document.getElementById(id);

/** Inside shows the flow at work. */
export class Inside {
  #titles = new Map();
  #calls = new Map(); // by call id
  #unnamed = []; // calls that have started and have no id yet
  #state = {};
  #node = '';

  /** describe takes the server's description of the flow. */
  describe(flow) {
    this.#titles = new Map((flow.nodes ?? []).map((n) => [n.name, n.title || n.name]));
  }

  /** draw fetches the graph. */
  async draw() {
    const box = byID('graph');
    try {
      const response = await fetch('api/flow/graph.svg');
      if (!response.ok) throw new Error(String(response.status));
      const svg = new DOMParser().parseFromString(await response.text(), 'image/svg+xml').documentElement;
      if (svg.localName !== 'svg') throw new Error('not a drawing');
      box.replaceChildren(document.importNode(svg, true));
    } catch {
      const words = document.createElement('p');
      words.className = 'empty';
      words.textContent = 'This bot has no graph to show.';
      box.replaceChildren(words);
    }
    if (this.#node) this.node(this.#node);
  }

  /** clear begins anew. */
  clear() {
    this.#calls.clear();
    this.#unnamed = [];
    this.#node = '';
    byID('calls').replaceChildren();
    byID('calls-empty').hidden = false;
    byID('now').textContent = '';
    this.state({});
    for (const e of byID('graph').querySelectorAll('.current, .visited, .taken')) {
      e.classList.remove('current', 'visited', 'taken');
      e.removeAttribute('aria-current');
    }
  }

  /** node lights up the node the conversation is in. */
  node(name, previous = '') {
    this.#node = name;
    byID('now').textContent = this.#titles.get(name) ?? name;
    for (const g of byID('graph').querySelectorAll('.node.current')) {
      g.classList.replace('current', 'visited');
      g.removeAttribute('aria-current');
    }
    for (const g of byID('graph').querySelectorAll('.node')) {
      if (g.dataset.node !== name) continue;
      g.classList.remove('visited');
      g.classList.add('current');
      g.setAttribute('aria-current', 'step');
      reveal(byID('graph'), g);
    }
    if (!previous) return;
    for (const e of byID('graph').querySelectorAll('.edge')) {
      if (e.dataset.from === previous && e.dataset.to === name) e.classList.add('taken');
    }
  }

  /** state shows what is known. */
  state(state) {
    const body = byID('state').tBodies[0];
    const names = Object.keys(state);
    body.replaceChildren(...names.map((name) => {
      const row = document.createElement('tr');
      const key = document.createElement('th');
      key.scope = 'row';
      key.textContent = name.replaceAll('_', ' ');
      const value = document.createElement('td');
      value.textContent = words(state[name]);
      row.append(key, value);
      if (JSON.stringify(this.#state[name]) !== JSON.stringify(state[name])) row.className = 'fresh';
      return row;
    }));
    byID('state').hidden = names.length === 0;
    byID('state-empty').hidden = names.length > 0;
    this.#state = state;
  }

  /** callStarted takes a call that begins. */
  callStarted({ function_name: name }) {
    this.#unnamed.push(this.#card(name));
  }

  /** callRuns tells a call's id and arguments. */
  callRuns({ tool_call_id: id, function_name: name, arguments: args }) {
    const i = this.#unnamed.findIndex((c) => c.name === name);
    const card = i >= 0 ? this.#unnamed.splice(i, 1)[0] : (this.#calls.get(id) ?? this.#card(name));
    this.#calls.set(id, card);
    for (const [key, value] of Object.entries(args ?? {})) card.line(key, words(value));
  }

  /** callEnded tells how a call ended. */
  callEnded({ tool_call_id: id, function_name: name, cancelled, result }) {
    const card = this.#calls.get(id) ?? this.#card(name);
    card.end(cancelled ? 'cancelled' : 'done', cancelled ? 'cancelled' : `${Math.max(1, Math.round(performance.now() - card.begun))} ms`);
    if (result !== undefined && result !== null && result !== '') card.line('→', words(result));
  }

  #card(name = 'function') {
    const item = document.createElement('li');
    item.className = 'call';
    item.dataset.state = 'running';
    const head = document.createElement('div');
    head.className = 'call-head';
    const title = document.createElement('span');
    title.className = 'call-name';
    title.textContent = name;
    const end = document.createElement('span');
    end.className = 'call-end';
    end.textContent = 'running';
    head.append(title, end);
    const lines = document.createElement('dl');
    item.append(head, lines);
    byID('calls').prepend(item);
    while (byID('calls').children.length > 50) byID('calls').lastElementChild.remove();
    byID('calls-empty').hidden = true;
    return {
      name,
      begun: performance.now(),
      line(key, value) {
        const dt = document.createElement('dt');
        dt.textContent = key;
        const dd = document.createElement('dd');
        dd.textContent = value;
        lines.append(dt, dd);
      },
      end(state, text) {
        item.dataset.state = state;
        end.textContent = text;
      },
    };
  }
}

/** words writes a value for people. */
function words(value) {
  if (typeof value === 'string') {
    const text = value.trim();
    if (text.startsWith('{') || text.startsWith('[')) {
      try {
        return words(JSON.parse(text));
      } catch { /* it is text */ }
    }
    return clip(value);
  }
  if (value === null || value === undefined) return '–';
  if (value === true) return 'yes';
  if (value === false) return 'no';
  if (Array.isArray(value)) return clip(value.map(words).join(', '));
  if (typeof value === 'object') return clip(Object.entries(value).map(([k, v]) => `${k}: ${words(v)}`).join('\n'));
  return String(value);
}

function clip(text) {
  return text.length > 600 ? `${text.slice(0, 600)}…` : text;
}

/** reveal scrolls a node of the graph into its box, and nothing else. */
function reveal(box, node) {
  const b = box.getBoundingClientRect();
  const n = node.getBoundingClientRect();
  if (n.top < b.top || n.bottom > b.bottom) box.scrollTop += n.top - b.top - (b.height - n.height) / 2;
}
