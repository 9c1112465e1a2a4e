import { createTestFlow, type TestStep } from '../../test/plugins/flows/flow-fixture.ts';
import type { CountedRequest, CountingServer } from '../../test/support/counting-server.ts';
import type { FlowFaultPlace } from './asynchronous-runs.ts';

/** Milliseconds between two ticks, by the clock that the script moves. */
const TICK_INTERVAL = 1000;
/** Milliseconds within which a process sends the request of a run; a further one looks for it after ten seconds at most. */
const LIMIT = 180_000;

interface Arrival {
  readonly request: CountedRequest;
  answer(): void;
}

/** The requests of runs, each of which waits until the script lets the server answer it. */
function holdRequests(server: CountingServer) {
  const arrived: Arrival[] = [];
  let wake = () => {};
  server.answer = (request) => {
    const { promise, resolve } = Promise.withResolvers<number>();
    arrived.push({ request, answer: () => resolve(200) });
    wake();
    return promise;
  };
  return async (path: string): Promise<Arrival> => {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      const waiting = arrived.map(({ request }) => describe(request)).join(', ');
      const last = server.requests.slice(-5).map(describe).join(', ');
      late.reject(
        new Error(`no run has sent ${path}; waiting for an answer: ${waiting || 'none'}; the last ones: ${last}`),
      );
    }, LIMIT);
    try {
      for (;;) {
        const at = arrived.findIndex(({ request }) => request.path === path);
        if (at !== -1) return arrived.splice(at, 1)[0] as Arrival;
        const more = Promise.withResolvers<void>();
        wake = more.resolve;
        await Promise.race([more.promise, late.promise]);
      }
    } finally {
      clearTimeout(timer);
    }
  };
}

const describe = ({ path, headers }: CountedRequest): string =>
  `${path} of ${String(headers['x-life'])} (${String(headers['idempotency-key'])})`;

/**
 * Moves the clock of three processes from tick to tick of a scheduled flow: a request, a new item, a second request. At every
 * `killEvery`th tick the process that runs it is killed, in turn before and after the item. False where a tick has not exactly one item.
 */
export async function checkScheduledRuns(
  { admin, database, server, processes, stopListener }: FlowFaultPlace,
  ticks: number,
  killEvery: number,
): Promise<boolean> {
  server.requests.length = 0;
  const arrival = holdRequests(server);
  const call = (key: string): TestStep => ({
    key,
    type: 'request',
    options: {
      method: 'POST',
      url: `${server.url}/${key}`,
      headers: [{ header: 'x-life', value: '{{ $env.LIFE }}' }],
    },
  });
  const flow = await createTestFlow(admin, {
    trigger: 'schedule',
    status: 'inactive',
    options: { cron: '* * * * * *', overlap: 'allow' },
    steps: [
      call('before'),
      {
        key: 'make',
        type: 'item-create',
        options: { collection: 'effects', payload: { number: 1 }, permissions: '$full' },
      },
      call('after'),
    ],
  });
  // Its clock is another one.
  await stopListener();
  await database.query(`update platform_flows set status = 'active' where id = $1`, [flow]);
  let now = Math.ceil(Date.now() / TICK_INTERVAL) * TICK_INTERVAL;
  await processes.fill(3, now);
  let kills = 0;
  const ids = new Set<string>();
  for (let tick = 1; tick <= ticks; tick++) {
    now += TICK_INTERVAL;
    processes.setClock(now);
    const killAt = tick % killEvery === 0 ? (kills++ % 2 === 0 ? '/before' : '/after') : undefined;
    for (const path of ['/before', '/after']) {
      let one = await arrival(path);
      if (path === killAt) {
        await processes.kill(String(one.request.headers['x-life']));
        one = await arrival(path);
      }
      ids.add(String(one.request.headers['idempotency-key']).replace(/-(before|after)$/, ''));
      one.answer();
    }
    await processes.fill(3, now);
    if (tick % 20 === 0) console.log(`${tick} ticks`);
  }
  const [items] = await database.query<{ rows: number }>('select count(*)::int as rows from effects');
  console.log(`${ticks} ticks, ${ids.size} runs, ${items?.rows} items; ${kills} processes killed`);
  return ids.size === ticks && items?.rows === ticks;
}
