import { once } from 'node:events';
import { type ClientOptions, WebSocket } from 'ws';
import { until } from './until.ts';

// biome-ignore lint/suspicious/noExplicitAny: messages are checked by their members
export type SocketMessage = any;

/** A client of the REST-style socket that keeps all messages. */
export interface RealtimeTestClient {
  readonly socket: WebSocket;
  /** All messages but heartbeats. */
  readonly messages: readonly SocketMessage[];
  /** The code with which the socket was closed; undefined while it is open. */
  readonly closeCode: number | undefined;
  send(message: unknown): void;
  /** The first message that fits, of those since the last one that was found. */
  next(fits: (message: SocketMessage) => boolean): Promise<SocketMessage>;
  /** Sends a message and resolves with the first answer of its uid. */
  ask(message: Record<string, unknown>): Promise<SocketMessage>;
  /** Resolves once everything that was sent before has been handled. */
  settle(): Promise<void>;
  closed(): Promise<number>;
  close(): void;
}

let uids = 0;

/** Opens a socket. The path may have a query string. @throws the error of the library for a refused upgrade */
export async function openSocket(
  url: string,
  path = '/websocket',
  options: ClientOptions = {},
): Promise<RealtimeTestClient> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, options);
  const messages: SocketMessage[] = [];
  let looked = 0;
  let closeCode: number | undefined;
  socket.on('message', (data) => {
    const message = JSON.parse(String(data));
    if (message.type === 'ping') socket.send('{"type":"pong"}');
    else messages.push(message);
  });
  socket.on('close', (code) => {
    closeCode = code;
  });
  await once(socket, 'open');
  socket.on('error', () => {});
  const next: RealtimeTestClient['next'] = (fits) =>
    until(() => {
      for (let at = looked; at < messages.length; at++) {
        if (!fits(messages[at])) continue;
        looked = at + 1;
        return messages[at];
      }
      return undefined;
    }, 20_000).catch((error) => {
      throw new Error(`no message fits ${fits}; there are ${JSON.stringify(messages).slice(0, 2000)}`, {
        cause: error,
      });
    });
  const ask: RealtimeTestClient['ask'] = async (message) => {
    const uid = message.uid ?? `u${++uids}`;
    socket.send(JSON.stringify({ ...message, uid }));
    return next((one) => one.uid === uid);
  };
  return {
    socket,
    messages,
    get closeCode() {
      return closeCode;
    },
    send: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    next,
    ask,
    settle: async () => {
      await ask({ type: 'ping' });
    },
    closed: () => until(() => closeCode),
    close: () => socket.terminate(),
  };
}

/** Opens a socket and authenticates by its first message. */
export async function openAuthenticated(url: string, token: string, path?: string): Promise<RealtimeTestClient> {
  const client = await openSocket(url, path);
  const answer = await client.ask({ type: 'auth', access_token: token });
  if (answer.status !== 'ok') throw new Error(`not authenticated: ${JSON.stringify(answer)}`);
  return client;
}

/** The status of a refused upgrade. */
export const refusedStatus = (url: string, path?: string, options?: ClientOptions): Promise<number> =>
  openSocket(url, path, options).then(
    (client) => {
      client.close();
      throw new Error('the upgrade was accepted');
    },
    (error: Error) => Number(/Unexpected server response: (\d+)/.exec(error.message)?.[1] ?? Number.NaN),
  );
