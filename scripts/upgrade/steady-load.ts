import { setTimeout as pause } from 'node:timers/promises';
import type { Balancer } from './balancer.ts';

/** What a load found, since it began. */
export interface LoadFigures {
  readonly sent: number;
  /** Requests without an answer, or with another one than expected, as texts. */
  readonly failures: readonly string[];
  /** Milliseconds of all answered requests, in ascending order. */
  readonly times: readonly number[];
  /** Items whose creation was acknowledged, with the last text that was acknowledged for each. */
  readonly items: ReadonlyMap<number, string>;
}

export interface SteadyLoad {
  /** Ends the load, and waits for the requests that are under way. */
  stop(): Promise<LoadFigures>;
}

const ITEMS = '/items/upgrade_note';

/**
 * Sends `rate` requests in a second, whether earlier ones were answered or not: lists, single items, creates and changes in the
 * collection `upgrade_note`.
 */
export function startSteadyLoad(balancer: Balancer, rate: number): SteadyLoad {
  const failures: string[] = [];
  const times: number[] = [];
  const items = new Map<number, string>();
  const open = new Set<Promise<void>>();
  let sent = 0;
  let isStopped = false;

  async function run(method: string, path: string, body: object | undefined, then: (data: unknown) => void) {
    const begun = performance.now();
    try {
      const reply = await balancer.send(method, path, body && JSON.stringify(body));
      if (reply.status !== 200) throw new Error(`${reply.status} ${reply.body.slice(0, 200)}`);
      times.push(performance.now() - begun);
      then((JSON.parse(reply.body) as { data: unknown }).data);
    } catch (error) {
      const { message, port, isReused } = error as Error & { port?: number; isReused?: boolean };
      const where = port === undefined ? '' : ` at port ${port} by a ${isReused ? 'kept' : 'new'} connection`;
      failures.push(`${new Date().toISOString().slice(11, 23)} ${method} ${path}: ${message}${where}`);
    }
  }

  function createRequest(number: number): Promise<void> {
    const text = `text ${number}`;
    const keep = (data: unknown) => void items.set((data as { id: number }).id, text);
    const ids = [...items.keys()];
    const id = ids[number % Math.max(1, ids.length)];
    if (number % 4 === 0 || id === undefined) return run('POST', ITEMS, { text }, keep);
    if (number % 4 === 1) return run('GET', `${ITEMS}?limit=20&sort=-id`, undefined, () => {});
    if (number % 4 === 2) return run('GET', `${ITEMS}/${id}?fields=id,text`, undefined, () => {});
    // One change of an item at a time, so that it is known which one is the last.
    items.delete(id);
    return run('PATCH', `${ITEMS}/${id}`, { text }, keep);
  }

  const ended = (async () => {
    const begun = performance.now();
    while (!isStopped) {
      for (const due = ((performance.now() - begun) / 1000) * rate; sent < due && !isStopped; sent++) {
        const one = createRequest(sent).finally(() => open.delete(one));
        open.add(one);
      }
      await pause(2);
    }
    await Promise.all(open);
  })();

  return {
    async stop() {
      isStopped = true;
      await ended;
      return { sent, failures, times: times.sort((a, b) => a - b), items };
    },
  };
}
