import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { SpawnedService } from '../../test/support/service.ts';

/** A write of a counter: when it was sent, and when it was answered. Milliseconds since 1970. */
interface CounterWrite {
  readonly value: number;
  readonly sent: number;
  answered: number;
}

/** A client that changes rows and files without a pause, and remembers the answers. */
export interface Writer {
  readonly number: number;
  readonly counters: readonly CounterWrite[];
  readonly times: readonly { readonly at: number; readonly took: number }[];
  readonly failures: readonly string[];
  stop(): Promise<void>;
}

const LARGEST_FILE = 2_000_000;
/** Files that a writer keeps at a time. */
const FILES = 20;

/**
 * Each round of a writer moves an amount between its two accounts in one write, counts its counter up, and uploads, replaces or
 * deletes a file whose description is the hash of its bytes.
 */
export function startWriter(number: number, services: readonly SpawnedService[]): Writer {
  const counters: CounterWrite[] = [];
  const times: { at: number; took: number }[] = [];
  const failures: string[] = [];
  const files: string[] = [];
  let isStopped = false;

  async function send(method: string, path: string, body: unknown): Promise<unknown> {
    const service = services[Math.floor(Math.random() * services.length)] as SpawnedService;
    const begin = performance.now();
    const reply = await service.request(method, path, { token: service.admin.token, body });
    times.push({ at: Date.now(), took: performance.now() - begin });
    if (reply.status >= 300) failures.push(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
    return reply.body?.data;
  }

  async function moveAmount(): Promise<void> {
    const share = Math.floor(Math.random() * 101);
    await send('PATCH', '/items/account', [
      { id: number * 2, balance: share },
      { id: number * 2 + 1, balance: 100 - share },
    ]);
  }

  async function count(): Promise<void> {
    const value = counters.length + 1;
    const write = { value, sent: Date.now(), answered: Number.POSITIVE_INFINITY };
    counters.push(write);
    await send('PATCH', `/items/counter/${number}`, { value });
    write.answered = Date.now();
  }

  async function changeFiles(): Promise<void> {
    const bytes = randomBytes(1000 + Math.floor(Math.random() ** 3 * LARGEST_FILE));
    const form = new FormData();
    form.append('description', createHash('sha256').update(bytes).digest('hex'));
    form.append('file', new Blob([bytes]), 'random.bin');
    const replaced = Math.random() < 0.3 ? files[Math.floor(Math.random() * files.length)] : undefined;
    if (replaced) return void (await send('PATCH', `/files/${replaced}`, form));
    const created = (await send('POST', '/files', form)) as { id?: string } | undefined;
    if (created?.id) files.push(created.id);
    if (files.length > FILES) await send('DELETE', `/files/${files.shift()}`, undefined);
  }

  const running = (async () => {
    while (!isStopped) {
      for (const step of [moveAmount, count, changeFiles])
        await step().catch((error: Error) => failures.push(`${error.message}: ${error.cause}`));
      await pause(5);
    }
  })();
  return {
    ...{ number, counters, times, failures },
    async stop() {
      isStopped = true;
      await running;
    },
  };
}
