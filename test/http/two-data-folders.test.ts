import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { FreshDatabase } from '../support/database.ts';
import {
  createMigratedDatabase,
  type InProcessService,
  type SpawnedService,
  spawnService,
  startService,
} from '../support/service.ts';

/** No SECRET in the environment, so that the service uses the stored one, and a log of JSON lines at level "info". */
const ENV = { SECRET: '', LOG_LEVEL: 'info', LOG_STYLE: 'raw' };

const warnings = (text: string): readonly string[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
    .filter(({ level }) => level === 40)
    .map(({ msg }) => msg);

describe('two processes with data folders of their own', () => {
  let database: FreshDatabase;
  let one: SpawnedService;
  let two: SpawnedService;
  before(async function () {
    this.timeout(120_000);
    database = await createMigratedDatabase('folders');
    [one, two] = await Promise.all([spawnService({ database, env: ENV }), spawnService({ database, env: ENV })]);
  });
  after(async () => {
    await Promise.all([one?.stop(), two?.stop()]);
    await database?.drop();
  });

  it('accept each other’s access tokens', async () => {
    for (const [from, to] of [
      [one, two],
      [two, one],
    ] as const) {
      const { status, body } = await to.request('GET', '/users/me', { token: from.admin.token });
      expect([status, body.data?.email]).to.deep.equal([200, from.admin.email]);
    }
  });

  it('hide the stored secret from routes, GraphQL schemas and the list of collections', async () => {
    const [{ value }] = (await database.query<{ value: string }>('select value from platform_secrets')) as [
      { value: string },
    ];
    expect(value).to.match(/^[\w-]{64}$/);
    const { token } = one.admin;
    for (const path of ['/items/platform_secrets', '/platform_secrets', '/collections/platform_secrets', '/secrets'])
      expect((await one.request('GET', path, { token })).status, path).to.be.within(403, 404);
    const text = [
      ...(await Promise.all(
        ['/collections', '/fields', '/relations', '/explain', '/server/specs/graphql/system', '/settings'].map((path) =>
          one.request('GET', path, { token }),
        ),
      )),
    ].map(({ body }) => JSON.stringify(body));
    expect(text.join('\n')).not.to.include('platform_secrets').and.not.to.include(value);
    expect(one.output() + two.output()).not.to.include(value);
  });

  it('write lines of JSON and nothing else with LOG_STYLE=raw, with user and address of each request', async () => {
    const before = one.output().length;
    await one.request('GET', '/users/me', { token: one.admin.token });
    await one.request('GET', '/server/ping');
    const [admin] = await database.query<{ id: string }>('select id from platform_users where email = $1', [
      one.admin.email,
    ]);
    const parsed = (text: string) =>
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    expect(parsed(one.output()).some(({ msg, address }) => /listens on/.test(msg) && address)).to.equal(true);
    const requests = parsed(one.output().slice(before)).map(({ path, ip, user }) => ({ path, ip, user }));
    expect(requests).to.deep.equal([
      { path: '/users/me', ip: '127.0.0.1', user: admin?.id },
      { path: '/server/ping', ip: '127.0.0.1', user: null },
    ]);
  });

  it('log that their storage location is not shared, with a remedy', () => {
    const storageWarnings = [one, two]
      .flatMap((each) => warnings(each.output()))
      .filter((text) => /storage location/.test(text));
    expect(storageWarnings).to.have.length.at.least(1);
    for (const text of storageWarnings)
      expect(text).to.match(/location local .*STORAGE_LOCAL_ROOT.*DATA_PATH.*STORAGE_LOCAL_DRIVER/);
  });
});

describe('a process on a database that has a secret', () => {
  let database: FreshDatabase;
  let folder: string;
  let first: InProcessService;
  before(async () => {
    database = await createMigratedDatabase('secret');
    folder = await mkdtemp(join(tmpdir(), 'tenon-folder-'));
    await writeFile(join(folder, 'secret'), 'kept in a file by a version before\n');
    first = await startService({ database, env: { ...ENV, DATA_PATH: folder } });
  });
  after(async () => {
    await first?.stop();
    await database?.drop();
    await rm(folder, { recursive: true, force: true });
  });

  const started = async (env: Record<string, string>, work: (service: InProcessService) => Promise<void>) => {
    const service = await startService({ database, env: { ...ENV, ...env } });
    try {
      await work(service);
    } finally {
      await service.stop();
    }
  };
  const warned = ({ log }: InProcessService, what: RegExp) =>
    log.filter(({ level, msg }) => level === 40 && what.test(String(msg))).map(({ msg }) => String(msg));
  const statusWith = async (service: InProcessService, token: string) =>
    (await service.request('GET', '/users/me', { token })).status;

  it('stores the secret of its data folder in the database', async () => {
    const rows = await database.query('select value from platform_secrets');
    expect(rows).to.deep.equal([{ value: 'kept in a file by a version before' }]);
    expect(warned(first, /secret/)).to.deep.equal([]);
  });

  it('uses the secret of the database when its data folder has another, and logs it', async () => {
    const other = await mkdtemp(join(tmpdir(), 'tenon-other-'));
    try {
      await writeFile(join(other, 'secret'), 'another one of a folder, also long enough');
      await started({ DATA_PATH: other }, async (service) => {
        expect(await statusWith(service, first.admin.token)).to.equal(200);
        const [text] = warned(service, /secret/);
        expect(text).to.match(/is not that of the database.*Remove the file, or set SECRET/);
        expect(JSON.stringify(service.log)).not.to.include('another one of a folder');
      });
    } finally {
      await rm(other, { recursive: true, force: true });
    }
  });

  it('signs with SECRET of the environment, leaves the database unchanged, and logs it', async () => {
    await started({ SECRET: 'of the environment, long enough for everybody' }, async (service) => {
      expect(await statusWith(service, first.admin.token)).to.be.within(401, 403);
      expect(await statusWith(service, service.admin.token)).to.equal(200);
      expect(warned(service, /SECRET differs from the secret in the database/)).to.have.length(1);
    });
    const rows = await database.query('select value from platform_secrets');
    expect(rows).to.deep.equal([{ value: 'kept in a file by a version before' }]);
  });

  it('logs no storage warning when the folder is shared or the other process has ended', async () => {
    await started({ DATA_PATH: folder }, async (service) => {
      expect(warned(service, /storage location/)).to.deep.equal([]);
    });
    await started({}, async (service) => {
      expect(warned(service, /storage location/)).to.have.length(1);
    });
    await first.stop();
    await database.query(`insert into platform_storage_locations (id, process, location, place, name)
      values (gen_random_uuid(), gen_random_uuid(), 'local', 'of a process that was killed', 'x')`);
    await started({}, async (service) => {
      expect(warned(service, /storage location/)).to.deep.equal([]);
    });
    expect(await database.query('select from platform_storage_locations')).to.deep.equal([]);
  });
});
