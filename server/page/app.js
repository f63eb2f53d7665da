// The page: one conversation at a time, and what it is made of.

import { Call, callable } from './call.js';
import { Connection } from './connection.js';
import { Socket } from './socket.js';
import { Chat } from './chat.js';
import { Inside } from './inside.js';

const byID = (id) => document.getElementById(id);
const field = byID('message');
const chat = new Chat();
const inside = new Inside();
let connection = null;
let call = null; // the call under way, or being made
let muted = false;
let open = false; // whether the bot takes messages
let ended = ''; // why the flow ended, when it has

const messages = {
  'state': ({ state, words }) => showState(state, words),
  'user-transcription': ({ text, final }) => chat.hear(text ?? '', Boolean(final)),
  'user-started-speaking': () => speaks('user'),
  'user-stopped-speaking': () => speaks('nobody'),
  'bot-started-speaking': () => speaks('bot'),
  'bot-stopped-speaking': () => speaks('nobody'),
  'bot-llm-started': () => chat.begin(),
  'bot-llm-text': ({ text }) => chat.stream(text ?? ''),
  'bot-llm-stopped': () => chat.finish(),
  'bot-output': ({ text }) => chat.output(text ?? ''),
  'bot-interrupted': () => chat.interrupt(),
  'llm-function-call-started': (data) => inside.callStarted(data),
  'llm-function-call-in-progress': (data) => inside.callRuns(data),
  'llm-function-call-stopped': (data) => inside.callEnded(data),
  'server-message': (data) => fromServer(data),
  'error': ({ error }) => chat.trouble(error ?? 'Something went wrong.'),
  'error-response': ({ error }) => chat.trouble(error ?? 'The server did not understand this page.'),
};

/** start begins a conversation: by voice when there is a call to make, else typed. */
function start(way = null) {
  connection?.close();
  call = way;
  chat.spoken = call !== null;
  chat.clear();
  inside.clear();
  ended = '';
  byID('after').hidden = true;
  connection = new Connection(call ?? new Socket(), (type, data) => messages[type]?.(data));
  connection.open();
}

/** talk calls the bot. The conversation under way goes on until there is a microphone. */
async function talk() {
  const way = new Call(byID('speaker'));
  byID('talk').disabled = true;
  try {
    await way.listen();
  } catch (problem) {
    chat.trouble(problem.message);
    return;
  } finally {
    byID('talk').disabled = false;
  }
  field.disabled = false;
  start(way);
  byID('hang-up').focus();
}

function hangUp() {
  ended ||= 'You have hung up.';
  connection.close();
  showState('closed');
}

function mute() {
  muted = !muted;
  call?.mute(muted);
  byID('mute').setAttribute('aria-pressed', String(muted));
  speaks('nobody');
}

const SPEAKING = { user: 'Hearing you', bot: 'The bot speaks', nobody: 'Listening' };

/** speaks shows who is heard. */
function speaks(who) {
  byID('call-state').dataset.who = muted && who === 'nobody' ? 'muted' : who;
  byID('call-words').textContent = muted && who === 'nobody' ? 'You are muted' : SPEAKING[who];
}

/** showCall shows what one can do in a call, while there is one. */
function showCall(state) {
  const on = call !== null && (state === 'connecting' || state === 'ready' || state === 'away');
  byID('call-bar').hidden = !on;
  byID('talk').hidden = on || !talkative;
  byID('mute').disabled = state !== 'ready';
  if (!on) {
    call = null;
    return;
  }
  if (state === 'connecting') {
    muted = false;
    byID('mute').setAttribute('aria-pressed', 'false');
    byID('call-words').textContent = 'Calling';
    byID('call-state').dataset.who = 'nobody';
  } else if (state === 'away') {
    byID('call-words').textContent = 'Connecting again';
    byID('call-state').dataset.who = 'nobody';
  } else {
    speaks('nobody');
  }
}

let talkative = false; // whether the bot can be called from here

/** offerVoice shows the microphone, or says in a sentence why there is none. */
function offerVoice({ available = false, note = '' } = {}) {
  const problem = available ? callable() : note;
  talkative = available && !problem;
  byID('talk').hidden = !talkative || call !== null;
  if (talkative && note) byID('talk').title = `Talk to the bot. ${note}`;
  byID('voice-note').textContent = problem;
  byID('voice-note').hidden = !problem;
}

const STATUS = { connecting: 'Connecting', ready: 'Connected', away: 'Connection lost', closed: 'Ended', failed: 'Not connected' };

function showState(state, words = '') {
  byID('status').dataset.state = state;
  byID('status-text').textContent = STATUS[state];
  showCall(state);
  open = state === 'ready';
  refreshSend();
  field.disabled = state === 'closed' || state === 'failed';
  field.placeholder = { closed: 'The conversation is over', failed: 'Not connected' }[state] ?? 'Write a message';
  if (!field.disabled) return;
  chat.finish();
  const failed = state === 'failed' && !ended;
  if (failed) chat.trouble(words);
  offerRestart(failed ? 'You can begin a new conversation.' : (ended || words));
}

function offerRestart(words) {
  const text = document.createElement('p');
  text.textContent = words;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'main-button';
  button.textContent = 'Start again';
  button.addEventListener('click', restart);
  byID('after').replaceChildren(text, button);
  byID('after').hidden = false;
  chat.toBottom();
  // Someone who was typing finds the way on under their hands.
  if (document.activeElement === document.body || document.activeElement === field || document.activeElement?.closest('#call-bar')) button.focus({ preventScroll: true });
}

function restart() {
  start();
  field.disabled = false;
  field.focus();
}

function fromServer(data) {
  if (data?.kind === 'server' && data.event === 'draining') {
    chat.trouble('The server is about to restart; this conversation will end soon.');
  }
  if (data?.kind === 'voice' && data.event === 'latency') chat.waited(data.latency);
  if (data?.kind !== 'flow') return;
  switch (data.event) {
    case 'node':
      inside.node(data.node, data.previous);
      break;
    case 'state':
      inside.state(data.state ?? {});
      break;
    case 'failed':
      chat.trouble(`Something went wrong in this step${data.detail ? `: ${data.detail}` : '.'}`);
      break;
    case 'ended':
      ended = 'The conversation is over.';
      break;
  }
}

function send(event) {
  event?.preventDefault();
  const text = field.value.trim();
  if (!text || !open) return;
  chat.user(text);
  if (!connection.text(text)) {
    chat.trouble('This could not be sent.');
    return;
  }
  field.value = '';
  grow();
  refreshSend();
  chat.wait();
}

function grow() {
  field.style.height = 'auto';
  field.style.height = `${field.scrollHeight}px`;
}

function refreshSend() {
  byID('send').disabled = !open || !field.value.trim();
}

function toggleInside() {
  const shown = byID('inside').classList.toggle('open');
  byID('inside-toggle').setAttribute('aria-expanded', String(shown));
}

async function describe() {
  try {
    const flow = await (await fetch('api/flow')).json();
    byID('flow-title').textContent = flow.title || flow.name || '';
    document.title = flow.title ? `${flow.title} – Turnwise` : 'Turnwise';
    if (flow.model?.standIn) standIn(flow.model);
    offerVoice(flow.voice);
    inside.describe(flow);
  } catch { /* the page works without */ }
  await inside.draw();
}

function standIn(model) {
  const strong = document.createElement('strong');
  strong.textContent = 'An offline stand-in answers, not a language model. ';
  byID('notice').replaceChildren(strong, model.note ?? '');
  byID('notice').hidden = false;
}

byID('composer').addEventListener('submit', send);
byID('restart').addEventListener('click', restart);
byID('talk').addEventListener('click', talk);
byID('hang-up').addEventListener('click', hangUp);
byID('mute').addEventListener('click', mute);
byID('inside-toggle').addEventListener('click', toggleInside);
field.addEventListener('input', () => { grow(); refreshSend(); });
// Enter sends. Keyboards of phones do not tell the key, only what it would do.
let shift = false;
field.addEventListener('keydown', (event) => {
  shift = event.shiftKey;
  if (event.key === 'Enter' && !shift && !event.isComposing) send(event);
});
field.addEventListener('beforeinput', (event) => {
  if (event.inputType === 'insertLineBreak' && !shift) send(event);
});
window.addEventListener('pagehide', () => connection?.close());
window.addEventListener('pageshow', (event) => { if (event.persisted) start(); });

describe();
start();
