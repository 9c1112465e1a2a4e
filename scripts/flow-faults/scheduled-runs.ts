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

/** The run that a request belongs to, by its idempotency key. */
const runOf = ({ headers }: CountedRequest): string =>
  String(headers['idempotency-key']).replace(/-(before|after)$/, '');

/**
 * The requests of runs, each of which waits until the script lets the server answer it. On a busy machine a process may take a living one
 * for dead and go on with its run: a request that was answered before is answered again at once, and counted.
 */
function holdRequests(server: CountingServer) {
  let arrived: Arrival[] = [];
  const answered = new Set<string>();
  let repeated = 0;
  let wake = () => {};
  server.answer = (request) => {
    if (answered.has(String(request.headers['idempotency-key']))) {
      repeated++;
      return Promise.resolve(200);
    }
    const { promise, resolve } = Promise.withResolvers<number>();
    arrived.push({ request, answer: () => resolve(200) });
    wake();
    return promise;
  };
  return {
    repeated: () => repeated,
    /** Waits for a request without an answer yet, of `run` where it is given. */
    async next(path: string, run?: string): Promise<CountedRequest> {
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
          const found = arrived.find(
            ({ request }) => request.path === path && (run === undefined || runOf(request) === run),
          );
          if (found) return found.request;
          const more = Promise.withResolvers<void>();
          wake = more.resolve;
          await Promise.race([more.promise, late.promise]);
        }
      } finally {
        clearTimeout(timer);
      }
    },
    /** Answers a request, and each repetition of it. */
    answer({ headers }: CountedRequest): void {
      const key = String(headers['idempotency-key']);
      answered.add(key);
      const isOf = ({ request }: Arrival) => request.headers['idempotency-key'] === key;
      for (const one of arrived.filter(isOf)) one.answer();
      arrived = arrived.filter((one) => !isOf(one));
    },
    /** Forgets the requests of a process that is killed. */
    drop(life: string): void {
      arrived = arrived.filter(({ request }) => request.headers['x-life'] !== life);
    },
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
  const requests = holdRequests(server);
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
    let run: string | undefined;
    for (const path of ['/before', '/after']) {
      let one = await requests.next(path, run);
      run = runOf(one);
      if (path === killAt) {
        const life = String(one.headers['x-life']);
        await processes.kill(life);
        requests.drop(life);
        one = await requests.next(path, run);
      }
      ids.add(run);
      requests.answer(one);
    }
    await processes.fill(3, now);
    if (tick % 20 === 0) console.log(`${tick} ticks`);
  }
  const [items] = await database.query<{ rows: number }>('select count(*)::int as rows from effects');
  console.log(
    `${ticks} ticks, ${ids.size} runs, ${items?.rows} items; ${kills} processes killed, ${requests.repeated()} requests repeated`,
  );
  return ids.size === ticks && items?.rows === ticks;
}
