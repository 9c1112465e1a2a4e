import { execFileSync } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { createPackageFolder, createPackageJson, type PackageFolder } from '../plugins/extensions/package-folder.ts';
import type { FreshDatabase } from '../support/database.ts';
import { runCommand } from '../support/run-command.ts';
import { createMigratedDatabase, type SpawnedService, spawnService } from '../support/service.ts';
import { until } from '../support/until.ts';

const ENDPOINT = { type: 'endpoint', path: 'index.js' } as const;
const saying = (text: string) =>
  `export default (router) => router.get('/', (req, res) => res.send(${JSON.stringify(text)}));`;
/** A third-party plugin that adds the command-less route /noted through the kernel's own loader. */
const PLUGIN = {
  type: 'plugin',
  path: 'index.js',
  contributes: { 'http.routes': { prefixes: ['/noted'] } },
};
const noting = (text: string) => `import { definePlugin } from '@tenon/kernel';
export default definePlugin({ register: (host) => host.contribute('http.routes', {
  method: 'GET', path: '/noted',
  description: { summary: 'Answers a note.', access: 'public', answers: { 200: { 'text/plain': { type: 'string' } } } },
  handle: (ctx) => { ctx.type = 'text/plain'; ctx.body = ${JSON.stringify(text)}; },
}) });`;

describe('EXTENSIONS_LOCATION', function () {
  this.timeout(180_000);
  let place: PackageFolder;
  let database: FreshDatabase;
  const services: SpawnedService[] = [];
  const environment = (more: Record<string, string> = {}) => ({
    STORAGE_LOCATIONS: 'local,packages',
    STORAGE_PACKAGES_ROOT: join(place.path, 'bucket'),
    EXTENSIONS_LOCATION: 'packages',
    EXTENSIONS_CONSENT: 'off',
    ...more,
  });
  async function start(more: Record<string, string> = {}): Promise<SpawnedService> {
    const service = await spawnService({ database, env: environment(more) });
    services.push(service);
    return service;
  }
  async function run(args: readonly string[], more: Record<string, string> = {}) {
    const { code, output, standardOutput } = await runCommand(args, {
      DB_CONNECTION_STRING: database.url,
      CONFIG_PATH: '/dev/null',
      LOG_LEVEL: 'error',
      DATA_PATH: join(place.path, 'data-of-commands'),
      ...environment(more),
    });
    return { code, output: standardOutput, all: output };
  }
  async function publish(path: string): Promise<string> {
    const { code, output, all } = await run(['extensions', 'publish', join(place.path, path)]);
    expect(code, all).to.equal(0);
    return output;
  }
  const answer = async (service: SpawnedService, path: string) => (await service.request('GET', path)).body;
  const rowOf = async (service: SpawnedService, name: string) =>
    (await service.request('GET', '/extensions', { token: service.admin.token })).body.data.find(
      (one: { name: string }) => one.name === name,
    );
  /** Archives in the location, each with the path of its file. */
  const archives = async () =>
    (await readdir(join(place.path, 'bucket'), { recursive: true })).filter((name) => name.endsWith('.tgz'));

  before(async () => {
    place = await createPackageFolder({
      'shop/package.json': createPackageJson('service-extension-shop', ENDPOINT),
      'shop/index.js': saying('one'),
      'note/package.json': createPackageJson('note', PLUGIN, { type: 'module' }),
      'note/index.js': noting('one'),
      'other/package.json': createPackageJson('@acme/service-extension-other', ENDPOINT),
      'other/index.js': saying('other'),
      'broken/package.json': createPackageJson('service-extension-broken', ENDPOINT),
      'broken/index.js': 'throw new Error("cannot run")',
      'nothing/readme.txt': 'no package',
    });
    database = await createMigratedDatabase('location');
    await start();
    await start();
  });
  after(async () => {
    for (const one of services) await one.stop();
    await database?.drop();
    await place?.remove();
  });

  it('a published package answers in all processes without a restart', async () => {
    expect(await publish('shop')).to.match(/^service-extension-shop 1\.0\.0 sha256:[0-9a-f]{64}\n$/);
    await publish('note');
    for (const one of services) await until(async () => (await answer(one, '/shop')) === 'one');
    for (const one of services) await until(async () => (await answer(one, '/noted')) === 'one');
  });

  it('publishing the same files again changes nothing', async () => {
    const before = await archives();
    const [first, second] = [await publish('shop'), await publish('shop')];
    expect(first).to.equal(second);
    expect(await archives()).to.have.members(before);
  });

  it('a new version takes the place of the one before in all processes, third-party plugins included', async () => {
    await place.write({
      'shop/package.json': createPackageJson('service-extension-shop', ENDPOINT, { version: '1.1.0' }),
      'shop/index.js': saying('two'),
      'note/index.js': noting('two'),
    });
    await publish('shop');
    await publish('note');
    for (const one of services) await until(async () => (await answer(one, '/shop')) === 'two');
    for (const one of services) await until(async () => (await answer(one, '/noted')) === 'two');
    expect((await rowOf(services[0] as SpawnedService, 'service-extension-shop')).version).to.equal('1.1.0');
    expect(await archives()).to.have.length(2);
  });

  it('a version comes back in a process whose unpacked folder of it another process has removed', async () => {
    const data = join(place.path, 'shared-data');
    const process = await start({ DATA_PATH: data });
    const folders = async () => (await readdir(data, { recursive: true })).filter((name) => /[0-9a-f]{64}$/.test(name));
    const shop = async (version: string, text: string) => {
      await place.write({
        'shop/package.json': createPackageJson('service-extension-shop', ENDPOINT, { version }),
        'shop/index.js': saying(text),
      });
      await publish('shop');
      await until(async () => (await answer(process, '/shop')) === text);
    };
    const before = await folders();
    expect(before.length).to.be.above(0);
    await shop('1.2.0', 'three');
    for (const name of before) await rm(join(data, name), { recursive: true });
    await shop('1.1.0', 'two');
  });

  it('a package whose code fails keeps no other one from loading', async () => {
    await publish('broken');
    const [first] = services as [SpawnedService];
    await until(async () => (await rowOf(first, 'service-extension-broken'))?.status === 'failed');
    expect(await answer(first, '/shop')).to.equal('two');
    expect((await run(['extensions', 'unpublish', 'service-extension-broken'])).code).to.equal(0);
    await until(async () => (await rowOf(first, 'service-extension-broken')) === undefined);
  });

  it('a process refuses an archive with other bytes than those that were published, and loads the others', async () => {
    const before = await archives();
    const [, checksum] = /sha256:(\w+)/.exec(await publish('other')) as unknown as [string, string];
    const [object] = (await archives()).filter((one) => !before.includes(one)) as [string];
    expect(object).to.contain(checksum);
    const path = join(place.path, 'bucket', object);
    const bytes = await readFile(path);
    await writeFile(path, Buffer.concat([bytes.subarray(0, -1), Buffer.from([(bytes.at(-1) as number) ^ 1])]));
    const third = await start({ DATA_PATH: join(place.path, 'data-of-third') });
    const row = await rowOf(third, '@acme/service-extension-other');
    expect([row.status, row.reason.code]).to.deep.equal(['failed', 'SOURCE_UNAVAILABLE']);
    expect(row.reason.detail).to.match(/other bytes than those that were published/);
    expect(await answer(third, '/shop')).to.equal('two');
    await writeFile(path, bytes);
    // The process tries again by itself.
    await until(async () => (await answer(third, '/other')) === 'other');
  });

  it('a start unpacks anew what was changed on its disk, and needs no storage for the rest', async () => {
    const third = services.pop() as SpawnedService;
    expect(await third.kill()).to.equal(0);
    const data = join(place.path, 'data-of-third');
    const files = await readdir(join(data, 'cache/extensions'), { recursive: true });
    const [changed] = files.filter((one) => one.endsWith('service-extension-shop/index.js')) as [string];
    await writeFile(join(data, 'cache/extensions', changed), saying('changed on disk'));
    const again = await start({ DATA_PATH: data });
    expect(await answer(again, '/shop')).to.equal('two');
    await again.kill();
    await place.write({ 'empty/.keep': '' });
    const withoutStorage = await start({ DATA_PATH: data, STORAGE_PACKAGES_ROOT: join(place.path, 'empty') });
    expect(await answer(withoutStorage, '/shop')).to.equal('two');
    expect(await answer(withoutStorage, '/other')).to.equal('other');
  });

  it('an unpublished package leaves all processes and the location', async () => {
    expect((await run(['extensions', 'published'])).output.split('\n').map((line) => line.split(' ')[0])).to.deep.equal(
      ['@acme/service-extension-other', 'note', 'service-extension-shop', ''],
    );
    expect((await run(['extensions', 'unpublish', 'service-extension-shop'])).code).to.equal(0);
    const [first, second] = services as [SpawnedService, SpawnedService];
    for (const one of [first, second]) await until(async () => (await one.request('GET', '/shop')).status === 404);
    expect(await archives()).to.have.length(2);
  });

  it('processes that lost messages load what has changed once they are connected again', async () => {
    const [first, second] = services as [SpawnedService, SpawnedService];
    await database.query("delete from platform_published_extensions where name = 'note'");
    expect(await answer(first, '/noted')).to.equal('two');
    await database.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
    for (const one of [first, second]) await until(async () => (await one.request('GET', '/noted')).status === 404);
  });

  it('commands say what is wrong, and end with 1 or 2', async () => {
    // An archive with a path that leads out of its folder.
    const outside = join(place.path, 'outside.tgz');
    execFileSync('tar', ['-czPf', outside, '-C', place.path, 'shop/../shop/package.json']);
    const wrong = [
      [['extensions', 'publish', outside], 1, /path contains '\.\.'/],
      [['extensions', 'publish', join(place.path, 'nothing')], 1, /no package\.json/],
      [['extensions', 'publish', join(place.path, 'missing')], 1, /neither a folder nor an archive/],
      [['extensions', 'publish'], 2, /usage: extensions:publish/],
      [['extensions', 'unpublish', 'service-extension-none'], 1, /no package service-extension-none is published/],
    ] as const;
    for (const [args, code, text] of wrong) {
      const result = await run(args);
      expect([result.code, result.output], result.all).to.deep.equal([code, '']);
      expect(result.all).to.match(text);
    }
    const unset = await run(['extensions', 'published'], { EXTENSIONS_LOCATION: '' });
    expect([unset.code, /EXTENSIONS_LOCATION is not set/.test(unset.all)]).to.deep.equal([1, true]);
  });

  it('a name that is no storage location stops the start', async () => {
    const { code, all } = await run(['extensions', 'published'], { EXTENSIONS_LOCATION: 'nowhere' });
    expect(code).to.equal(1);
    expect(all).to.match(/reason:\s+EXTENSIONS_LOCATION is nowhere, which is no storage location/);
    expect(all).to.match(/remedy:\s+set it to one of STORAGE_LOCATIONS \(local, packages\)/);
  });
});
