import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { discardBody } from '../../../plugins/http/discard-body.ts';
import { until } from '../../support/until.ts';

const KIB = 1024;

/** A fake request whose body never ends; `socket.bytesRead` counts the bytes that were read. */
function endlessRequest() {
  const socket = Object.assign(new EventEmitter(), { bytesRead: 0, destroy: () => socket.emit('close') });
  const request = Object.assign(new EventEmitter(), {
    socket,
    readableEnded: false,
    read() {
      socket.bytesRead += 64 * KIB;
      return Buffer.alloc(64 * KIB);
    },
  });
  return { request: request as unknown as IncomingMessage, socket };
}

describe('discardBody()', () => {
  it('makes up for ticks that a busy event loop delayed', async () => {
    const { request, socket } = endlessRequest();
    discardBody(request);
    const before = socket.bytesRead;
    const end = performance.now() + 300;
    while (performance.now() < end);
    await until(() => socket.bytesRead > before);
    expect(socket.bytesRead - before, 'at least ten ticks').to.be.at.least(10 * 256 * KIB);
    socket.destroy();
  });
});
