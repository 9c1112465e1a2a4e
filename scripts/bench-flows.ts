/**
 * `npm run bench:flows [-- --seconds 2 --rounds 5 --connections 32 --profile <folder>]`: a webhook flow of three operations beside an endpoint
 * with full authority that does the same, in one service and alternating rounds; then the processor time that creating a row takes
 * without flows, with flows for other events, and with a flow that listens to it. Compare ratios and differences; absolute numbers depend
 * on the machine.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createTestFlow, type TestStep } from '../test/plugins/flows/flow-fixture.ts';
import { createUserSender, type SendAsUser } from '../test/plugins/users/test-users.ts';
import { freshDatabase } from '../test/support/database.ts';
import { startDatabaseServer } from '../test/support/database-server.ts';
import { type SpawnedService, spawnService } from '../test/support/service.ts';
import { buildRequestBytes, runLoad } from './bench/http-load-generator.ts';
import { cpuByProcess } from './bench/process-cpu-memory.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '32' },
    profile: { type: 'string' },
  },
});
const seconds = Number(values.seconds);
const rounds = Number(values.rounds);
const connections = Number(values.connections);

/** The same work as the flow. */
const ENDPOINT = `export default (router, { services }) => {
  router.post('/', async ({ body, accountability }, response) => {
    if (body.n !== 5) return response.status(400).json({ error: 'another number is needed' });
    const picked = { id: body.n, label: 'number ' + body.n };
    const notes = new services.ItemsService('note', { accountability });
    response.json(await notes.readOne(picked.id, { fields: ['id', 'text'] }));
  });
};
`;
const STEPS: readonly TestStep[] = [
  { key: 'check', type: 'condition', options: { filter: { $trigger: { body: { n: { _eq: 5 } } } } } },
  {
    key: 'pick',
    type: 'transform',
    options: { json: { id: '{{ $trigger.body.n }}', label: 'number {{ $trigger.body.n }}' } },
  },
  {
    key: 'read',
    type: 'item-read',
    options: { collection: 'note', key: '{{ pick.id }}', query: { fields: ['id', 'text'] } },
  },
];

const server = await startDatabaseServer();
process.env.TEST_DATABASE_URL = server.url;
const database = await freshDatabase('bench');
const folder = await mkdtemp(join(tmpdir(), 'tenon-bench-'));
let service: SpawnedService | undefined;
try {
  await installEndpoint(folder);
  await database.query('create table note (id serial primary key, text text)');
  await database.query(`insert into note (text) select 'note ' || n from generate_series(1, 1000) n`);
  const profile = values.profile ? `--cpu-prof --cpu-prof-dir=${values.profile}` : undefined;
  service = await spawnService({
    database,
    env: { EXTENSIONS_PATH: folder, ...(profile ? { NODE_OPTIONS: profile } : {}) },
  });
  const admin = createUserSender(service, service.admin.token);
  const isGood = [await compareWebhooks(service, admin), await compareWriters(service, admin)].every(Boolean);
  process.exitCode = isGood ? 0 : 1;
} finally {
  await service?.stop();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
  await server.stop();
}

async function installEndpoint(path: string): Promise<void> {
  const place = join(path, 'service-extension-same');
  await mkdir(place, { recursive: true });
  await writeFile(join(place, 'index.js'), ENDPOINT);
  const manifest = { type: 'endpoint', path: 'index.js', source: 'index.js', host: '^1.0.0' };
  const text = { name: 'service-extension-same', version: '1.0.0', type: 'module', 'service:extension': manifest };
  await writeFile(join(place, 'package.json'), JSON.stringify(text));
}

/** Requests a second of the endpoint and of the flow with each accountability. Whether the flow is fast enough. */
async function compareWebhooks({ url: text, admin: { token } }: SpawnedService, admin: SendAsUser): Promise<boolean> {
  const url = new URL(text);
  const paths = new Map([['endpoint', '/same']]);
  for (const accountability of [null, 'activity', 'all']) {
    const flow = await createTestFlow(admin, {
      trigger: 'webhook',
      options: { method: 'POST' },
      accountability,
      steps: STEPS,
    });
    paths.set(`flow, accountability ${accountability}`, `/flows/trigger/${flow}`);
  }
  const rates = new Map<string, number[]>([...paths.keys()].map((name) => [name, []]));
  let failed = 0;
  for (const path of paths.values()) await assertAnswer(admin, path);
  for (let round = 0; round <= rounds; round++)
    for (const [name, path] of paths) {
      const request = buildRequestBytes(url, [`Authorization: Bearer ${token}`], {
        method: 'POST',
        path,
        body: { n: 5 },
      });
      const done = await runLoad(url, () => request, connections, seconds);
      failed += done.failed;
      // The first round warms everything up.
      if (round > 0) rates.get(name)?.push(done.requests / done.seconds);
    }
  console.log(`${rounds} rounds of ${seconds} s, ${connections} connections; medians`);
  const own = median(rates.get('endpoint') ?? []);
  for (const [name, all] of rates)
    console.log(
      `${name.padEnd(32)}${median(all).toFixed(0).padStart(8)} requests/s   ${(median(all) / own).toFixed(2)}`,
    );
  const ratio = median(rates.get('flow, accountability null') ?? []) / own;
  if (failed > 0) console.log(`! ${failed} requests failed`);
  return report('flow / endpoint, requests a second', ratio, 0.6, '', false) && failed === 0;
}

async function assertAnswer(admin: SendAsUser, path: string): Promise<void> {
  const { status, body } = await admin('POST', path, { n: 5 });
  const expected = '{"id":5,"text":"note 5"}';
  if (status !== 200 || JSON.stringify(body) !== expected)
    throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`);
}

/** Milliseconds of the service's processor time for each created row. Whether flows cost the writer little. */
async function compareWriters(
  { url: text, pid, admin: { token } }: SpawnedService,
  admin: SendAsUser,
): Promise<boolean> {
  const url = new URL(text);
  const listening = (name: string, options: object) =>
    createTestFlow(admin, {
      trigger: 'event',
      accountability: null,
      status: 'inactive',
      options: { type: 'action', ...options },
      steps: [{ key: name, type: 'transform', options: { json: { got: '{{ $trigger.key }}' } } }],
    });
  const flows = new Map([
    ['no flow', []],
    [
      'flows for other events',
      [await listening('other', { scope: ['items.update', 'auth.login'], collections: ['note'] })],
    ],
    ['one action flow', [await listening('own', { scope: ['items.create'], collections: ['note'] })]],
  ]);
  const request = buildRequestBytes(url, [`Authorization: Bearer ${token}`], {
    method: 'POST',
    path: '/items/note',
    body: { text: 'another note' },
  });
  const costs = new Map<string, number[]>([...flows.keys()].map((name) => [name, []]));
  for (let round = 0; round <= rounds; round++)
    for (const [name, ids] of flows) {
      for (const id of ids) await admin('PATCH', `/flows/${id}`, { status: 'active' });
      const before = cpuByProcess([pid]).get(pid) ?? 0;
      const { requests } = await runLoad(url, () => request, connections, seconds);
      const used = (cpuByProcess([pid]).get(pid) ?? 0) - before;
      if (round > 0) costs.get(name)?.push(used / requests);
      for (const id of ids) await admin('PATCH', `/flows/${id}`, { status: 'inactive' });
    }
  const costOf = (name: string) => median(costs.get(name) ?? []);
  for (const name of costs.keys())
    console.log(`${name.padEnd(32)}${costOf(name).toFixed(3).padStart(8)} ms a created row`);
  return [
    report('one action flow that listens', costOf('one action flow') - costOf('no flow'), 0.2, 'ms', true),
    report('flows for other events', costOf('flows for other events') - costOf('no flow'), 0.02, 'ms', true),
  ].every(Boolean);
}

function report(what: string, value: number, limit: number, unit: string, atMost: boolean): boolean {
  const isWithin = atMost ? value <= limit : value >= limit;
  const bound = `${atMost ? 'at most' : 'at least'} ${limit} ${unit}`;
  console.log(
    `${what.padEnd(44)}${value.toFixed(3).padStart(8)} ${unit.padEnd(3)}${bound.padEnd(18)} ${isWithin ? 'held' : 'MISSED'}`,
  );
  return isWithin;
}

function median(all: readonly number[]): number {
  const sorted = [...all].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
