import { connect } from 'node:net';
import { ResponseEndDetector } from './response-end.ts';

/** Response times in milliseconds, and answers whose status was not 200. */
export interface Latencies {
  readonly times: readonly number[];
  readonly failed: number;
}

/** Sends requests on some connections for `seconds`, one at a time on each, with `gap` milliseconds after each answer. */
export async function measureLatencies(
  url: URL,
  next: () => Buffer,
  { connections, seconds, gap = 0 }: { readonly connections: number; readonly seconds: number; readonly gap?: number },
): Promise<Latencies> {
  const until = performance.now() + seconds * 1000;
  const all = await Promise.all(Array.from({ length: connections }, () => oneConnection(url, next, until, gap)));
  return { times: all.flatMap(({ times }) => times), failed: all.reduce((sum, { failed }) => sum + failed, 0) };
}

function oneConnection(url: URL, next: () => Buffer, until: number, gap: number): Promise<Latencies> {
  return new Promise((resolve, reject) => {
    const times: number[] = [];
    const answer = new ResponseEndDetector();
    let failed = 0;
    let sent = 0;
    const send = () => {
      sent = performance.now();
      socket.write(next());
    };
    const socket = connect(Number(url.port), url.hostname, send);
    socket.setNoDelay(true);
    socket.on('error', reject);
    socket.on('data', (bytes: Buffer) => {
      if (answer.take(bytes) === 0) return;
      const now = performance.now();
      times.push(now - sent);
      if (answer.status !== 200) failed++;
      if (now < until) return void (gap === 0 ? send() : setTimeout(send, gap));
      socket.end();
      resolve({ times, failed });
    });
  });
}

/** The value below which `share` of the numbers lie. */
export function percentile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
