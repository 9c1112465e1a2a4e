import { expect } from 'chai';
import type { SpawnedService } from '../support/service.ts';
import { until } from '../support/until.ts';
import {
  createSharedFilesEnvironment,
  expectConsistentFiles,
  fetchAssetAsAdmin,
  type SharedFilesEnvironment,
  sendUploadForm,
  startSlowMultipartUpload,
  uploadFileByForm,
} from './shared-files-environment.ts';

describe('files: two processes on one database and one folder', function () {
  this.timeout(120_000);
  let ground: SharedFilesEnvironment;
  let one: SpawnedService;
  let other: SpawnedService;
  before(async () => {
    ground = await createSharedFilesEnvironment();
    // Both processes start at the same moment on one database.
    [one, other] = await Promise.all([ground.start(), ground.start()]);
  });
  after(() => ground?.remove());

  const remove = async ({ request, admin }: SpawnedService, id: string) =>
    (await request('DELETE', `/files/${id}`, { token: admin.token })).status;

  it('the janitor of one process never removes an object that another one is writing', async () => {
    const slow = startSlowMultipartUpload(one);
    slow.write('the beginning, ');
    await until(async () => (await ground.state()).orphanEntries.length === 1);
    for (let round = 0; round < 5; round++)
      expect(await remove(other, await uploadFileByForm(other, `gone ${round}`))).to.equal(204);
    slow.write('and the end');
    const { status, body } = await slow.end();
    expect(status, JSON.stringify(body)).to.equal(200);
    expect((await fetchAssetAsAdmin(other, body.data.id)).bytes.toString()).to.equal('the beginning, and the end');
    expectConsistentFiles(await ground.state());
    await remove(one, body.data.id);
  });

  it('a process serves no partial bytes, and none older than the last answered replacement by another process', async () => {
    const id = await uploadFileByForm(one, 'version 0');
    const known = new Map<string, string>();
    let last = 0;
    let reads = 0;
    let ended = false;
    const readers = Array.from({ length: 4 }, async () => {
      while (!ended) {
        const newest = last;
        const { status, headers, bytes } = await fetchAssetAsAdmin(other, id);
        expect(status, 'a file that is there all the time').to.equal(200);
        const text = bytes.toString();
        const tag = headers.get('etag') as string;
        expect(headers.get('content-length')).to.equal(String(bytes.length));
        expect(text, `bytes of ${tag}`).to.match(/^version \d+x*$/);
        expect(known.get(tag) ?? text, tag).to.equal(text);
        known.set(tag, text);
        expect(Number(/\d+/.exec(text)?.[0]), 'the version whose upload was answered').to.be.at.least(newest);
        reads++;
      }
    });
    const reading = Promise.all(readers);
    const wrong = reading.then(() => new Promise<never>(() => {}));
    for (let version = 1; version <= 40; version++) {
      const replaced = sendUploadForm(one, `version ${version}${'x'.repeat((version * 37) % 300)}`, {
        method: 'PATCH',
        path: `/files/${id}`,
      });
      expect((await Promise.race([replaced, wrong])).status).to.equal(200);
      last = version;
    }
    ended = true;
    await reading;
    expect(reads).to.be.above(40);
    expect((await fetchAssetAsAdmin(other, id)).bytes.toString()).to.match(/^version 40/);
    expect(await remove(one, id)).to.equal(204);
    expect((await fetchAssetAsAdmin(other, id)).status).to.equal(403);
    expectConsistentFiles(await ground.state());
  });

  it('concurrent replacements and deletes by two processes leave one winner and no other object', async () => {
    const ids = await Promise.all(['a', 'b', 'c'].map((text) => uploadFileByForm(one, text)));
    const statuses = new Set<number>();
    await Promise.all(
      Array.from({ length: 6 }, async (_, worker) => {
        const service = worker % 2 ? one : other;
        for (let turn = 0; turn < 10; turn++) {
          const id = ids[(worker + turn) % ids.length] as string;
          const text = `${worker} ${turn} `.repeat(100 * turn + 1);
          statuses.add((await sendUploadForm(service, text, { method: 'PATCH', path: `/files/${id}` })).status);
          if (turn === 7 && worker < 2) statuses.add(await remove(service, ids[0] as string));
        }
      }),
    );
    // 204: the file was replaced, and another request deleted it before the service read it for the answer.
    expect([...statuses].filter((status) => ![200, 204, 403].includes(status))).to.deep.equal([]);
    const state = await ground.state();
    expectConsistentFiles(state);
    expect(state.named).to.have.length(2);
    for (const id of ids.slice(1)) expect(await remove(one, id)).to.equal(204);
  });

  it('a change of settings in one process applies in the other at once', async () => {
    const { token } = one.admin;
    const folder = (await one.request('POST', '/folders', { token, body: { name: 'inbox' } })).body.data.id;
    const changed = { storage_default_folder: folder, storage_asset_transform: 'none' };
    expect((await one.request('PATCH', '/settings', { token, body: changed })).status).to.equal(200);
    await until(async () => (await sendUploadForm(other, 'x')).body.data.folder === folder);
    const id = await uploadFileByForm(other, 'x');
    expect((await fetchAssetAsAdmin(other, id, '?width=10')).status).to.equal(400);
    await one.request('PATCH', '/settings', { token, body: { storage_asset_transform: 'all' } });
    await until(async () => (await fetchAssetAsAdmin(other, id, '?width=10')).status === 200);
  });

  it('a running process removes what a killed one left', async () => {
    const [form, replacing] = [
      startSlowMultipartUpload(one),
      startSlowMultipartUpload(one, { method: 'PATCH', path: `/files/${await uploadFileByForm(one, 'old')}` }),
    ];
    for (const slow of [form, replacing]) slow.write('x'.repeat(100_000));
    await until(async () => (await ground.state()).objects.filter((name) => name.startsWith('.partial/')).length === 2);
    await one.kill('SIGKILL');
    expect((await ground.state()).orphanEntries).to.have.length(2);
    // Each run of the janitor, started by a delete or once a minute, also looks for objects of killed processes.
    await until(async () => {
      await remove(other, await uploadFileByForm(other, 'x'));
      return (await ground.state()).orphanEntries.length === 0;
    });
    expectConsistentFiles(await ground.state());
  });
});
