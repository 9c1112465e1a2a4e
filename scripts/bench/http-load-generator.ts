import { connect, type Socket } from 'node:net';
import type { BenchRequest } from './bench-scenarios.ts';
import { ResponseEndDetector } from './response-end.ts';

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  /** Answers whose status was not 200. */
  readonly failed: number;
}

/** Serializes an HTTP/1.1 request. */
export function buildRequestBytes(url: URL, headers: readonly string[], { method, path, body }: BenchRequest): Buffer {
  const text = body === undefined ? '' : JSON.stringify(body);
  const about =
    body === undefined ? [] : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`];
  return Buffer.from([`${method} ${path} HTTP/1.1`, `Host: ${url.host}`, ...headers, ...about, '', text].join('\r\n'));
}

/**
 * Keeps `connections` connections busy for `seconds`, one request at a time on each, `next` making each request. Bytes over
 * plain sockets, because a full HTTP client would cost more than the servers it measures.
 */
export async function runLoad(url: URL, next: () => Buffer, connections: number, seconds: number): Promise<LoadResult> {
  const started = process.hrtime.bigint();
  const until = started + BigInt(Math.round(seconds * 1e9));
  const counts = await Promise.all(Array.from({ length: connections }, () => oneConnection(url, next, until)));
  return {
    requests: counts.reduce((sum, one) => sum + one.requests, 0),
    failed: counts.reduce((sum, one) => sum + one.failed, 0),
    seconds: Number(process.hrtime.bigint() - started) / 1e9,
  };
}

function oneConnection(url: URL, next: () => Buffer, until: bigint) {
  return new Promise<{ requests: number; failed: number }>((resolve, reject) => {
    const done = { requests: 0, failed: 0 };
    const answer = new ResponseEndDetector();
    let ending = false;
    const socket: Socket = connect(Number(url.port), url.hostname, () => socket.write(next()));
    socket.setNoDelay(true);
    socket.on('error', reject);
    socket.on('close', () => (ending ? resolve(done) : reject(new Error('the server closed the connection'))));
    socket.on('data', (bytes: Buffer) => {
      try {
        if (answer.take(bytes) === 0) return;
      } catch (error) {
        socket.destroy(error as Error);
        return;
      }
      done.requests++;
      if (answer.status !== 200) done.failed++;
      if (process.hrtime.bigint() < until) socket.write(next());
      else {
        ending = true;
        socket.end();
      }
    });
  });
}
