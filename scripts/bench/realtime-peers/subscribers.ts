import { once } from 'node:events';
import WebSocket from 'ws';

export interface SubscribersOptions {
  readonly url: URL;
  /** Payload of `connection_init`. */
  readonly init: object;
  readonly query: string;
  readonly count: number;
}

/** Sockets with one subscription each, which only count what they receive: the client should cost little. */
export interface Subscribers {
  /** Calls `work`, and resolves with the milliseconds until each subscriber has received one response more. */
  measureDelivery(work: () => Promise<unknown>): Promise<number>;
  /** Calls `work` again and again until one call of it reaches every subscriber. */
  warmUp(work: () => Promise<unknown>): Promise<void>;
  close(): void;
}

const PROTOCOL = 'graphql-transport-ws';
/** Milliseconds after which responses are lost. */
const TIMEOUT = 10_000;
/** Milliseconds for one response of all subscribers, and for one of each, while it is not known whether they are subscribed. */
const WARM_UP_PAUSE = { all: 200, each: 2 };

export async function openSubscribers({ url, init, query, count }: SubscribersOptions): Promise<Subscribers> {
  let received = 0;
  let onReceived = () => {};
  const sockets: WebSocket[] = [];
  for (let at = 0; at < count; at++) {
    const socket = new WebSocket(new URL('/graphql', url.href.replace(/^http/, 'ws')), PROTOCOL);
    sockets.push(socket);
    await once(socket, 'open');
    socket.on('message', (data) => {
      const text = String(data);
      if (text.includes('"connection_ack"'))
        socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query } }));
      else if (text.includes('"next"') && !text.includes('"errors"')) {
        received++;
        onReceived();
      } else if (!text.includes('"ping"')) throw new Error(`a subscriber has received ${text}`);
    });
    socket.send(JSON.stringify({ type: 'connection_init', payload: init }));
  }

  const waitForAll = (milliseconds: number): Promise<boolean> =>
    new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), milliseconds);
      onReceived = () => {
        if (received < count) return;
        clearTimeout(timer);
        resolve(true);
      };
      onReceived();
    });

  return {
    async measureDelivery(work) {
      received = 0;
      const started = performance.now();
      const delivered = waitForAll(TIMEOUT);
      await work();
      if (!(await delivered)) throw new Error(`${received} of ${count} subscribers have received a response`);
      return performance.now() - started;
    },
    async warmUp(work) {
      for (const end = Date.now() + 6 * TIMEOUT; ; ) {
        received = 0;
        const delivered = waitForAll(WARM_UP_PAUSE.all + count * WARM_UP_PAUSE.each);
        await work();
        if (await delivered) return;
        if (Date.now() > end) throw new Error(`only ${received} of ${count} subscribers receive responses`);
      }
    },
    close() {
      for (const socket of sockets) socket.terminate();
    },
  };
}
