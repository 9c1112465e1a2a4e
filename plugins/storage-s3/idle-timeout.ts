import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { S3_DOWNLOAD_IDLE_TIMEOUT } from './time-limits.ts';

/**
 * The bytes of a download. It fails if the reader waits and the server sends nothing for `limit` milliseconds. A slow reader may
 * take any time: the timer does not run while received bytes are unread.
 */
export function withDownloadIdleTimeout(
  body: IncomingMessage,
  name: string,
  limit = S3_DOWNLOAD_IDLE_TIMEOUT,
): Readable {
  let timer: NodeJS.Timeout | undefined;
  const stopTimer = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  const bytes = new Readable({
    read() {
      timer ??= setTimeout(() => {
        bytes.destroy(new Error(`the server has sent nothing more of ${name} for ${limit} ms`));
      }, limit);
      body.resume();
    },
    destroy(error, done) {
      stopTimer();
      // Closes the connection, unless the response is complete: then the connection is reused.
      body.destroy();
      done(error);
    },
  });
  // A connection that breaks before the bytes are read is an error of the read, and not of the process.
  bytes.on('error', () => {});
  // Adding a listener would start the flow.
  body.pause();
  body.on('data', (part: Buffer) => {
    if (bytes.push(part)) return void timer?.refresh();
    body.pause();
    stopTimer();
  });
  body.once('end', () => {
    stopTimer();
    bytes.push(null);
  });
  body.once('error', (error) => bytes.destroy(error));
  return bytes;
}
