import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { boot, type Kernel } from '#kernel/boot';
import { createAccessTokens } from '../../plugins/auth/access-tokens.ts';
import { composition } from '../../plugins/preset.ts';
import { type FreshDatabase, freshDatabase } from './database.ts';
import { createCheckedSend } from './described-exchange.ts';
import { createSender, type SendRequest } from './send.ts';
import { FOLDER } from './statement-record.ts';
import { templateDatabase } from './template.ts';

export type { HttpReply, RequestOptions, SendRequest } from './send.ts';
export { createSender };

export interface Service {
  readonly url: string;
  readonly database: FreshDatabase;
  readonly admin: { readonly email: string; readonly password: string; readonly token: string };
  /** Without `token` a request is the Public role's; `service.admin.token` makes it the first admin's. */
  readonly request: SendRequest;
  stop(): Promise<void>;
}

export interface InProcessService extends Service {
  readonly kernel: Kernel;
  /** Parsed log lines so far; nothing unless LOG_LEVEL is set. */
  readonly log: readonly Record<string, unknown>[];
}

export interface SpawnedService extends Service {
  readonly pid: number;
  /** Answers the exit code, null where the signal ended it. */
  kill(signal?: NodeJS.Signals): Promise<number | null>;
  output(): string;
}

export interface SpawnOptions extends ServiceOptions {
  /** Of the command line; `start` by itself where it is left out. */
  readonly args?: readonly string[];
}

export interface ServiceOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** One of the caller's own, which `stop` leaves alone; without it a fresh one, already migrated, is made and dropped. */
  readonly database?: FreshDatabase;
  /** Folders of third-party packages; in this process only. */
  readonly plugins?: readonly URL[];
}

export const ADMIN = { email: 'admin@example.com', password: 'correct horse battery' } as const;

/** Passwords of tests need not be hard to guess: a hash at the default cost takes most of the time that a start takes. */
export const QUICK_HASHES = { HASH_MEMORY_COST: '1024', HASH_TIME_COST: '2', HASH_PARALLELISM: '1' } as const;

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The service with all core plugins in this process, on a database of its own and a free port. */
export async function startService(options: ServiceOptions = {}): Promise<InProcessService> {
  const place = await preparePlace(options);
  const log: Record<string, unknown>[] = [];
  let kernel: Kernel | undefined;
  const stop = async () => {
    await kernel?.stop();
    await place.remove();
  };
  try {
    const plugins = [...composition().plugins, ...(options.plugins ?? [])];
    kernel = await boot({ plugins }, { environment: place.env, log: (line) => void log.push(JSON.parse(line)) });
    await kernel.migrate();
    await kernel.start();
    const { port } = await kernel.listen();
    const url = `http://127.0.0.1:${port}`;
    const request = createCheckedSend(createSender(url), place.env);
    return { url, kernel, log, database: place.database, request, admin: await createAdmin(place, request), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The product as administrators run it: a process of its own, which a test may kill. */
export async function spawnService({ args = ['start'], ...options }: SpawnOptions = {}): Promise<SpawnedService> {
  const place = await preparePlace({ ...options, env: { PORT: String(await freePort()), ...options.env } });
  const { child, output, ended } = runCli(args, place.env);
  const kill = async (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    return ended;
  };
  const stop = async () => {
    await kill();
    await place.remove();
  };
  const url = `http://127.0.0.1:${place.env.PORT}`;
  const request = createCheckedSend(createSender(url), place.env);
  try {
    await waitUntilAnswering(url, ended, output);
    const admin = await createAdmin(place, request);
    return { url, pid: child.pid as number, database: place.database, request, admin, kill, output, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A process of its own writes down its statements as well, where the run asks for it. */
const folder = process.env[FOLDER];
const recording = folder
  ? { args: [`--import=${new URL('statement-record.ts', import.meta.url).href}`], env: { [FOLDER]: folder } }
  : { args: [], env: {} };

/** What `scripts/node` starts every process with: the service's too, and those it is measured against. */
export const HEAP_FLAGS = process.execArgv.filter((flag) => flag.startsWith('--max-semi-space-size='));

export interface CliResult {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  output(): string;
}

/** Runs the command line in a process of its own. `env` is the whole environment but for what Node itself needs. */
export function runCli(args: readonly string[], env: Readonly<Record<string, string>>): CliResult {
  let text = '';
  const child = spawn(process.execPath, [...HEAP_FLAGS, ...recording.args, join(root, 'scripts/cli.ts'), ...args], {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      ...recording.env,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => (text += part));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return { child, ended, output: () => text };
}

interface Place {
  readonly database: FreshDatabase;
  readonly env: Record<string, string>;
  remove(): Promise<void>;
}

async function preparePlace({ env, database }: ServiceOptions): Promise<Place> {
  const own = database ?? (await createOwnDatabase(env));
  const data = await mkdtemp(join(tmpdir(), 'tenon-data-'));
  return {
    database: own,
    env: { ...createEnvironment(own, data), ...env },
    async remove() {
      await rm(data, { recursive: true, force: true });
      if (!database) await own.drop();
    },
  };
}

export const TEST_SECRET = 'a secret that only tests know, long enough';

const createEnvironment = (database: FreshDatabase, data: string) => ({
  HOST: '127.0.0.1',
  PORT: '0',
  PUBLIC_URL: 'http://127.0.0.1:8055',
  LOG_LEVEL: 'silent',
  LOG_STYLE: 'raw',
  CONFIG_PATH: '/dev/null',
  EXTENSIONS_PATH: join(data, 'extensions'),
  DATA_PATH: data,
  DB_CONNECTION_STRING: database.url,
  SECRET: TEST_SECRET,
  LOGIN_STALL_TIME: '1',
  // On a busy machine an image takes its time.
  ASSETS_TRANSFORM_TIMEOUT: '60s',
  ADMIN_EMAIL: ADMIN.email,
  ADMIN_PASSWORD: ADMIN.password,
  ...QUICK_HASHES,
});

/** Settings that migrations depend on: with another value of one of them a service begins with an empty database. */
const MIGRATION_SETTINGS = /^(ADMIN_|HASH_|SECRET|DB_(?!POOL_|STATEMENT_|HEALTHCHECK_))/;

async function createOwnDatabase(env: ServiceOptions['env'] = {}): Promise<FreshDatabase> {
  const usual: Readonly<Record<string, string>> = QUICK_HASHES;
  const needsMigrations = Object.keys(env).some((key) => MIGRATION_SETTINGS.test(key) && env[key] !== usual[key]);
  return needsMigrations ? freshDatabase('service') : createMigratedDatabase('service');
}

/** A database as the product's start leaves it; an empty one outside of `scripts/test.ts`, where a start migrates it first. */
export const createMigratedDatabase = async (name: string): Promise<FreshDatabase> =>
  freshDatabase(name, { template: await templateDatabase(migrateProduct) });

/** Everything that the product's start does to an empty database, the first admin included. */
async function migrateProduct(database: FreshDatabase): Promise<void> {
  const data = await mkdtemp(join(tmpdir(), 'tenon-data-'));
  let kernel: Kernel | undefined;
  try {
    kernel = await boot(composition(), { environment: createEnvironment(database, data) });
    await kernel.migrate();
  } finally {
    await kernel?.stop();
    await rm(data, { recursive: true, force: true });
  }
}

const tokens = createAccessTokens({ secret: () => TEST_SECRET, lifetime: 15 * 60_000 });

/**
 * The first admin with an access token as the service itself would sign it: to check the password takes a process of its own, most of
 * the work of a start. Where a test chooses what tokens are signed with, or how long they are good, he signs in.
 */
async function createAdmin({ database, env }: Place, request: SendRequest): Promise<Service['admin']> {
  const { ADMIN_EMAIL: email, ADMIN_PASSWORD: password, SECRET, ACCESS_TOKEN_TTL } = env as Record<string, string>;
  const isUsual = SECRET === TEST_SECRET && ACCESS_TOKEN_TTL === undefined;
  const token = isUsual ? await adminToken(database, email) : undefined;
  if (token === undefined) return signIn(request, env);
  return { email: email as string, password: password as string, token };
}

/** An access token of the admin with this address, good where the secret is `TEST_SECRET`; undefined where there is none. */
export async function adminToken(database: FreshDatabase, email: string = ADMIN.email): Promise<string | undefined> {
  const [admin] = await database.query<{ id: string; role: string }>(
    'select id, role from platform_users where email = $1',
    [email],
  );
  return admin && tokens.sign({ ...admin, app_access: true, admin_access: true });
}

async function signIn(request: SendRequest, env: Record<string, string>): Promise<Service['admin']> {
  const email = env.ADMIN_EMAIL as string;
  const password = env.ADMIN_PASSWORD as string;
  const reply = await request('POST', '/auth/login', { body: { email, password } });
  const token = reply.body?.data?.access_token;
  if (typeof token !== 'string')
    throw new Error(`the admin cannot sign in: ${reply.status} ${JSON.stringify(reply.body)}`);
  return { email, password, token };
}

/** Below those that systems give to outgoing connections: one of these could take it before the service does. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}

async function waitUntilAnswering(url: string, ended: Promise<unknown>, output: () => string): Promise<void> {
  const state = { ended: false };
  void ended.then(() => (state.ended = true));
  const deadline = Date.now() + 180_000;
  while (Date.now() < deadline) {
    if (state.ended) throw new Error(`the service ended while it started:\n${output()}`);
    const reply = await fetch(`${url}/server/ping`).catch(() => undefined);
    if (reply?.ok) return void (await reply.text());
    await pause(50);
  }
  throw new Error(`the service does not answer:\n${output()}`);
}
