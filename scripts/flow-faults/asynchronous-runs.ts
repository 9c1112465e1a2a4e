import { setTimeout as pause } from 'node:timers/promises';
import { createWebhook } from '../../test/plugins/flows/flow-fixture.ts';
import type { SendAsUser } from '../../test/plugins/users/test-users.ts';
import type { CountingServer } from '../../test/support/counting-server.ts';
import type { FreshDatabase } from '../../test/support/database.ts';
import { until } from '../../test/support/until.ts';
import type { KillableProcesses } from './killable-processes.ts';

/** What a check works with. */
export interface FlowFaultPlace {
  readonly admin: SendAsUser;
  readonly database: FreshDatabase;
  readonly server: CountingServer;
  readonly processes: KillableProcesses;
  /** Stops the service that takes the requests. */
  stopListener(): Promise<void>;
}

/** Milliseconds between two kills, at most. */
const MAX_INTERVAL = 3000;
/** Milliseconds that the server takes for an answer, at most. */
const MAX_DELAY = 300;
/** How long the last runs may take: those of killed processes go on when their heartbeats are overdue. */
const END_LIMIT = 600_000;

/**
 * Starts asynchronous runs with a condition, a transformation, a request and a new item each, while one process after the other is killed.
 * False where a run did not complete, an item exists twice, or a request was repeated without a kill that explains it, or with
 * another key.
 */
export async function checkAsynchronousRuns(
  { admin, database, server, processes }: FlowFaultPlace,
  runs: number,
  kills: number,
): Promise<boolean> {
  await processes.fill(3);
  server.answer = () => pause(Math.random() * MAX_DELAY, 200);
  const flow = await createWebhook(
    admin,
    [
      { key: 'check', type: 'condition', options: { filter: { $trigger: { body: { number: { _gte: 0 } } } } } },
      { key: 'change', type: 'transform', options: { json: { number: '{{ $trigger.body.number }}' } } },
      {
        key: 'call',
        type: 'request',
        options: {
          method: 'POST',
          url: `${server.url}/runs`,
          headers: [{ header: 'x-life', value: '{{ $env.LIFE }}' }],
          body: '{{ change }}',
        },
      },
      {
        key: 'make',
        type: 'item-create',
        options: { collection: 'effects', payload: '{{ change }}', permissions: '$full' },
      },
    ],
    { async: true },
  );
  let added = 0;
  async function addUntil(total: number): Promise<void> {
    while (added < total) {
      const { status } = await admin('POST', `/flows/trigger/${flow}`, { number: added });
      if (status !== 204) throw new Error(`the trigger answered ${status}`);
      added++;
    }
  }
  for (let kill = 1; kill <= kills; kill++) {
    await Promise.all([addUntil(Math.ceil((runs * kill) / kills)), pause(Math.random() * MAX_INTERVAL)]);
    const names = processes.names();
    await processes.kill(names[Math.floor(Math.random() * names.length)] as string);
    await processes.fill(3);
    console.log(`${kill} kills, ${added} runs added`);
  }
  await addUntil(runs);
  const ended = async () =>
    database.query<{ status: string; count: number }>(
      'select status, count(*)::int as count from platform_flow_runs where flow = $1 group by status',
      [flow],
    );
  await until(async () => (await ended()).some(({ count }) => count === runs), END_LIMIT).catch(() => {});

  const [items] = await database.query<{ rows: number; numbers: number }>(
    'select count(*)::int as rows, count(distinct number)::int as numbers from effects',
  );
  const byNumber = Map.groupBy(server.requests, ({ body }) => (JSON.parse(body) as { number: number }).number);
  const repeated = [...byNumber.values()].filter((all) => all.length > 1);
  const isOtherKey = repeated.filter((all) => new Set(all.map(({ headers }) => headers['idempotency-key'])).size > 1);
  const isUnexplained = repeated.filter((all) =>
    all.slice(0, -1).some(({ headers }) => !processes.killed.has(String(headers['x-life']))),
  );
  console.log(`${runs} asynchronous runs, ${kills} kills: ended ${JSON.stringify(await ended())}`);
  console.log(`${byNumber.size} runs sent their request, ${repeated.length} of them more than once`);
  console.log(`${isUnexplained.length} without a kill that explains it, ${isOtherKey.length} with another key`);
  console.log(`${items?.rows} items of ${items?.numbers} runs`);
  const [all] = await ended();
  return (
    all?.status === 'resolve' &&
    all.count === runs &&
    byNumber.size === runs &&
    isOtherKey.length + isUnexplained.length === 0 &&
    items?.rows === runs &&
    items.numbers === runs
  );
}
