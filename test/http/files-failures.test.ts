import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { Agent, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { listLocalObjectPaths } from '../plugins/files/files-fixture.ts';
import { statusAndCodeOf } from '../plugins/users/test-users.ts';
import type { SpawnedService } from '../support/service.ts';
import { until } from '../support/until.ts';
import {
  createSharedFilesEnvironment,
  createTestPicture,
  expectConsistentFiles,
  type FormReply,
  fetchAssetAsAdmin,
  PICTURE_FORM_OPTIONS,
  type SharedFilesEnvironment,
  sendUploadForm,
  startSlowMultipartUpload,
  uploadFileByForm,
} from './shared-files-environment.ts';

const UNAVAILABLE = [503, 'SERVICE_UNAVAILABLE'];
const refusal = ({ status, body }: FormReply) => [status, body?.errors?.[0]?.extensions?.code];

const remove = ({ request, admin }: SpawnedService, id: string) =>
  request('DELETE', `/files/${id}`, { token: admin.token });
const replace = (service: SpawnedService, id: string, bytes: string) =>
  sendUploadForm(service, bytes, { method: 'PATCH', path: `/files/${id}` });

/** The messages of all lines that the service has logged so far; undefined for lines without a message. */
const messages = (service: SpawnedService): readonly string[] =>
  service
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line).msg);

/** Starts a server that answers every request with 50,000 bytes and never ends the response. */
async function endless() {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    response.write('x'.repeat(50_000));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function importFrom({ url, admin }: SpawnedService, from: string, signal?: AbortSignal): Promise<number> {
  return fetch(`${url}/files/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${admin.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: from }),
    ...(signal ? { signal } : {}),
  }).then(
    async (response) => {
      await response.text();
      return response.status;
    },
    () => 0,
  );
}

const TUS = { 'tus-resumable': '1.0.0' };
const tus = ({ url, admin }: SpawnedService, method: string, path: string, init: RequestInit = {}) =>
  fetch(url + path, { method, ...init, headers: { authorization: `Bearer ${admin.token}`, ...TUS, ...init.headers } });

async function beginResumable(service: SpawnedService, size: number, metadata = ''): Promise<string> {
  const begun = await tus(service, 'POST', '/files/tus', {
    headers: { 'upload-length': String(size), 'upload-metadata': `filename ${btoa('a.txt')}${metadata}` },
  });
  expect(begun.status).to.equal(201);
  return begun.headers.get('location') as string;
}

/** Sends PATCH with some bytes to a resumable upload, and never ends the request. */
function stalling(service: SpawnedService, path: string, bytes: number, signal?: AbortSignal): Promise<number> {
  const body = new ReadableStream({ start: (stream) => stream.enqueue(new Uint8Array(bytes)) });
  const headers = { 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' };
  return tus(service, 'PATCH', path, {
    headers,
    body,
    duplex: 'half',
    ...(signal ? { signal } : {}),
  } as RequestInit).then(
    ({ status }) => status,
    () => 0,
  );
}

describe('files: stop of the service', function () {
  this.timeout(300_000);
  let ground: SharedFilesEnvironment;
  before(async () => {
    ground = await createSharedFilesEnvironment({
      SERVER_SHUTDOWN_TIMEOUT: '1s',
      TUS_ENABLED: 'true',
      IMPORT_IP_ALLOW_LIST: '127.0.0.1',
    });
  });
  after(() => ground?.remove());

  it('a stop waits for a running upload within SERVER_SHUTDOWN_TIMEOUT', async () => {
    const service = await ground.start({ SERVER_SHUTDOWN_TIMEOUT: '30s' });
    const slow = startSlowMultipartUpload(service);
    slow.write('the beginning, ');
    await until(async () => (await ground.state()).orphanEntries.length === 1);
    const ended = service.kill();
    await until(async () => !(await fetch(`${service.url}/server/ping`).catch(() => undefined)));
    slow.write('and the end');
    const { status, body } = await slow.end();
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(await ended).to.equal(0);
    expectConsistentFiles(await ground.state());
  });

  it('a stop leaves nothing of endless uploads, except resumable pieces', async () => {
    const service = await ground.start();
    const outside = await endless();
    try {
      const old = await uploadFileByForm(service, 'old');
      const [form, replacing] = [
        startSlowMultipartUpload(service),
        startSlowMultipartUpload(service, { method: 'PATCH', path: `/files/${old}` }),
      ];
      for (const slow of [form, replacing]) slow.write('x'.repeat(50_000));
      const imported = importFrom(service, outside.url);
      const resumable = await beginResumable(service, 100_000);
      const resumed = stalling(service, resumable, 30_000);
      const partials = async () => (await ground.state()).objects.filter((name) => name.startsWith('.partial/'));
      await until(async () => (await partials()).length === 4);
      expect(await service.kill()).to.equal(0);
      expect(await Promise.all([form.answer, replacing.answer].map(async (answer) => (await answer).status))).to.eql([
        0, 0,
      ]);
      expect([await imported, await resumed]).to.deep.equal([0, 0]);

      const { named, objects, orphanEntries } = await ground.state();
      const [piece, ...others] = objects.filter((name) => !named.includes(name));
      expect([orphanEntries, others]).to.deep.equal([[], []]);
      expect(piece, 'the client of a resumable upload goes on from here').to.match(/\.part-[0-9a-f]+$/);
      const next = await ground.start();
      const head = await tus(next, 'HEAD', resumable);
      expect(head.headers.get('upload-offset')).to.equal('30000');
      expect((await tus(next, 'DELETE', resumable)).status).to.equal(204);
      expectConsistentFiles(await ground.state());
    } finally {
      outside.close();
    }
  });

  it('objects left by killed starts are removed by the first start that lasts', async () => {
    const service = await ground.start();
    const slow = startSlowMultipartUpload(service);
    slow.write('x'.repeat(50_000));
    await until(async () => (await ground.state()).orphanEntries.length === 1);
    await service.kill('SIGKILL');
    const { database } = ground;
    for (const after of [0, 150]) {
      const starting = ground.start();
      const failed = starting.then(
        () => false,
        () => true,
      );
      const connected = `select from pg_stat_activity where datname = current_database() and application_name = 'tenon'`;
      await Promise.race([failed, until(async () => (await database.query(connected)).length > 0, 60_000)]);
      await pause(after);
      await database.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`,
      );
      // A start without its database connections may fail or succeed; a process that has started is killed.
      await starting.then(
        (running) => running.kill('SIGKILL'),
        () => {},
      );
    }
    await ground.start();
    await until(async () => (await ground.state()).orphanEntries.length === 0);
    expectConsistentFiles(await ground.state());
  });
});

describe('files: failures of the database', function () {
  this.timeout(300_000);
  let ground: SharedFilesEnvironment;
  let service: SpawnedService;
  before(async () => {
    ground = await createSharedFilesEnvironment();
    service = await ground.start();
  });
  after(() => ground?.remove());

  const cut = () =>
    ground.database.query<{ pid: number }>(
      `select pid, pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`,
    );

  it('an upload survives lost connections if the database is back in time', async () => {
    const slow = startSlowMultipartUpload(service);
    slow.write('the beginning, ');
    await until(async () => (await ground.state()).orphanEntries.length === 1);
    const pids = (await cut()).map(({ pid }) => pid);
    // PostgreSQL backends end a moment after the signal: until then a statement may still reach one of them.
    await until(async () => {
      const left = await ground.database.query('select from pg_stat_activity where pid = any($1)', [pids]);
      const { status } = await service.request('GET', '/files?limit=1', { token: service.admin.token });
      return left.length === 0 && status === 200;
    });
    slow.write('and the end');
    const { status, body } = await slow.end();
    expect(status, JSON.stringify(body)).to.equal(200);
    expectConsistentFiles(await ground.state());
  });

  it('repeated loss of connections keeps every acknowledged change, and rows and objects match', async () => {
    const seen = new Set<string>();
    const files = new Map<string, string>();
    const isRefused = (status: number) => {
      seen.add(String(status));
      expect(status, 'an answer').to.be.oneOf([200, 204, 403, 503]);
      return status === 503;
    };
    let ended = false;
    const workers = Array.from({ length: 6 }, async (_, worker) => {
      let mine: string | undefined;
      for (let turn = 0; !ended; turn++) {
        const text = `${worker} ${turn} `.repeat(1 + ((turn * 131) % 2000));
        if (mine === undefined) {
          const { status, body } = await sendUploadForm(service, text);
          if (isRefused(status)) continue;
          mine = body.data.id as string;
          files.set(mine, text);
        } else if (turn % 3 < 2) {
          const { status } = await replace(service, mine, text);
          // After a refused replacement the old or the new bytes may be stored, so the file is not checked.
          if (isRefused(status)) files.delete(mine);
          else files.set(mine, text);
        } else {
          files.delete(mine);
          if (!isRefused((await remove(service, mine)).status)) {
            const { status } = await fetchAssetAsAdmin(service, mine);
            expect(status, 'what is deleted is not served').to.be.oneOf([403, 503]);
          }
          mine = undefined;
        }
      }
    });
    const working = Promise.all(workers);
    const wrong = working.then(() => new Promise<never>(() => {}));
    for (let round = 0; round < 10; round++) {
      await Promise.race([pause(50 + ((round * 97) % 300)), wrong]);
      await cut();
    }
    ended = true;
    await working;
    expect([...seen], 'some work was hit, and some was done').to.include.members(['200', '503']);
    await until(async () => (await ground.state()).orphanEntries.length === 0);
    expectConsistentFiles(await ground.state());
    for (const [id, text] of files) {
      const { status, bytes } = await fetchAssetAsAdmin(service, id);
      expect([status, bytes.toString() === text], id).to.deep.equal([200, true]);
    }
    expect(messages(service)).not.to.include('unhandled rejection');
  });

  it('a statement timeout answers 503 and leaves nothing', async () => {
    const service = await ground.start({ DB_STATEMENT_TIMEOUT: '500ms' });
    const id = await uploadFileByForm(service, 'x');
    for (const table of ['platform_files', 'platform_orphaned_objects']) {
      const locked = ground.database.query(
        `do $$ begin lock table ${table} in access exclusive mode; perform pg_sleep(4); end $$`,
      );
      await until(async () => {
        const locks = `select from pg_locks where mode = 'AccessExclusiveLock' and granted and relation = '${table}'::regclass`;
        return (await ground.database.query(locks)).length > 0;
      });
      expect(refusal(await sendUploadForm(service, 'new')), table).to.deep.equal(UNAVAILABLE);
      expect(refusal(await replace(service, id, 'new')), table).to.deep.equal(UNAVAILABLE);
      expect(statusAndCodeOf(await remove(service, id)), table).to.deep.equal(UNAVAILABLE);
      await locked;
    }
    expect((await remove(service, id)).status).to.equal(204);
    await until(async () => (await ground.state()).orphanEntries.length === 0);
    expectConsistentFiles(await ground.state());
    await service.stop();
  });

  for (const connections of ['1', '2'])
    it(`uploads and reads do not deadlock with ${connections} connection(s)`, async () => {
      const service = await ground.start({ DB_POOL_MAX: connections, DB_POOL_MIN: '0' });
      const bytes = await createTestPicture();
      const shown = await uploadFileByForm(service, bytes, PICTURE_FORM_OPTIONS);
      const uploads = Array.from({ length: 12 }, async (_, at) => {
        const form = startSlowMultipartUpload(service, PICTURE_FORM_OPTIONS);
        form.write(bytes.subarray(0, 100));
        await pause(at * 5);
        form.write(bytes.subarray(100));
        const { status, body } = await form.end();
        expect(status, JSON.stringify(body)).to.equal(200);
        expect((await replace(service, body.data.id, 'other')).status).to.equal(200);
        expect((await remove(service, body.data.id)).status).to.equal(204);
      });
      const reads = Array.from({ length: 30 }, async (_, at) => {
        const query = at % 2 ? `?width=${20 + at}` : '';
        expect((await fetchAssetAsAdmin(service, shown, query)).status, query).to.equal(200);
      });
      await Promise.all([...uploads, ...reads]);
      expect((await remove(service, shown)).status).to.equal(204);
      expectConsistentFiles(await ground.state());
      await service.stop();
    });
});

describe('files: failures of the storage', function () {
  this.timeout(300_000);
  let ground: SharedFilesEnvironment;
  let service: SpawnedService;
  before(async () => {
    ground = await createSharedFilesEnvironment();
    service = await ground.start();
  });
  after(() => ground?.remove());

  const disk = async (id: string) => {
    const [row] = await ground.database.query<{ name: string }>(
      'select filename_disk as name from platform_files where id = $1',
      [id],
    );
    return join(ground.folder, row?.name ?? 'no row');
  };
  const health = async () => (await service.request('GET', '/server/health', { token: service.admin.token })).status;

  it('a storage that cannot be written fails uploads only, and recovers', async () => {
    const [kept, gone] = [
      await uploadFileByForm(service, await createTestPicture(), PICTURE_FORM_OPTIONS),
      await uploadFileByForm(service, 'gone'),
    ];
    const partial = join(ground.folder, '.partial');
    await rm(partial, { recursive: true });
    await writeFile(partial, 'no folder');
    const state = await ground.state();
    expect(refusal(await sendUploadForm(service, 'new'))).to.deep.equal(UNAVAILABLE);
    expect(refusal(await replace(service, kept, 'new'))).to.deep.equal(UNAVAILABLE);
    const { status, bytes } = await fetchAssetAsAdmin(service, kept, '?width=17');
    expect([status, JSON.parse(bytes.toString()).errors[0].extensions.code]).to.deep.equal(UNAVAILABLE);
    expect((await fetchAssetAsAdmin(service, kept)).status).to.equal(200);
    const open = () => (process.platform === 'linux' ? readdirSync(`/proc/${service.pid}/fd`).length : 0);
    const before = open();
    // Uncompressed TIFF: a variant too large to be read at once.
    const raw = encodeURIComponent('[["toFormat","tiff",{"compression":"none"}]]');
    for (let width = 900; width < 930; width++)
      expect((await fetchAssetAsAdmin(service, kept, `?width=${width}&transforms=${raw}`)).status).to.equal(503);
    await until(() => open() < before + 20);
    expect((await remove(service, gone)).status, 'the row can go').to.equal(204);
    expect((await fetchAssetAsAdmin(service, gone)).status).to.equal(403);
    await until(async () => (await health()) === 503);
    expect((await ground.state()).named).to.have.length(state.named.length - 1);

    await rm(partial);
    await mkdir(partial);
    await uploadFileByForm(service, 'new');
    expect((await fetchAssetAsAdmin(service, kept, '?width=17')).status).to.equal(200);
    expect((await remove(service, kept)).status).to.equal(204);
    await until(async () => (await ground.state()).orphanEntries.length === 0);
    expectConsistentFiles(await ground.state());
    const warnings = messages(service).filter((text) => text.startsWith('objects cannot be removed'));
    expect(warnings.length, 'said once, however often it is tried').to.be.at.most(1);
  });

  it('an unreadable object answers 503, and its file can be replaced and deleted', async () => {
    const [one, other] = [await uploadFileByForm(service, 'x'), await uploadFileByForm(service, 'y')];
    for (const id of [one, other]) {
      const path = await disk(id);
      await unlink(path);
      // A symbolic link to itself cannot be opened, not even by root.
      await symlink(path, path);
      for (const headers of [{}, { range: 'bytes=0-0' }] as Record<string, string>[]) {
        const { status, bytes } = await fetchAssetAsAdmin(service, id, '', headers);
        expect([status, JSON.parse(bytes.toString()).errors[0].extensions.code]).to.deep.equal(UNAVAILABLE);
        expect(bytes.toString(), 'nothing of where files lie').not.to.contain(ground.folder);
      }
    }
    expect((await replace(service, one, 'new')).status).to.equal(200);
    expect((await fetchAssetAsAdmin(service, one)).bytes.toString()).to.equal('new');
    for (const id of [one, other]) expect((await remove(service, id)).status).to.equal(204);
    expectConsistentFiles(await ground.state());
  });

  it('an object removed by hand answers 403, and its file can be replaced and deleted', async () => {
    const [one, other] = [
      await uploadFileByForm(service, 'x'),
      await uploadFileByForm(service, await createTestPicture(), PICTURE_FORM_OPTIONS),
    ];
    for (const id of [one, other]) {
      await unlink(await disk(id));
      for (const query of ['', '?width=10'])
        expect((await fetchAssetAsAdmin(service, id, query)).status, query).to.equal(403);
      expect((await fetchAssetAsAdmin(service, id, '', { range: 'bytes=0-0' })).status).to.equal(403);
    }
    expect((await replace(service, one, 'new')).status).to.equal(200);
    expect((await fetchAssetAsAdmin(service, one)).bytes.toString()).to.equal('new');
    for (const id of [one, other]) expect((await remove(service, id)).status).to.equal(204);
    expectConsistentFiles(await ground.state());
  });

  it('a missing root folder is not created again, and deleted objects are removed when it is back', async () => {
    const [kept, gone] = [await uploadFileByForm(service, 'kept'), await uploadFileByForm(service, 'gone')];
    const away = `${ground.folder}-away`;
    await rename(ground.folder, away);
    try {
      for (const make of [async () => {}, () => mkdir(ground.folder)]) {
        await make();
        expect(refusal(await sendUploadForm(service, 'new'))).to.deep.equal(UNAVAILABLE);
        expect((await remove(service, gone)).status).to.equal(204);
      }
      expect(readdirSync(ground.folder)).to.deep.equal([]);
      const still = await listLocalObjectPaths(away);
      expect(
        still.some((name) => name.includes(gone)),
        'on the disk',
      ).to.equal(true);
      await rm(ground.folder, { recursive: true });
    } finally {
      await rename(away, ground.folder);
    }
    expect((await fetchAssetAsAdmin(service, kept)).bytes.toString()).to.equal('kept');
    expect((await remove(service, kept)).status).to.equal(204);
    await until(async () => (await ground.state()).orphanEntries.length === 0);
    expectConsistentFiles(await ground.state());
  });
});

describe('files: a location removed from STORAGE_LOCATIONS', function () {
  this.timeout(300_000);
  let ground: SharedFilesEnvironment;
  let place: string;
  before(async () => {
    ground = await createSharedFilesEnvironment({ TUS_ENABLED: 'true' });
    place = await mkdtemp(join(tmpdir(), 'tenon-second-'));
  });
  after(async () => {
    await ground?.remove();
    await rm(place, { recursive: true, force: true });
  });

  it('files of a removed location keep their rows, answer 503, and are cleaned up when it is back', async () => {
    const second = { STORAGE_LOCATIONS: 'local,second', STORAGE_SECOND_DRIVER: 'local', STORAGE_SECOND_ROOT: place };
    const before = await ground.start(second);
    const options = { ...PICTURE_FORM_OPTIONS, fields: { storage: 'second' } };
    const bytes = await createTestPicture();
    const [kept, ...gone] = await Promise.all(
      Array.from({ length: 6 }, () => uploadFileByForm(before, bytes, options)),
    );
    const resumable = await beginResumable(before, 10, `,storage ${btoa('second')}`);
    await before.stop();

    const service = await ground.start();
    const { token } = service.admin;
    const path = `/files/${kept}`;
    expect((await service.request('GET', path, { token })).body.data.storage).to.equal('second');
    expect((await service.request('PATCH', path, { token, body: { title: 'new' } })).status).to.equal(200);
    for (const [query, headers] of [
      ['', {}],
      ['', { range: 'bytes=0-3' }],
      ['?width=10', {}],
    ] as [string, Record<string, string>][])
      expect((await fetchAssetAsAdmin(service, kept as string, query, headers)).status, query).to.equal(503);
    expect(refusal(await replace(service, kept as string, 'new'))).to.deep.equal(UNAVAILABLE);
    expect(await stalling(service, resumable, 5)).to.equal(503);
    for (const id of gone) expect((await remove(service, id)).status).to.equal(204);
    // Each delete of a file also retries the removal of all orphaned objects.
    for (let round = 0; round < 5; round++) await remove(service, await uploadFileByForm(service, 'x'));
    const state = await ground.state();
    expect(state.orphanEntries).to.deep.equal(gone.map((id) => `${id}.png`).sort());
    expect(state.objects).to.deep.equal([]);
    const warnings = messages(service).filter((text) => text.startsWith('objects cannot be removed'));
    expect(warnings, 'said once, however often it is tried').to.have.length(1);
    await service.stop();

    const after = await ground.start(second);
    await until(async () => (await ground.state()).orphanEntries.length === 0);
    expect((await fetchAssetAsAdmin(after, kept as string)).bytes.equals(bytes)).to.equal(true);
    expect((await tus(after, 'DELETE', resumable)).status).to.equal(204);
    expect(await listLocalObjectPaths(place)).to.deep.equal([`${kept}.png`]);
  });
});

describe('files: resources after hundreds of aborted and completed requests', function () {
  this.timeout(300_000);
  let ground: SharedFilesEnvironment;
  let temporary: string;
  before(async () => {
    temporary = await mkdtemp(join(tmpdir(), 'tenon-handles-'));
    ground = await createSharedFilesEnvironment({
      ASSETS_TRANSFORM_MAX_CONCURRENT: '1000',
      IMPORT_IP_ALLOW_LIST: '127.0.0.1',
      TMPDIR: temporary,
      TUS_ENABLED: 'true',
    });
  });
  after(async () => {
    await ground?.remove();
    await rm(temporary, { recursive: true, force: true });
  });

  it('no file descriptor, process, temporary folder, listener or rejected promise is left', async function () {
    if (process.platform !== 'linux') this.skip();
    const service = await ground.start();
    const outside = await endless();
    const agent = new Agent({ keepAlive: true, maxSockets: 4 });
    const bytes = await createTestPicture();

    const kinds: readonly ((at: number) => Promise<unknown>)[] = [
      async (at) => {
        const form = startSlowMultipartUpload(service, PICTURE_FORM_OPTIONS);
        form.write(bytes.subarray(0, 200));
        await pause(at % 15);
        form.abort();
        return form.answer;
      },
      async (at) => {
        const form = startSlowMultipartUpload(service, PICTURE_FORM_OPTIONS);
        form.write(bytes);
        form.end();
        await pause(at % 40);
        form.abort();
        return form.answer;
      },
      async (at) => {
        const leaving = new AbortController();
        const imported = importFrom(service, outside.url, leaving.signal);
        await pause(at % 30);
        leaving.abort();
        return imported;
      },
      async (at) => {
        const leaving = new AbortController();
        const path = await beginResumable(service, 10_000);
        const patched = stalling(service, path, 1000, leaving.signal);
        await pause(at % 40);
        leaving.abort();
        await patched;
        expect((await tus(service, 'DELETE', path)).status).to.equal(204);
      },
      async (at) => {
        const id = await uploadFileByForm(service, bytes, { ...PICTURE_FORM_OPTIONS, agent });
        const leaving = new AbortController();
        const headers = { authorization: `Bearer ${service.admin.token}` };
        const left = fetch(`${service.url}/assets/${id}?width=${20 + (at % 100)}`, { headers, signal: leaving.signal })
          .then((answer) => answer.arrayBuffer())
          .catch(() => {});
        await pause(at % 30);
        leaving.abort();
        await left;
        expect(
          (await sendUploadForm(service, 'new', { method: 'PATCH', path: `/files/${id}`, agent })).status,
        ).to.equal(200);
        expect((await fetchAssetAsAdmin(service, id)).bytes.toString()).to.equal('new');
        expect((await remove(service, id)).status).to.equal(204);
      },
    ];
    const work = async (count: number) => {
      let at = 0;
      const worker = async () => {
        for (let turn = at++; turn < count; turn = at++) await kinds[turn % kinds.length]?.(turn);
      };
      await Promise.all(Array.from({ length: 8 }, worker));
    };
    const files = () => readdirSync(`/proc/${service.pid}/fd`).length;
    const children = () =>
      readFileSync(`/proc/${service.pid}/task/${service.pid}/children`, 'utf8').split(' ').filter(Boolean).length;

    try {
      await work(50);
      const before = { files: files(), children: children() };
      await work(150);
      // Up to 15 more descriptors: HTTP clients and the database pool keep connections open for a while.
      await until(() => files() <= before.files + 15, 20_000);
      expect(children()).to.be.at.most(before.children);
      await until(() => readdirSync(temporary).length === 0);
      await until(async () => (await ground.state()).orphanEntries.length === 0);
      expectConsistentFiles(await ground.state());
      const lines = service.output().split('\n');
      expect(lines.filter((line) => /MaxListenersExceeded|unhandled rejection|Warning:/.test(line))).to.deep.equal([]);
      const wrong = messages(service).filter((text) => text !== undefined);
      expect(wrong, 'a client that leaves is no error').to.deep.equal([]);
    } finally {
      agent.destroy();
      outside.close();
    }
  });
});
