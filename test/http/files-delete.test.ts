import { expect } from 'chai';
import { byteChunks, type FilesFixture, startFilesFixture } from '../plugins/files/files-fixture.ts';
import { createTestUserAccount, makeRole, statusAndCodeOf } from '../plugins/users/test-users.ts';
import { until } from '../support/until.ts';

describe('DELETE /files', () => {
  let ground: FilesFixture;
  before(async () => {
    ground = await startFilesFixture();
  });
  after(() => ground.stop());

  const send = (method: string, path: string, body?: unknown, token: string = ground.admin.token) =>
    ground.request(method, path, { token, body });
  const upload = async (title: string, storage = 'local') => {
    const metadata = { title, storage };
    const id = await ground.files.create(ground.admin.caller, {
      bytes: byteChunks(title),
      filename: 'a.txt',
      metadata,
    });
    await ground.storage.at(storage).write(`${id}__00ff.webp`, byteChunks('made'));
    return id;
  };
  const left = async () => [...(await ground.objects()), ...(await ground.objects('second'))];

  for (const [how, doing] of [
    ['one', async (id: string) => send('DELETE', `/files/${id}`)],
    ['a list of keys', async (id: string) => send('DELETE', '/files', [id])],
    ['keys', async (id: string) => send('DELETE', '/files', { keys: [id] })],
    ['a query', async (id: string) => send('DELETE', '/files', { query: { filter: { id: { _eq: id } } } })],
    [
      'GraphQL',
      async (id: string) => {
        const query = `mutation { delete_files_item(id: "${id}") { id } }`;
        const reply = await send('POST', '/graphql/system', { query });
        expect(reply.body.data.delete_files_item.id, JSON.stringify(reply.body)).to.equal(id);
        // A GraphQL mutation answers before the bytes are removed from storage.
        await until(async () => (await ground.orphanEntries()).length === 0);
        return { status: 204 };
      },
    ],
  ] as const) {
    it(`a delete by ${how} removes the row, the object and its variants`, async () => {
      const [gone, kept] = [await upload('gone'), await upload('kept', 'second')];
      expect((await doing(gone)).status).to.equal(204);
      const names = await left();
      expect(names.filter((name) => name.includes(gone))).to.deep.equal([]);
      expect(names.filter((name) => name.includes(kept))).to.have.length(2);
      expect(await ground.orphanEntries()).to.deep.equal([]);
      expect(statusAndCodeOf(await send('GET', `/files/${gone}`))).to.deep.equal([403, 'FORBIDDEN']);
    });
  }

  it('a delete of many files leaves no object', async () => {
    const ids = await Promise.all(Array.from({ length: 30 }, (_, at) => upload(`${at}`, at % 2 ? 'second' : 'local')));
    const halves = [ids.slice(0, 15), ids.slice(15)];
    const replies = await Promise.all(halves.map((keys) => send('DELETE', '/files', keys)));
    expect(replies.map(({ status }) => status)).to.deep.equal([204, 204]);
    expect((await left()).filter((name) => ids.some((id) => name.includes(id)))).to.deep.equal([]);
    expect(await ground.orphanEntries()).to.deep.equal([]);
  });

  it('a delete that includes a file the caller may not delete removes nothing', async () => {
    const person = await createTestUserAccount(
      ground,
      await makeRole(ground, {}, [
        { collection: 'platform_files', action: 'delete', permissions: { title: { _eq: 'mine' } } },
        { collection: 'platform_files', action: 'read' },
      ]),
    );
    const [mine, other] = [await upload('mine'), await upload('other')];
    for (const body of [[mine, other], { keys: [other] }])
      expect(statusAndCodeOf(await send('DELETE', '/files', body, person.token))).to.deep.equal([403, 'FORBIDDEN']);
    expect((await left()).filter((name) => name.includes(mine) || name.includes(other))).to.have.length(4);
    expect(await ground.orphanEntries()).to.deep.equal([]);
    expect((await send('DELETE', `/files/${mine}`, undefined, person.token)).status).to.equal(204);
    expect((await left()).filter((name) => name.includes(mine))).to.deep.equal([]);
  });

  it('a delete succeeds while the storage is down, and the object is removed later', async () => {
    const second = ground.storage.at('second');
    const { remove } = second;
    const id = await upload('x', 'second');
    Object.assign(second, { remove: async () => Promise.reject(new Error('down')) });
    try {
      expect((await send('DELETE', `/files/${id}`)).status).to.equal(204);
      expect((await ground.orphanEntries()).map(({ name }) => name)).to.deep.equal([`${id}.txt`]);
    } finally {
      Object.assign(second, { remove });
    }
    // Deletes do not wait for an unavailable location, but each one retries it.
    const next = await upload('y');
    expect((await send('DELETE', `/files/${next}`)).status).to.equal(204);
    expect((await left()).filter((name) => name.includes(next))).to.deep.equal([]);
    await until(async () => (await ground.orphanEntries()).length === 0);
    expect((await left()).filter((name) => name.includes(id))).to.deep.equal([]);
  });

  it('deleting a folder moves its files to the root', async () => {
    const folder = (await send('POST', '/folders', { name: 'f' })).body.data.id;
    const id = await upload('x');
    await send('PATCH', `/files/${id}`, { folder });
    expect((await send('DELETE', `/folders/${folder}`)).status).to.equal(204);
    expect((await ground.row(id)).folder).to.equal(null);
  });
});
