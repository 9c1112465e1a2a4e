import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';

/** Sends messages by a socket, one after the other. Each is answered within a second, or not at all. */
async function sendAll(url: string, messages: readonly object[]): Promise<void> {
  const socket = new WebSocket(url.replace('http', 'ws'));
  socket.on('error', () => {});
  const event = (name: string) =>
    Promise.race([new Promise((resolve) => socket.once(name, resolve)), pause(1000, undefined, { ref: false })]);
  await event('open');
  for (const message of messages) {
    const answer = event('message');
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(message));
    await answer;
  }
  socket.close();
  await event('close');
}

/** Uses the sockets of a service that has a collection `things`: messages of every type, and a frame that breaks the protocol. */
export async function exerciseSockets(url: string, token: string | undefined): Promise<void> {
  await sendAll(`${url}/websocket`, [
    { type: 'auth', access_token: token },
    { type: 'subscribe', collection: 'things', uid: '1' },
    { type: 'items', action: 'create', collection: 'things', data: { name: 'by a socket' } },
    { type: 'ping' },
  ]);
  await sendAll(`${url}/websocket`, [{ type: 'auth', access_token: 'wrong' }]);
  await sendAll(`${url}/websocket`, [{ type: 'auth', access_token: token, text: 'x'.repeat(2_000_000) }]);
  await sendAll(`${url}/websocket/logs?access_token=${token}`, [{ type: 'subscribe', log_level: 'info' }]);
}
