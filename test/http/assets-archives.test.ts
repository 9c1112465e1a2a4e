import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readlinkSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { createTestUserAccount, makeRole, statusAndCodeOf } from '../plugins/users/test-users.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const run = promisify(execFile);

/** Reads an archive with another implementation, that of Python. */
const UNPACK = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as z:
    assert z.testzip() is None
    z.extractall(sys.argv[2])
    print("\\n".join(z.namelist()))
`;

describe('archives of files', function () {
  this.timeout(120_000);
  let service: InProcessService;
  let place: string;
  const contents = new Map<string, Buffer>();

  before(async () => {
    service = await startService({ env: { ASSETS_ZIP_MAX_FILES: '6' } });
    place = await mkdtemp(join(tmpdir(), 'tenon-archives-'));
  });
  after(async () => {
    await service?.stop();
    await rm(place, { recursive: true, force: true });
  });

  async function upload(
    name: string,
    { folder, size = 100 }: { folder?: string; size?: number } = {},
  ): Promise<string> {
    const bytes = randomBytes(size);
    const form = new FormData();
    if (folder !== undefined) form.set('folder', folder);
    form.set('file', new Blob([bytes], { type: 'application/octet-stream' }), name);
    const { body } = await service.request('POST', '/files', { token: service.admin.token, body: form });
    contents.set(body.data.id, bytes);
    return body.data.id;
  }

  const makeFolder = async (name: string, parent: string | null = null): Promise<string> =>
    (await service.request('POST', '/folders', { token: service.admin.token, body: { name, parent } })).body.data.id;

  const download = (path: string, options: { token?: string | null; body?: unknown } = {}) =>
    fetch(`${service.url}${path}`, {
      method: 'POST',
      headers: {
        ...(options.token === null ? {} : { authorization: `Bearer ${options.token ?? service.admin.token}` }),
        ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: options.body === undefined ? null : JSON.stringify(options.body),
    });

  async function unpack(response: Response): Promise<{ names: string[]; folder: string }> {
    expect([response.status, response.headers.get('content-type')]).to.deep.equal([200, 'application/zip']);
    const folder = await mkdtemp(join(place, 'unpacked-'));
    await writeFile(`${folder}.zip`, Buffer.from(await response.arrayBuffer()));
    const { stdout } = await run('python3', ['-c', UNPACK, `${folder}.zip`, folder]);
    return { names: stdout.trim().split('\n'), folder };
  }

  const request = (path: string, options: { token?: string | null; body?: unknown } = {}) =>
    service.request('POST', path, { token: service.admin.token, ...options });

  it('have the bytes of the chosen files, under names that are different', async () => {
    const ids = [await upload('a.bin'), await upload('A.bin', { size: 3_000_000 }), await upload('empty', { size: 0 })];
    const response = await download('/assets/files', { body: { ids } });
    expect(response.headers.get('content-disposition')).to.equal('attachment; filename="files.zip"');
    expect(response.headers.get('cache-control')).to.equal('no-store');
    const { names, folder } = await unpack(response);
    expect(names).to.deep.equal(['a.bin', 'A (2).bin', 'empty']);
    for (const [at, name] of names.entries())
      expect(await readFile(join(folder, name))).to.deep.equal(contents.get(ids[at] as string));
  });

  it('have a folder with the folders in it, and nothing of others', async () => {
    const top = await makeFolder('Letters/2026');
    const inner = await makeFolder('..', top);
    const deep = await makeFolder('deep', inner);
    await upload('one.txt', { folder: top });
    await upload('two.txt', { folder: deep });
    await upload('other.txt', { folder: await makeFolder('other') });
    const response = await download(`/assets/folder/${top}`);
    expect(response.headers.get('content-disposition')).to.include('Letters_2026.zip');
    const { names, folder } = await unpack(response);
    expect(names.toSorted()).to.deep.equal(['folder/deep/two.txt', 'one.txt']);
    expect((await readdir(folder, { recursive: true })).toSorted()).to.deep.equal([
      'folder',
      'folder/deep',
      'folder/deep/two.txt',
      'one.txt',
    ]);
  });

  it('of an empty folder are empty', async () => {
    const response = await download(`/assets/folder/${await makeFolder('empty')}`);
    expect(response.status).to.equal(200);
    // The end of the central directory, which is all that an empty archive has.
    expect(Buffer.from(await response.arrayBuffer()).subarray(0, 4)).to.deep.equal(Buffer.from('PK\x05\x06'));
  });

  it('have only what the caller may read', async () => {
    const top = await makeFolder('shared');
    const hidden = await makeFolder('hidden', top);
    const open = await upload('open.txt', { folder: top });
    const secret = await upload('secret.txt', { folder: top });
    await upload('below.txt', { folder: hidden });
    const role = await makeRole(service);
    const { token } = await createTestUserAccount(service, role);
    const allow = (collection: string, permissions: unknown) =>
      service.request('POST', '/permissions', {
        token: service.admin.token,
        body: { role, collection, action: 'read', fields: ['*'], permissions },
      });
    expect(statusAndCodeOf(await request(`/assets/folder/${top}`, { token }))).to.deep.equal([403, 'FORBIDDEN']);
    await allow('platform_folders', { name: { _neq: 'hidden' } });
    expect(statusAndCodeOf(await request(`/assets/folder/${top}`, { token }))).to.deep.equal([403, 'FORBIDDEN']);
    await allow('platform_files', { filename_download: { _neq: 'secret.txt' } });
    const { names } = await unpack(await download(`/assets/folder/${top}`, { token }));
    expect(names).to.deep.equal(['open.txt']);
    expect((await unpack(await download('/assets/files', { token, body: { ids: [open] } }))).names).to.deep.equal([
      'open.txt',
    ]);
    for (const body of [{ ids: [open, secret] }, { ids: [secret] }])
      expect(statusAndCodeOf(await request('/assets/files', { token, body }))).to.deep.equal([403, 'FORBIDDEN']);
    expect(statusAndCodeOf(await request('/assets/files', { token: null, body: { ids: [open] } }))).to.deep.equal([
      403,
      'FORBIDDEN',
    ]);
  });

  it('have at most ASSETS_ZIP_MAX_FILES files', async () => {
    const folder = await makeFolder('many');
    const ids = [];
    for (let at = 0; at < 7; at++) ids.push(await upload(`${at}.txt`, { folder }));
    for (const answer of [await request('/assets/files', { body: { ids } }), await request(`/assets/folder/${folder}`)])
      expect(statusAndCodeOf(answer)).to.deep.equal([400, 'INVALID_PAYLOAD']);
    expect((await download('/assets/files', { body: { ids: ids.slice(1) } })).status).to.equal(200);
  });

  for (const [what, body] of [
    ['no ids', {}],
    ['an empty list', { ids: [] }],
    ['a text', { ids: 'a' }],
    ['a number', { ids: [5] }],
    ['no uuid', { ids: ['../../etc/passwd'] }],
  ] as const)
    it(`are refused for ${what}`, async () => {
      expect(statusAndCodeOf(await request('/assets/files', { body }))).to.deep.equal([400, 'INVALID_PAYLOAD']);
    });

  it('are refused for files and folders that do not exist', async () => {
    const id = '3f0c1b52-8a5e-4b0c-9d57-0a5f6f1f2a01';
    for (const answer of [
      await request('/assets/files', { body: { ids: [id] } }),
      await request(`/assets/folder/${id}`),
      await request('/assets/folder/x'),
    ])
      expect(statusAndCodeOf(answer)).to.deep.equal([403, 'FORBIDDEN']);
  });

  it('break off where the bytes of a file are gone, so that no client takes half of one for a whole one', async () => {
    const ids = [await upload('there', { size: 500_000 }), await upload('gone')];
    const [row] = await service.database.query<{ name: string }>(
      `select filename_disk as name from platform_files where id = '${ids[1]}'`,
    );
    await service.database.query(`update platform_files set filename_disk = '${row?.name}x' where id = '${ids[1]}'`);
    const response = await download('/assets/files', { body: { ids } });
    const outcome = await response.arrayBuffer().then(
      () => 'whole',
      () => 'broken',
    );
    expect(outcome).to.equal('broken');
  });

  it('break off where an object cannot be read to its end, and other requests go on', async () => {
    const ids = [await upload('shortened', { size: 40_000_000 }), await upload('after it')];
    const response = await download('/assets/files', { body: { ids } });
    const reader = response.body?.getReader();
    await reader?.read();
    await truncate((await until(() => openObjectPaths()[0])) as string, 1000);
    const readAll = async () => {
      while (!(await reader?.read())?.done);
    };
    const outcome = await readAll().then(
      () => 'whole',
      () => 'broken',
    );
    expect(outcome).to.equal('broken');
    expect((await service.request('GET', '/server/ping')).status).to.equal(200);
  });

  it('end with their client, which leaves no reader of the storage behind', async () => {
    const ids = [await upload('large', { size: 40_000_000 })];
    const leave = new AbortController();
    const response = await fetch(`${service.url}/assets/files`, {
      method: 'POST',
      signal: leave.signal,
      headers: { authorization: `Bearer ${service.admin.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ids }),
    });
    await response.body?.getReader().read();
    await until(() => openObjectPaths().length === 1);
    leave.abort();
    await until(() => openObjectPaths().length === 0);
  });
});

/** Objects of a local storage that this process holds open. */
const openObjectPaths = (): readonly string[] =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`);
      return path.includes('/uploads/') ? [path] : [];
    } catch {
      return [];
    }
  });
