import { once } from 'node:events';
import { WebSocket } from 'ws';

/** Sockets that are opened at the same time, so that the queue of the operating system for new connections has room. */
const AT_ONCE = 50;

/** Many sockets with one subscription each, and what they received. */
export interface Subscribers {
  /** Messages since the last `reset`. */
  received(): number;
  /** Calls `handle` with each further message and the time of its arrival. */
  onMessage(handle: (text: string, at: number) => void): void;
  reset(): void;
  close(): Promise<void>;
}

/** Opens sockets and sends `first` on each; resolves when each has its answer. */
export async function openSubscribers(url: string, count: number, first: object): Promise<Subscribers> {
  const sockets: WebSocket[] = [];
  let received = 0;
  let handle: (text: string, at: number) => void = () => {};
  const text = JSON.stringify(first);

  async function open(): Promise<void> {
    const socket = new WebSocket(url, { perMessageDeflate: false });
    sockets.push(socket);
    await once(socket, 'open');
    const answered = once(socket, 'message');
    socket.send(text);
    const answer = String((await answered)[0]);
    if (answer.includes('"status":"error"')) throw new Error(`a subscription was refused: ${answer}`);
    socket.on('message', (data) => {
      const at = performance.now();
      const message = String(data);
      if (message === '{"type":"ping"}') {
        socket.send('{"type":"pong"}');
        return;
      }
      received++;
      handle(message, at);
    });
  }

  for (let at = 0; at < count; at += AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - at) }, open));
  return {
    received: () => received,
    onMessage(next) {
      handle = next;
    },
    reset() {
      received = 0;
    },
    async close() {
      await Promise.all(
        sockets.map(async (socket) => {
          const closed = once(socket, 'close');
          socket.terminate();
          await closed;
        }),
      );
    },
  };
}

/** The message and the path by which a bench client subscribes to all articles. */
export const SUBSCRIBE = {
  type: 'subscribe',
  collection: 'article',
  uid: '1',
  query: { fields: ['id', 'title'], limit: 0 },
};
export const socketUrl = (url: string, token: string): string =>
  `${url.replace('http', 'ws')}/websocket?access_token=${token}`;
