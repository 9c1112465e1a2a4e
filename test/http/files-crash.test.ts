import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { listLocalObjectPaths } from '../plugins/files/files-fixture.ts';
import type { FreshDatabase } from '../support/database.ts';
import { createSeededRandom, type SeededRandom } from '../support/random.ts';
import {
  createMigratedDatabase,
  FIRST_ADMIN_CREDENTIALS,
  runCli,
  type SpawnedService,
  spawnService,
} from '../support/service.ts';
import { sha256 } from '../support/sha256.ts';
import { until } from '../support/until.ts';

/** How often the service is killed; CLIENTS is the number of clients that send requests meanwhile. */
const KILLS = Number(process.env.FILES_CRASH_KILLS ?? 7);
const CLIENTS = 6;
/** Each kill follows after up to ANSWERS responses and up to LONGEST milliseconds, so that it hits every step of a request. */
const ANSWERS = 24;
const LONGEST = 150;
const SEED = Number(process.env.FILES_CRASH_SEED ?? Date.now() % 1_000_000_000);

/** The states that each file may be in: the hash of its bytes, or `none` without a file. Unknown outcomes leave several. */
type Possible = Map<string, ReadonlySet<string>>;

describe('files: the service is killed during uploads, replacements and deletes', function () {
  this.timeout(600_000);
  const random = createSeededRandom(SEED);
  const env = (folder: string) => ({ STORAGE_LOCAL_ROOT: folder, LOG_LEVEL: 'error' });
  let database: FreshDatabase;
  let folder: string;
  before(async () => {
    database = await createMigratedDatabase('files_crash');
    folder = await mkdtemp(join(tmpdir(), 'tenon-crash-'));
  });
  after(async () => {
    await database?.drop();
    await rm(folder, { recursive: true, force: true });
  });
  afterEach(function () {
    if (this.currentTest?.state === 'failed') console.error(`again with FILES_CRASH_SEED=${SEED}`);
  });

  it(`after ${KILLS} kills at random moments rows and objects match, and every acknowledged file exists`, async () => {
    let service: Promise<SpawnedService> = spawnService({ database, env: env(folder) });
    let ended = false;
    let answers = 0;
    const done = { upload: 0, replace: 0, delete: 0, uncertain: 0 };
    const files: Possible = new Map();
    const sent = new Set<string>();

    /** The response; undefined if the connection broke, so that the outcome is unknown. */
    async function tell(method: string, path: string, body?: Form): Promise<Answer | undefined> {
      try {
        const { url, admin } = await service;
        const answer = await send(`${url}${path}`, method, admin.token, body);
        answers++;
        return answer;
      } catch {
        done.uncertain++;
        return undefined;
      }
    }

    async function client(own: SeededRandom): Promise<void> {
      const mine: string[] = [];
      while (!ended) {
        const id = own.chance(0.5) && mine.length > 0 ? own.one(mine) : undefined;
        const before = files.get(id ?? '') ?? new Set<string>();
        if (id === undefined) {
          const form = formOf(own);
          const key = keyOf(own);
          sent.add(form.hash);
          mine.push(key);
          files.set(key, new Set(['none', form.hash]));
          const answer = await tell('POST', '/files', { ...form, fields: { id: key } });
          if (answer) {
            expect(answer.status, answer.text).to.equal(200);
            files.set(key, new Set([form.hash]));
            done.upload++;
          }
        } else if (own.chance(0.6)) {
          const form = formOf(own);
          sent.add(form.hash);
          files.set(id, new Set([...before, form.hash]));
          const answer = await tell('PATCH', `/files/${id}`, form);
          if (!answer) continue;
          // 403 is right only where an earlier request of unknown outcome may have left no file.
          if (answer.status === 403) expect([...before], 'an answer of 403').to.include('none');
          else expect(answer.status, answer.text).to.equal(200);
          files.set(id, new Set([answer.status === 200 ? form.hash : 'none']));
          if (answer.status === 200) done.replace++;
        } else {
          files.set(id, new Set([...before, 'none']));
          const answer = await tell('DELETE', `/files/${id}`);
          if (!answer) continue;
          expect(answer.status, answer.text).to.equal(204);
          files.set(id, new Set(['none']));
          done.delete++;
        }
      }
    }

    /** A client that replaces the bytes of files which other clients replace at the same time. */
    async function rival(own: SeededRandom, shared: readonly string[]): Promise<void> {
      while (!ended) {
        const form = formOf(own);
        sent.add(form.hash);
        const answer = await tell('PATCH', `/files/${own.one(shared)}`, form);
        if (answer) done.replace++;
      }
    }

    /** Runs the command `files check`. Its first step is a run of the janitor, which removes what the last kill left. */
    async function checkByCommand(): Promise<void> {
      const check = runCli(['files', 'check'], {
        ...env(folder),
        CONFIG_PATH: '/dev/null',
        EXTENSIONS_PATH: '/dev/null',
        DB_CONNECTION_STRING: database.url,
        DATA_PATH: folder,
        SECRET: 'a secret that only tests know, long enough',
        ADMIN_EMAIL: FIRST_ADMIN_CREDENTIALS.email,
        ADMIN_PASSWORD: FIRST_ADMIN_CREDENTIALS.password,
      });
      expect(await check.ended, check.output()).to.equal(0);
    }

    const shared: string[] = [];
    for (let count = 0; count < 2; count++) {
      const form = formOf(random);
      sent.add(form.hash);
      const answer = await tell('POST', '/files', form);
      shared.push(JSON.parse(answer?.text ?? '').data.id);
    }
    const seeds = Array.from({ length: CLIENTS }, () => random.upTo(2 ** 31));
    const working = Promise.all(
      seeds.map((seed, at) => (at < 2 ? rival(createSeededRandom(seed), shared) : client(createSeededRandom(seed)))),
    );
    // Never resolves, and rejects as soon as an expectation of a client fails.
    const wrong = working.then(() => new Promise<never>(() => {}));
    try {
      for (let kill = 0; kill < KILLS; kill++) {
        const running = await service;
        const enough = answers + random.upTo(ANSWERS);
        await Promise.race([until(() => answers >= enough, 120_000), wrong]);
        await pause(random.upTo(LONGEST));
        const killed = running.kill('SIGKILL').then(() => running.stop());
        service = killed.then(() => spawnService({ database, env: env(folder) }));
        await Promise.race([service, wrong]);
      }
      ended = true;
      await working;
      await checkByCommand();
    } finally {
      ended = true;
      await (await service).stop();
    }
    // The test is valid only if each kill cut off a request, and if every kind of request was also answered.
    const { uncertain, ...acknowledged } = done;
    expect(
      [uncertain >= KILLS, ...Object.values(acknowledged).map((times) => times >= 3)],
      JSON.stringify(done),
    ).not.to.include(false);

    expect(await database.query('select * from platform_orphaned_objects')).to.deep.equal([]);
    const rows = await database.query<{ id: string; name: string; size: string }>(
      'select id, filename_disk as name, filesize::text as size from platform_files',
    );
    expect(await listLocalObjectPaths(folder)).to.deep.equal(rows.map(({ name }) => name).sort());
    const found = new Map<string, string>();
    for (const { id, name, size } of rows) {
      const bytes = await readFile(join(folder, name));
      expect(String(bytes.length), name).to.equal(size);
      expect(sent.has(sha256(bytes)), `${name} is nothing that was ever sent`).to.equal(true);
      found.set(id, sha256(bytes));
    }
    for (const id of shared) expect([...found.keys()]).to.include(id);
    for (const [id, possible] of files) expect([...possible], id).to.include(found.get(id) ?? 'none');
  });
});

interface Form {
  readonly parts: readonly Buffer[];
  readonly hash: string;
  /** Milliseconds to wait between sending two parts. */
  readonly wait: number;
  readonly fields?: Readonly<Record<string, string>>;
}

/** A random file of up to 400 kB of text, in up to five parts that are sent one after the other. */
function formOf(random: SeededRandom): Form {
  const parts = Array.from({ length: random.upTo(6) }, () =>
    Buffer.from(`${random.next()} `.repeat(1 + random.upTo(4000))),
  );
  return { parts, hash: sha256(Buffer.concat(parts)), wait: random.upTo(15) };
}

function keyOf(random: SeededRandom): string {
  const hex = Array.from({ length: 32 }, () => random.upTo(16).toString(16)).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20)].join('-');
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

const BOUNDARY = 'between-the-parts-of-a-form';

/** Sends a request with an optional form. Rejects if the connection breaks before the response is complete. */
async function send(url: string, method: string, token: string, form?: Form): Promise<Answer> {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(form ? { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` } : {}),
  };
  const clientRequest = request(url, { method, headers, agent: false });
  const answered = once(clientRequest, 'response') as Promise<[IncomingMessage]>;
  answered.catch(() => {});
  // An error after the response has begun must not become an uncaught exception.
  clientRequest.on('error', () => {});
  if (form) await write(clientRequest, form);
  clientRequest.end();
  const [response] = await answered;
  let text = '';
  for await (const part of response.setEncoding('utf8')) text += part;
  return { status: response.statusCode ?? 0, text };
}

async function write(clientRequest: ClientRequest, { parts, wait, fields = {} }: Form): Promise<void> {
  const begin = `--${BOUNDARY}\r\ncontent-disposition: form-data; `;
  for (const [name, value] of Object.entries(fields)) clientRequest.write(`${begin}name="${name}"\r\n\r\n${value}\r\n`);
  clientRequest.write(`${begin}name="file"; filename="a.txt"\r\ncontent-type: text/plain\r\n\r\n`);
  for (const part of parts) {
    if (clientRequest.destroyed) return;
    clientRequest.write(part);
    await pause(wait);
  }
  clientRequest.write(`\r\n--${BOUNDARY}--\r\n`);
}
