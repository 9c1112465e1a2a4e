import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { createUserWithPermissions } from '../../http/test-users.ts';
import { createRichSchema, key } from '../schema-snapshots/rich-schema.ts';
import { type SnapshotService, startChinook, startSnapshotService } from '../schema-snapshots/snapshot-fixture.ts';
import { compileWithTypes } from './compile-types.ts';

const PATH = '/server/specs/types';
const SCRIPT = fileURLToPath(new URL('../../../scripts/types.ts', import.meta.url));

/** Asserts that the right lines compile, and that each wrong line does not. */
async function expectCompiled(types: string, right: readonly string[], wrong: readonly string[]): Promise<void> {
  const { failing, output } = await compileWithTypes(types, [...right, ...wrong]);
  expect(failing, output).to.deep.equal(wrong.map((_, at) => right.length + at + 1));
}

describe('types of the collections', function () {
  this.timeout(240_000);

  describe('of Chinook', () => {
    let chinook: SnapshotService;
    before(async () => {
      chinook = await startChinook();
    });
    after(() => chinook?.stop());
    const RIGHT = [
      `const a = await client.request(readItems('track', { fields: ['name', { album_id: ['title', { artist_id: ['name'] }] }], sort: ['-milliseconds'], limit: 3 }));`,
      `const b: string = a[0]!.name; const c: string = a[0]!.album_id!.title; const d: string | null = a[0]!.album_id!.artist_id.name;`,
      `const e: number | null = (await client.request(readItem('track', 1, { fields: ['bytes'] }))).bytes;`,
      `await client.request(readItems('track', { filter: { album_id: { title: { _contains: 'a' } }, milliseconds: { _gt: 1 } } }));`,
      `await client.request(readItems('invoice', { fields: ['year(invoice_date)'], filter: { invoice_date: { _gte: '2020-01-01' } } }));`,
      `await client.request(createItem('genre', { name: 'x' })); await client.request(updateItem('invoice', 1, { invoice_date: '2020-01-01T00:00:00' }));`,
    ];
    const WRONG = [
      `await client.request(readItems('tracks'));`,
      `await client.request(readItems('track', { fields: ['title'] }));`,
      `await client.request(readItems('track', { fields: [{ album_id: ['name'] }] }));`,
      `const wrong: number = (await client.request(readItem('track', 1, { fields: ['name'] }))).name;`,
      `await client.request(readItems('track', { filter: { nothing: { _eq: 1 } } }));`,
      `await client.request(createItem('genre', { title: 'x' }));`,
    ];

    it('right queries of the published client compile, and wrong ones do not', async () => {
      const { status, headers, body } = await chinook.send('GET', PATH);
      expect([status, headers.get('content-type'), headers.get('content-disposition')]).to.deep.equal([
        200,
        'text/plain; charset=utf-8',
        'attachment; filename="schema.ts"',
      ]);
      await expectCompiled(body, RIGHT, WRONG);
    });

    it('an entity tag saves a client the answer that it has', async () => {
      const { headers } = await chinook.send('GET', PATH);
      const reply = await chinook.service.request('GET', PATH, {
        token: chinook.service.admin.token,
        headers: { 'if-none-match': headers.get('etag') ?? '', 'cache-control': 'max-age=0' },
      });
      expect(reply.status).to.equal(304);
    });

    it('callers get what they may read: relations to other rows are keys', async () => {
      const reader = await createUserWithPermissions(chinook.service, [
        { collection: 'track', action: 'read', fields: ['track_id', 'name', 'album_id'] },
      ]);
      const { body } = await chinook.service.request('GET', PATH, { token: reader.token });
      expect(body).to.contain(
        'export interface Track {\n  album_id: number | null;\n  name: string;\n  track_id: number;\n}',
      );
      expect(body).to.not.match(/album\b:|composer|PlatformUsers/);
      const { status, body: empty } = await chinook.service.request('GET', PATH);
      expect([status, /track/i.test(empty)]).to.deep.equal([200, false]);
    });

    it('npm run types makes the same file of a running service and of a snapshot', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'tenon-types-'));
      const env = {
        LOG_LEVEL: 'silent',
        CONFIG_PATH: '/dev/null',
        EXTENSIONS_PATH: '/dev/null',
        DB_HOST: '127.0.0.1',
        DB_PORT: '1',
        DB_DATABASE: 'none',
        DB_USER: 'none',
        DB_PASSWORD: 'none',
      };
      const run = (...args: readonly string[]) =>
        new Promise<{ code: number; text: string; all: string }>((resolve) => {
          const options = { env: { PATH: process.env.PATH, ...env } };
          execFile(process.execPath, [SCRIPT, ...args], options, (error, text, errors) =>
            resolve({ code: Number(error?.code ?? 0), text, all: text + errors }),
          );
        });
      try {
        const { url, admin } = chinook.service;
        const served = await run('--url', url, '--token', admin.token);
        expect(served.code, served.all).to.equal(0);
        expect(served.text).to.equal((await chinook.send('GET', PATH)).body);
        await writeFile(
          join(folder, 'snapshot.yaml'),
          (await chinook.send('GET', '/schema/snapshot?export=yaml')).body,
        );
        const out = join(folder, 'schema.ts');
        const stored = await run('--snapshot', join(folder, 'snapshot.yaml'), '--out', out);
        expect(stored.code, stored.all).to.equal(0);
        await expectCompiled(await readFile(out, 'utf8'), RIGHT, WRONG);
        expect(await readFile(out, 'utf8')).to.equal(served.text);
        for (const args of [[], ['--url', url, '--snapshot', 'x'], ['--token', 'x', '--snapshot', 'x']])
          expect((await run(...args)).code, args.join(' ')).to.equal(2);
        expect((await run('--snapshot', join(folder, 'missing.yaml'))).code).to.equal(1);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    });
  });

  it('many-to-any, json, choices, singletons, custom fields of users and names that are no identifiers compile', async () => {
    const one = await startSnapshotService();
    try {
      await createRichSchema(one);
      await one.send('POST', '/collections', {
        collection: 'order-lines',
        schema: {},
        fields: [
          key,
          { field: 'unit price', type: 'decimal' },
          { field: 'größe', type: 'integer', schema: { is_nullable: false } },
        ],
      });
      await one.send('POST', '/collections', { collection: 'schema', schema: {}, fields: [key] });
      await one.send('POST', '/collections', { collection: '2nd', schema: {}, fields: [key] });
      const { body } = await one.send('GET', PATH);
      await expectCompiled(
        body,
        [
          `const a = await client.request(readItems('article', { fields: ['status', 'settings', 'words', { children: ['title'], tags: [{ tags_id: ['name'] }], author: ['email', 'favourite'] }] }));`,
          `const b: 'draft' | null = a[0]!.status; const c: string = a[0]!.children![0]!.title; const d: string[] | null = a[0]!.words;`,
          `const e: string | null = a[0]!.author!.email;`,
          `const f = await client.request(readItems('article', { fields: [{ blocks: ['collection', { item: { tags: ['name'], site: ['created'] } }] }] }));`,
          `const g: string | null = (await client.request(readSingleton('site'))).created;`,
          `await client.request(readItems('order-lines', { fields: ['unit price', 'größe'] })); await client.request(readItems('schema')); await client.request(readItems('2nd'));`,
          `await client.request(readMe({ fields: ['email', { favourite: ['title'] }] }));`,
          `await client.request(createItem('article', { title: 'a', status: 'draft', settings: { a: [1] }, words: ['x'] }));`,
        ],
        [
          `await client.request(readItems('site'));`,
          `await client.request(readSingleton('article'));`,
          `await client.request(readItems('article', { fields: [{ author: ['nothing'] }] }));`,
          `await client.request(createItem('article', { title: 'a', status: 'unknown' }));`,
          `await client.request(readItems('order-lines', { fields: ['price'] }));`,
          `await client.request(readMe({ fields: [{ favourite: ['nothing'] }] }));`,
        ],
      );
    } finally {
      await one.stop();
    }
  });
});
