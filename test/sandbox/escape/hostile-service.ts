import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { createTestFlow } from '../../plugins/flows/flow-fixture.ts';
import { createUserSender } from '../../plugins/users/test-users.ts';
import { type SpawnedService, spawnService } from '../../support/service.ts';
import type { HostileProgram } from './hostile-programs.ts';
import { toScript } from './to-script.ts';

/**
 * EXTENSIONS_SANDBOX_TIMEOUT of these tests in milliseconds: short, so that all programs take a minute or two, and long
 * enough for programs that must answer on a busy machine.
 */
export const SANDBOX_TIMEOUT_MS = 2000;

/** The same for programs of the group `time`, most of which run until it is over: the least that the setting takes. */
const SHORT_SANDBOX_TIMEOUT_MS = 1000;

/** The programs in groups, each with the time limit of its service in milliseconds. */
export function groupHostileProgramsByTimeout(
  all: readonly HostileProgram[],
): readonly { readonly title: string; readonly timeoutMs: number; readonly programs: readonly HostileProgram[] }[] {
  const isLong = ({ group }: HostileProgram) => group === 'time';
  return [
    {
      title: 'of ordinary length',
      timeoutMs: SANDBOX_TIMEOUT_MS,
      programs: all.filter((program) => !isLong(program)),
    },
    { title: 'that do not end', timeoutMs: SHORT_SANDBOX_TIMEOUT_MS, programs: all.filter(isLong) },
  ];
}

export interface HostileService {
  readonly service: SpawnedService;
  /** The path of a request that runs the program. */
  pathOf(program: HostileProgram): string;
  /** Requests that reached the internal server, which no program may reach. */
  readonly reachedRequests: readonly string[];
  /** The longest block of the service's event loop since the last call in ms, and its memory in bytes. */
  measure(): Promise<{ readonly longest: number; readonly rss: number }>;
  stop(): Promise<void>;
}

/** Programs are endpoints of packages, or scripts of flows (`exec`) that webhooks trigger. */
export type HostileProgramForm = 'packages' | 'flows';

/**
 * Starts a service in its own process with every program installed, a table that no caller may read, and an internal
 * server.
 */
export async function startHostileService(
  programs: readonly HostileProgram[],
  form: HostileProgramForm = 'packages',
  timeoutMs = SANDBOX_TIMEOUT_MS,
): Promise<HostileService> {
  const folder = await mkdtemp(join(tmpdir(), 'tenon-escape-'));
  const reachedRequests: string[] = [];
  const inside = await startInnerServer(reachedRequests);
  const { port } = inside.address() as AddressInfo;
  const watched = join(folder, 'watch.json');
  const remove = async () => {
    inside.close();
    inside.closeAllConnections();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    if (form === 'packages') for (const program of programs) await install(join(folder, 'extensions'), program, port);
    const service = await spawnService({
      env: {
        EXTENSIONS_PATH: join(folder, 'extensions'),
        EXTENSIONS_SANDBOX_TIMEOUT: String(timeoutMs),
        FLOWS_RUN_SCRIPT_TIMEOUT: String(timeoutMs),
        NODE_OPTIONS: `--import=${fileURLToPath(new URL('event-loop-memory-report.ts', import.meta.url))}`,
        ESCAPE_WATCH: watched,
      },
    });
    await createSecretRows(service);
    const flows = form === 'flows' ? await createFlows(service, programs, port) : undefined;
    let sequence = 0;
    return {
      service,
      pathOf: ({ id }) => (flows ? `/flows/trigger/${flows.get(id)}` : `/${id}`),
      reachedRequests,
      async measure() {
        sequence++;
        process.kill(service.pid, 'SIGUSR2');
        for (const deadline = Date.now() + 30_000; Date.now() < deadline; await pause(5)) {
          const report = JSON.parse(await readFile(watched, 'utf8').catch(() => '{}'));
          if (report.sequence === sequence) return report;
        }
        throw new Error('the service does not say how it is');
      },
      async stop() {
        await service.stop();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function startInnerServer(reachedRequests: string[]): Promise<Server> {
  const server = createServer((request, response) => {
    reachedRequests.push(`${request.method} ${request.url}`);
    response.end('inside');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** Writes a hostile program as a package. Its declared source is harmless, since only the built file is hostile. */
async function install(folder: string, program: HostileProgram, port: number): Promise<void> {
  const packageFolder = join(folder, `service-extension-${program.id}`);
  const filled = (text: string) => fillAddresses(text, port);
  await mkdir(join(packageFolder, 'dist'), { recursive: true });
  await mkdir(join(packageFolder, 'src'));
  await writeFile(join(packageFolder, 'src/index.js'), 'export default { handler: () => ({}) };\n');
  await writeFile(join(packageFolder, 'dist/index.js'), filled(program.text));
  await writeFile(
    join(packageFolder, 'package.json'),
    JSON.stringify({
      name: `service-extension-${program.id}`,
      version: '1.0.0',
      type: 'module',
      'service:extension': {
        type: 'endpoint',
        path: 'dist/index.js',
        source: 'src/index.js',
        host: '^1.0.0',
        runtime: 'confined-server',
        capabilities: { endpoint: { access: 'public' }, ...JSON.parse(filled(JSON.stringify(program.capabilities))) },
      },
    }),
  );
}

/** The text with the addresses of the internal server. */
const fillAddresses = (text: string, port: number): string =>
  text
    .replaceAll('INSIDE', `127.0.0.1:${port}`)
    .replaceAll('ORIGIN', `localhost:${port}`)
    .replaceAll('PORT', `${port}`);

/** Creates a webhook flow for each program, whose only step runs it. Returns their ids by program. */
async function createFlows(
  service: SpawnedService,
  programs: readonly HostileProgram[],
  port: number,
): Promise<ReadonlyMap<string, string>> {
  const admin = createUserSender(service, service.admin.token);
  const ids = new Map<string, string>();
  for (const program of programs) {
    const step = { key: 'run', type: 'exec', options: { code: fillAddresses(toScript(program), port) } };
    ids.set(program.id, await createTestFlow(admin, { trigger: 'webhook', options: { method: 'GET' }, steps: [step] }));
  }
  return ids;
}

async function createSecretRows({ request, admin, database }: SpawnedService): Promise<void> {
  await database.query('create table secrets (id serial primary key, text text)');
  await database.query(`insert into secrets (text) values ('a secret of the database')`);
  await database.query('create table notes (id serial primary key, text text)');
  await database.query(`insert into notes (text) select 'note ' || n from generate_series(1, 200) n`);
  const reply = await request('POST', '/permissions', {
    token: admin.token,
    body: { role: null, collection: 'notes', action: 'read', fields: ['*'], permissions: {} },
  });
  if (reply.status !== 200) throw new Error(`the notes cannot be made readable: ${JSON.stringify(reply.body)}`);
}

/** Asserts that the service serves, and that no program has reached rows, requests or the log. */
export async function expectServiceUnharmed({ service, reachedRequests }: HostileService): Promise<void> {
  const reply = await service.request('GET', '/items/notes?limit=1');
  expect(reply.body).to.deep.equal({ data: [{ id: 1, text: 'note 1' }] });
  expect(await service.database.query('select text from secrets')).to.deep.equal([
    { text: 'a secret of the database' },
  ]);
  expect(reachedRequests).to.deep.equal([]);
  expect(service.output()).not.to.contain('a secret of the database');
}
