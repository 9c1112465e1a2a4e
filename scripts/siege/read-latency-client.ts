import { Agent, get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

export interface ReadLatencies {
  /** Milliseconds of each read that was answered with 200. */
  readonly latencies: readonly number[];
  readonly failed: number;
}

/** Milliseconds between two reads, so that the reader itself is no load. */
const PACE_MS = 10;

/** Creates a client that reads one URL again and again on one connection and measures the latencies. */
export function createReadLatencyClient(url: URL, token: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const read = () =>
    new Promise<number>((resolve, reject) => {
      get(url, { agent, headers: { authorization: `Bearer ${token}` } }, (answer) => {
        answer.resume();
        answer.on('error', reject);
        answer.on('end', () => resolve(answer.statusCode ?? 0));
      }).on('error', reject);
    });
  return {
    async readFor(ms: number): Promise<ReadLatencies> {
      const latencies: number[] = [];
      let failed = 0;
      for (const until = performance.now() + ms; performance.now() < until; await pause(PACE_MS)) {
        const started = performance.now();
        const status = await read().catch(() => 0);
        if (status === 200) latencies.push(performance.now() - started);
        else failed++;
      }
      agent.destroy();
      return { latencies, failed };
    },
  };
}

export function p95(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.95)] ?? Number.NaN;
}
