import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { SILENCE } from './time-limits.ts';

/**
 * The bytes of a download, which fails where somebody waits for the next of them and none comes any more. Whoever reads slowly
 * may take any time: nothing is waited for as long as there are bytes that nobody has taken.
 */
export function endingWhereSilent(body: IncomingMessage, name: string, limit = SILENCE): Readable {
  let waiting: NodeJS.Timeout | undefined;
  const stopWaiting = () => {
    clearTimeout(waiting);
    waiting = undefined;
  };
  const bytes = new Readable({
    read() {
      waiting ??= setTimeout(() => {
        bytes.destroy(new Error(`the server has sent nothing more of ${name} for ${limit} ms`));
      }, limit);
      body.resume();
    },
    destroy(error, done) {
      stopWaiting();
      // Closes the connection, unless all has come: then that goes on to serve other requests.
      body.destroy();
      done(error);
    },
  });
  // A listener alone would let it flow.
  body.pause();
  body.on('data', (part: Buffer) => {
    if (bytes.push(part)) return void waiting?.refresh();
    body.pause();
    stopWaiting();
  });
  body.once('end', () => {
    stopWaiting();
    bytes.push(null);
  });
  body.once('error', (error) => bytes.destroy(error));
  return bytes;
}
