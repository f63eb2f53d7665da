// The way of a typed conversation: a WebSocket.

import { ask } from './connection.js';

/** Words for the ways in which a connection ends. */
const CLOSED = {
  1000: 'The conversation is over.',
  1001: 'The server is shutting down.',
  1008: 'The server closed the conversation because of something this page sent.',
  1009: 'A message was too long for the server.',
  1011: 'The server had an internal problem and closed the conversation.',
  1012: 'The server is restarting.',
  1013: 'The server is too busy. Try again in a moment.',
};

/** Socket is the way of one conversation. */
export class Socket {
  #socket = null;
  #closed = false;

  /** open asks at the door, where a refusal can be told in words, and connects. */
  async open({ opened, received, ended }) {
    const { wsUrl } = await ask('connect', {});
    if (typeof wsUrl !== 'string') throw new Error('The server gave no address to connect to.');
    if (this.#closed) return;
    const socket = new WebSocket(wsUrl);
    this.#socket = socket;
    socket.onopen = opened;
    socket.onmessage = (event) => received(event.data);
    socket.onclose = (event) => ended(CLOSED[event.code] ?? 'The connection was lost.', event.code === 1000);
  }

  send(text) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(text);
    return true;
  }

  close() {
    this.#closed = true;
    this.#socket?.close(1000);
  }
}
