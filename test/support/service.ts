import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { boot, type Kernel } from '#kernel/boot';
import { createAccessTokenCodec } from '../../plugins/auth/access-tokens.ts';
import { listCorePlugins } from '../../plugins/core-plugins.ts';
import { type FreshDatabase, freshDatabase } from './database.ts';
import { findFreePort } from './free-port.ts';
import { createDescriptionCheckedSend } from './route-description-check.ts';
import { createSender, type SendRequest } from './send.ts';
import { STATEMENT_FOLDER_VARIABLE } from './statement-record.ts';
import { ensureTemplateDatabase } from './template-database.ts';

export type { HttpReply, RequestOptions, SendRequest } from './send.ts';
export { createSender };

export interface RunningTestService {
  readonly url: string;
  readonly database: FreshDatabase;
  readonly admin: { readonly email: string; readonly password: string; readonly token: string };
  /** Sends a request: without `token` as the Public role, with `service.admin.token` as the first admin. */
  readonly request: SendRequest;
  stop(): Promise<void>;
}

export interface InProcessService extends RunningTestService {
  readonly kernel: Kernel;
  /** Parsed log lines so far; nothing unless LOG_LEVEL is set. */
  readonly log: readonly Record<string, unknown>[];
}

export interface SpawnedService extends RunningTestService {
  readonly pid: number;
  /** Sends a signal, by default SIGTERM, and resolves with the exit code; null where the signal ended the process. */
  kill(signal?: NodeJS.Signals): Promise<number | null>;
  output(): string;
}

export interface SpawnOptions extends ServiceOptions {
  /** Arguments of the command line. Default: `start`. */
  readonly args?: readonly string[];
  /** Another checkout of the service to run, with its dependencies. */
  readonly checkout?: string;
}

export interface ServiceOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Database of the test, which `stop` does not drop. Default: a new one, already migrated, which `stop` drops. */
  readonly database?: FreshDatabase;
  /** Folders of additional plugins, for services in this process only. */
  readonly plugins?: readonly URL[];
  /** Folder names of core plugins that are left out, for services in this process only. */
  readonly without?: readonly string[];
  /** The same, before the core plugins: a route of theirs answers in place of a core route with the same path. */
  readonly pluginsBefore?: readonly URL[];
}

export const FIRST_ADMIN_CREDENTIALS = { email: 'admin@example.com', password: 'correct horse battery' } as const;

/** Settings of cheap password hashes: at the default cost a hash takes most of the time of a start. */
export const QUICK_HASH_SETTINGS = { HASH_MEMORY_COST: '1024', HASH_TIME_COST: '2', HASH_PARALLELISM: '1' } as const;

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Starts a service with all core plugins in this process, by default on a new database, on a free port. */
export async function startService(options: ServiceOptions = {}): Promise<InProcessService> {
  const place = await preparePlace(options);
  const log: Record<string, unknown>[] = [];
  let kernel: Kernel | undefined;
  const stop = async () => {
    await kernel?.stop();
    await place.remove();
  };
  try {
    const { without = [], pluginsBefore = [], plugins: pluginsAfter = [] } = options;
    const isLeftOut = ({ pathname }: URL) => without.some((name) => pathname.endsWith(`/plugins/${name}/`));
    const core = listCorePlugins().plugins.filter((url) => !isLeftOut(url));
    const plugins = [...pluginsBefore, ...core, ...pluginsAfter];
    kernel = await boot({ plugins }, { environment: place.env, log: (line) => void log.push(JSON.parse(line)) });
    await kernel.migrate();
    await kernel.start();
    const { port } = await kernel.listen();
    const url = `http://127.0.0.1:${port}`;
    const request = createDescriptionCheckedSend(createSender(url), place.env);
    return { url, kernel, log, database: place.database, request, admin: await createAdmin(place, request), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Starts a service as a child process by the command line, as administrators do. The test may kill it. */
export async function spawnService({
  args = ['start'],
  checkout,
  ...options
}: SpawnOptions = {}): Promise<SpawnedService> {
  const place = await preparePlace({ ...options, env: { PORT: String(await findFreePort()), ...options.env } });
  const { child, output, ended } = runCli(args, place.env, undefined, checkout);
  const kill = async (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    return ended;
  };
  const stop = async () => {
    await kill();
    await place.remove();
  };
  const url = `http://127.0.0.1:${place.env.PORT}`;
  const request = createDescriptionCheckedSend(createSender(url), place.env);
  try {
    await waitUntilAnswering(url, ended, output);
    const admin = await createAdmin(place, request);
    return { url, pid: child.pid as number, database: place.database, request, admin, kill, output, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Makes child processes record their SQL statements too, where the test run sets the folder for that. */
const folder = process.env[STATEMENT_FOLDER_VARIABLE];
export const RECORDING = folder
  ? {
      args: [`--import=${new URL('statement-record.ts', import.meta.url).href}`],
      env: { [STATEMENT_FOLDER_VARIABLE]: folder },
    }
  : { args: [], env: {} };

/** Heap flags with which `scripts/node` started this process. Child processes get the same, so that measurements compare. */
export const HEAP_FLAGS = process.execArgv.filter((flag) => flag.startsWith('--max-semi-space-size='));

export interface CliProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  /** What it has written to standard output and standard error so far. */
  output(): string;
  /** The part of the output that it has written to standard output. */
  standardOutput(): string;
}

/**
 * Runs the command line in a child process. `env` is its whole environment, except PATH, HOME and the compile cache; `input` is
 * its standard input, which is empty by default.
 */
export function runCli(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  input?: string,
  checkout = root,
): CliProcess {
  let text = '';
  const child = spawn(process.execPath, [...HEAP_FLAGS, ...RECORDING.args, join(checkout, 'scripts/cli.ts'), ...args], {
    cwd: checkout,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      ...RECORDING.env,
      ...env,
    },
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  child.stdin?.end(input);
  for (const stream of [child.stdout, child.stderr] as const)
    stream?.setEncoding('utf8').on('data', (part: string) => (text += part));
  let standardOutput = '';
  child.stdout?.on('data', (part: string) => (standardOutput += part));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return { child, ended, output: () => text, standardOutput: () => standardOutput };
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
  SERVER_SHUTDOWN_DELAY: '0',
  LOG_STYLE: 'raw',
  CONFIG_PATH: '/dev/null',
  EXTENSIONS_PATH: join(data, 'extensions'),
  DATA_PATH: data,
  DB_CONNECTION_STRING: database.url,
  SECRET: TEST_SECRET,
  LOGIN_STALL_TIME: '1',
  // On a busy machine transforming an image takes long, and so does the database or a disk, without anything being wrong.
  ASSETS_TRANSFORM_TIMEOUT: '60s',
  DB_HEALTHCHECK_THRESHOLD: '60s',
  STORAGE_LOCAL_HEALTHCHECK_THRESHOLD: '60s',
  ADMIN_EMAIL: FIRST_ADMIN_CREDENTIALS.email,
  ADMIN_PASSWORD: FIRST_ADMIN_CREDENTIALS.password,
  ...QUICK_HASH_SETTINGS,
});

/** Settings on which migrations depend: a service with another value of one of them starts on an empty database. */
const MIGRATION_SETTINGS = /^(ADMIN_|HASH_|SECRET|DB_(?!POOL_|STATEMENT_|HEALTHCHECK_))/;

async function createOwnDatabase(env: ServiceOptions['env'] = {}): Promise<FreshDatabase> {
  const usual: Readonly<Record<string, string>> = QUICK_HASH_SETTINGS;
  const needsMigrations = Object.keys(env).some((key) => MIGRATION_SETTINGS.test(key) && env[key] !== usual[key]);
  return needsMigrations ? freshDatabase('service') : createMigratedDatabase('service');
}

/** Creates a migrated database from the template of the test run; an empty one outside of `scripts/test.ts`. */
export const createMigratedDatabase = async (name: string): Promise<FreshDatabase> =>
  freshDatabase(name, { template: await ensureTemplateDatabase(migrateProduct) });

/** Runs all migrations of the core plugins on an empty database, which also create the first admin. */
async function migrateProduct(database: FreshDatabase): Promise<void> {
  const data = await mkdtemp(join(tmpdir(), 'tenon-data-'));
  let kernel: Kernel | undefined;
  try {
    kernel = await boot(listCorePlugins(), { environment: createEnvironment(database, data) });
    await kernel.migrate();
  } finally {
    await kernel?.stop();
    await rm(data, { recursive: true, force: true });
  }
}

const tokens = createAccessTokenCodec({
  secrets: () => ({ current: TEST_SECRET, previous: [] }),
  lifetime: 15 * 60_000,
});

/**
 * The first admin with an access token that this process signs, which is faster than a sign-in with the password. Where a test
 * sets SECRET or ACCESS_TOKEN_TTL, the admin signs in.
 */
async function createAdmin({ database, env }: Place, request: SendRequest): Promise<RunningTestService['admin']> {
  const { ADMIN_EMAIL: email, ADMIN_PASSWORD: password, SECRET, ACCESS_TOKEN_TTL } = env as Record<string, string>;
  const isUsual = SECRET === TEST_SECRET && ACCESS_TOKEN_TTL === undefined;
  const token = isUsual ? await adminToken(database, email) : undefined;
  if (token === undefined) return signIn(request, env);
  return { email: email as string, password: password as string, token };
}

/** Signs an access token for the admin with this e-mail address, with `TEST_SECRET`; undefined for an unknown address. */
export async function adminToken(
  database: FreshDatabase,
  email: string = FIRST_ADMIN_CREDENTIALS.email,
): Promise<string | undefined> {
  const [admin] = await database.query<{ id: string; role: string }>(
    'select id, role from platform_users where email = $1',
    [email],
  );
  return admin && tokens.sign({ ...admin, app_access: true, admin_access: true });
}

async function signIn(request: SendRequest, env: Record<string, string>): Promise<RunningTestService['admin']> {
  const email = env.ADMIN_EMAIL as string;
  const password = env.ADMIN_PASSWORD as string;
  const reply = await request('POST', '/auth/login', { body: { email, password } });
  const token = reply.body?.data?.access_token;
  if (typeof token !== 'string')
    throw new Error(`the admin cannot sign in: ${reply.status} ${JSON.stringify(reply.body)}`);
  return { email, password, token };
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
