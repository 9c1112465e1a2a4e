import { expect } from 'chai';
import { parse } from 'yaml';
import { createUserWithPermissions } from '../../http/test-users.ts';
import { clientLibrary, createAdminClient } from '../../support/client-library.ts';
import { type InProcessService, spawnService, startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { key } from './rich-schema.ts';
import { type Snapshot, type SnapshotService, startSnapshotService } from './snapshot-fixture.ts';

const field = (collection: string, name: string, type: string, more = {}) => ({
  collection,
  field: name,
  type,
  meta: {},
  schema: {},
  ...more,
});

describe('/schema/diff and /schema/apply', function () {
  this.timeout(120_000);
  let one: SnapshotService;
  let snapshot: Snapshot;
  beforeEach(async () => {
    one = await startSnapshotService();
    for (const [collection, fields] of [
      ['artist', [key, { field: 'name', type: 'string' }]],
      [
        'track',
        [
          key,
          { field: 'name', type: 'string', schema: { is_nullable: false } },
          { field: 'length', type: 'string' },
          { field: 'artist', type: 'integer', meta: { special: ['m2o'] } },
        ],
      ],
    ])
      await one.send('POST', '/collections', { collection, schema: {}, fields });
    await one.send('POST', '/fields/artist', { field: 'tracks', type: 'alias', meta: { special: ['o2m'] } });
    await one.send('POST', '/relations', {
      collection: 'track',
      field: 'artist',
      related_collection: 'artist',
      meta: { one_field: 'tracks' },
    });
    await one.send('POST', '/items/artist', { name: 'Bach', tracks: [{ name: 'Air', length: '300' }] });
    snapshot = await one.snapshot();
  });
  afterEach(() => one?.stop());

  const fieldOf = (of: Snapshot, collection: string, name: string) =>
    of.fields.find((entry: Snapshot) => entry.collection === collection && entry.field === name);

  it('an equal snapshot is answered with 204', async () => {
    expect((await one.send('POST', '/schema/diff', snapshot)).status).to.equal(204);
  });

  it('an edited member is one difference with its path, and is applied', async () => {
    fieldOf(snapshot, 'track', 'name').meta.note = 'The title';
    const diff = await one.diff(snapshot);
    expect(diff.diff.fields).to.deep.equal([
      {
        collection: 'track',
        field: 'name',
        diff: [{ kind: 'E', path: ['meta', 'note'], lhs: null, rhs: 'The title' }],
      },
    ]);
    expect(diff.diff.collections).to.deep.equal([]);
    expect((await one.send('POST', '/schema/apply', diff)).status).to.equal(204);
    expect((await one.send('GET', '/fields/track/name')).body.data.meta.note).to.equal('The title');
    expect(await one.diff(snapshot)).to.equal(undefined);
  });

  it('lists that grow, shrink and change are elements of kind A and E, and come out as the snapshot says', async () => {
    const { meta } = fieldOf(snapshot, 'track', 'name');
    for (const choices of [[1, 2, 3, 4], [2], [2, { value: ['a', 'b'] }, 5], [{ value: ['b', 'c', 'd'] }], []]) {
      meta.options = { choices, __proto__: null };
      expect((await one.become(snapshot)).status).to.equal(204);
      const { data } = (await one.send('GET', '/fields/track/name')).body;
      expect(data.meta.options).to.deep.equal({ choices });
    }
    meta.options = { choices: [1, 2] };
    await one.become(snapshot);
    meta.options = { choices: [3] };
    const [entry] = (await one.diff(snapshot)).diff.fields;
    const path = ['meta', 'options', 'choices'];
    expect(entry.diff).to.deep.equal([
      { kind: 'A', path, index: 1, item: { kind: 'D', lhs: 2 } },
      { kind: 'E', path: [...path, 0], lhs: 1, rhs: 3 },
    ]);
  });

  it('a comment of a table and of a column is changed and removed', async () => {
    const [collection] = snapshot.collections;
    for (const comment of ["It's one", undefined]) {
      collection.schema.comment = comment;
      fieldOf(snapshot, 'artist', 'name').schema.comment = comment;
      expect((await one.become(snapshot)).status).to.equal(204);
      expect((await one.snapshot()).collections[0].schema.comment).to.equal(comment);
      expect(fieldOf(await one.snapshot(), 'artist', 'name').schema.comment).to.equal(comment);
    }
  });

  it('new and deleted entries are differences of the whole entry', async () => {
    snapshot.fields = snapshot.fields.filter((entry: Snapshot) => entry.field !== 'length');
    snapshot.fields.push(field('track', 'year', 'integer'));
    const { diff } = await one.diff(snapshot);
    const [dropped, added] = diff.fields;
    expect([dropped.field, dropped.diff[0].kind, dropped.diff[0].path]).to.deep.equal(['length', 'D', undefined]);
    expect([added.field, added.diff[0].kind, added.diff[0].rhs.type]).to.deep.equal(['year', 'N', 'integer']);
    expect((await one.become(snapshot)).status).to.equal(204);
    const [row] = await one.database.query<object>('select * from track');
    expect(row).to.include({ year: null }).and.not.to.have.any.keys('length');
  });

  it('mode=merge deletes nothing', async () => {
    const only = { ...snapshot, collections: [], fields: [field('track', 'year', 'integer')], relations: [] };
    const diff = await one.diff(only, '?mode=merge');
    expect(diff.diff.collections).to.deep.equal([]);
    expect(diff.diff.fields.map((entry: Snapshot) => [entry.field, entry.diff[0].kind])).to.deep.equal([['year', 'N']]);
    expect((await one.send('POST', '/schema/apply', diff)).status).to.equal(204);
  });

  it('deleting a collection and its relation keeps the column that referred to it, as the snapshot says', async () => {
    snapshot.collections = snapshot.collections.filter((entry: Snapshot) => entry.collection !== 'artist');
    snapshot.fields = snapshot.fields.filter((entry: Snapshot) => entry.collection !== 'artist');
    snapshot.relations = [];
    const diff = await one.diff(snapshot);
    expect(diff.diff.fields).to.deep.equal([]);
    expect((await one.send('POST', '/schema/apply', diff)).status).to.equal(204);
    expect(await one.diff(snapshot)).to.equal(undefined);
    expect(await one.database.query('select artist from track')).to.deep.equal([{ artist: 1 }]);
  });

  it('a type change converts the rows, and one that does not convert changes nothing', async () => {
    Object.assign(fieldOf(snapshot, 'track', 'length'), { type: 'integer', schema: {} });
    expect((await one.become(snapshot)).status).to.equal(204);
    expect(await one.database.query('select length from track')).to.deep.equal([{ length: 300 }]);
    Object.assign(fieldOf(snapshot, 'track', 'name'), { type: 'integer', schema: {} });
    const { status, body } = await one.become(snapshot);
    expect(status).to.equal(400);
    expect(body.errors[0].extensions).to.deep.include({ code: 'INVALID_PAYLOAD', path: ['diff', 'fields', 0] });
    expect(await one.database.query('select name from track')).to.deep.equal([{ name: 'Air' }]);
  });

  it('a relation gets other rules, and another collection', async () => {
    snapshot.relations[0].schema.on_delete = 'CASCADE';
    expect((await one.become(snapshot)).status).to.equal(204);
    expect((await one.send('GET', '/relations/track/artist')).body.data.schema.on_delete).to.equal('CASCADE');
    Object.assign(snapshot.relations[0], { related_collection: 'track', schema: { on_delete: 'SET NULL' } });
    snapshot.relations[0].meta.one_field = null;
    snapshot.fields = snapshot.fields.filter((entry: Snapshot) => entry.field !== 'tracks');
    expect((await one.become(snapshot)).status).to.equal(204);
    expect((await one.send('GET', '/relations/track/artist')).body.data.related_collection).to.equal('track');
    expect(await one.diff(snapshot)).to.equal(undefined);
  });

  it('a failure at the last of fifty entries changes nothing', async () => {
    const names = Array.from({ length: 49 }, (_, at) => `extra_${String(at).padStart(2, '0')}`);
    snapshot.fields.push(...names.map((name) => field('artist', name, 'string')));
    snapshot.fields.push(field('track', 'required', 'string', { schema: { is_nullable: false } }));
    const { status, body } = await one.become(snapshot);
    expect(status).to.equal(400);
    expect(body.errors[0].extensions).to.deep.include({ code: 'CONTAINS_NULL_VALUES', path: ['diff', 'fields', 49] });
    expect((await one.snapshot()).fields.map((entry: Snapshot) => entry.field)).to.not.include('extra_00');
    const columns = await one.database.query(
      `select 1 from information_schema.columns where table_name = 'artist' and column_name like 'extra%'`,
    );
    expect(columns).to.deep.equal([]);
  });

  it('a diff is refused after another change, by the API or by SQL, and applied with force', async () => {
    snapshot.fields.push(field('track', 'year', 'integer'));
    const diff = await one.diff(snapshot);
    await one.database.query('alter table artist add column born date');
    const refused = await one.send('POST', '/schema/apply', diff);
    expect([refused.status, refused.body.errors[0].extensions.code]).to.deep.equal([400, 'INVALID_PAYLOAD']);
    expect(refused.body.errors[0].extensions.path).to.deep.equal(['hash']);
    expect((await one.send('POST', '/schema/apply?force=true', diff)).status).to.equal(204);
    expect((await one.send('GET', '/fields/track/year')).status).to.equal(200);
  });

  it('of two applies of one diff at the same time one is refused', async () => {
    snapshot.fields.push(field('track', 'year', 'integer'));
    const diff = await one.diff(snapshot);
    const replies = await Promise.all([1, 2].map(() => one.send('POST', '/schema/apply', diff)));
    expect(replies.map(({ status }) => status).sort()).to.deep.equal([204, 400]);
  });

  it('an empty diff is answered with 204, whatever its hash', async () => {
    const diff = { collections: [], fields: [], relations: [] };
    expect((await one.send('POST', '/schema/apply', { hash: 'x', diff })).status).to.equal(204);
  });

  it('another process on the database serves the new fields', async () => {
    const other = await spawnService({ database: one.database });
    try {
      snapshot.fields.push(field('track', 'year', 'integer'));
      expect((await one.become(snapshot)).status).to.equal(204);
      const path = '/items/track?fields=year';
      await until(async () => (await other.request('GET', path, { token: one.service.admin.token })).status === 200);
    } finally {
      await other.stop();
    }
  });

  it('YAML is answered as a download, and taken as a file of a form and as a body', async () => {
    const { status, headers, body } = await one.send('GET', '/schema/snapshot?export=yaml');
    expect([status, headers.get('content-type'), headers.get('content-disposition')]).to.deep.equal([
      200,
      'text/yaml; charset=utf-8',
      'attachment; filename="snapshot.yaml"',
    ]);
    expect(parse(body)).to.deep.equal(snapshot);
    expect((await one.send('GET', '/schema/snapshot?export=json')).body).to.deep.equal(snapshot);
    const headersOfAdmin = { Authorization: `Bearer ${one.service.admin.token}` };
    const url = `${one.service.url}/schema/diff`;
    const text = body.replace('name: name', 'name: name').replace('note: null', 'note: changed');
    for (const [name, type] of [
      ['snapshot.yaml', 'application/octet-stream'],
      ['snapshot', 'text/yaml'],
    ] as const) {
      const form = new FormData();
      form.set('file', new File([text], name, { type }));
      const reply = await fetch(url, { method: 'POST', headers: headersOfAdmin, body: form });
      expect(reply.status).to.equal(200);
      expect(((await reply.json()) as Snapshot).data.diff.collections).to.have.length(1);
    }
    const form = new FormData();
    form.set('file', new File([JSON.stringify(snapshot)], 'snapshot.json', { type: 'application/json' }));
    expect((await fetch(url, { method: 'POST', headers: headersOfAdmin, body: form })).status).to.equal(204);
    const headers2 = { ...headersOfAdmin, 'Content-Type': 'text/yaml' };
    expect((await fetch(url, { method: 'POST', headers: headers2, body })).status).to.equal(204);
  });

  it('a partial snapshot has version 2, and leaves other collections alone', async () => {
    const partial = await one.snapshot('?includeCollections=track');
    expect([partial.version, partial.collections.map((entry: Snapshot) => entry.collection)]).to.deep.equal([
      2,
      ['track'],
    ]);
    expect(await one.diff(partial)).to.equal(undefined);
    expect((await one.snapshot('?excludeCollections=track')).relations).to.deep.equal([]);
    for (const query of ['?includeCollections=a&excludeCollections=b', '?includeCollections=missing', '?export=csv'])
      expect((await one.send('GET', `/schema/snapshot${query}`)).body.errors[0].extensions.code, query).to.equal(
        'INVALID_QUERY',
      );
  });

  it('a snapshot of another vendor, version or form is refused with its path', async () => {
    for (const [wrong, path] of [
      [{ ...snapshot, vendor: 'mysql' }, ['vendor']],
      [{ ...snapshot, tenon: '9.0.0' }, ['tenon']],
      [{ ...snapshot, version: 3 }, ['version']],
      [{ ...snapshot, fields: {} }, ['fields']],
      [{ ...snapshot, fields: [{ collection: 'track', field: 'a' }] }, ['fields', 0, 'type']],
      [{ ...snapshot, collections: [snapshot.collections[0], snapshot.collections[0]] }, ['collections', 1]],
      [[], undefined],
    ] as const) {
      const { status, body } = await one.send('POST', '/schema/diff', wrong);
      expect(status, JSON.stringify(path)).to.equal(400);
      expect(body.errors[0].extensions.path).to.deep.equal(path);
    }
    const other = { ...snapshot, vendor: 'mysql', tenon: '9.0.0' };
    expect((await one.send('POST', '/schema/diff?force', other)).status).to.equal(204);
    const patch = `${snapshot.tenon.split('.').slice(0, 2).join('.')}.999`;
    expect((await one.send('POST', '/schema/diff', { ...snapshot, tenon: patch })).status).to.equal(204);
  });

  it('a diff of another form is refused with its path', async () => {
    for (const [diff, path] of [
      [{ collections: {} }, ['diff', 'collections']],
      [{ fields: [{ collection: 'track', diff: [] }] }, ['diff', 'fields', 0, 'field']],
      [
        { fields: [{ collection: 'track', field: 'name', diff: [{ kind: 'X' }] }] },
        ['diff', 'fields', 0, 'diff', 0, 'kind'],
      ],
    ] as const) {
      const { status, body } = await one.send('POST', '/schema/apply', { hash: 'x', diff });
      expect(status).to.equal(400);
      expect(body.errors[0].extensions.path).to.deep.equal(path);
    }
    for (const path of [
      ['meta', 'x', 'y'],
      ['schema', '__proto__', 'polluted'],
    ]) {
      const diff = { fields: [{ collection: 'track', field: 'name', diff: [{ kind: 'N', path, rhs: 1 }] }] };
      expect((await one.send('POST', '/schema/apply?force', { hash: 'x', diff })).status).to.equal(400);
    }
  });

  it('callers that are not admins get 403 before the body is read', async () => {
    const user = await createUserWithPermissions(one.service, [{ collection: 'platform_collections', action: 'read' }]);
    for (const token of [user.token, undefined]) {
      const options = token === undefined ? {} : { token };
      for (const [method, path] of [
        ['GET', '/schema/snapshot'],
        ['POST', '/schema/diff'],
        ['POST', '/schema/apply'],
      ] as const)
        expect((await one.service.request(method, path, options)).status, `${method} ${path}`).to.equal(403);
    }
  });

  it('the client library reads a snapshot, makes a diff and applies it', async () => {
    const request = createAdminClient(one.service);
    const read = await request(clientLibrary.schemaSnapshot());
    expect(read).to.deep.equal(snapshot);
    expect(await request(clientLibrary.schemaDiff(read))).to.equal(null);
    read.collections[0].meta.note = 'changed';
    const diff = await request(clientLibrary.schemaDiff(read));
    expect(await request(clientLibrary.schemaApply(diff))).to.equal(null);
    expect(await request(clientLibrary.schemaDiff(read))).to.equal(null);
  });

  it('a snapshot without members that have defaults, such as a person writes, is applied once', async () => {
    const written = {
      version: 2,
      tenon: snapshot.tenon,
      vendor: 'postgres',
      collections: [{ collection: 'label', meta: { note: 'By hand' }, schema: {} }],
      fields: [
        {
          collection: 'label',
          field: 'id',
          type: 'integer',
          schema: { is_primary_key: true, has_auto_increment: true },
        },
        { collection: 'label', field: 'text', type: 'string', meta: { required: true } },
        { collection: 'label', field: 'artist', type: 'integer', meta: {} },
        { collection: 'label', field: 'price', type: 'decimal', schema: {} },
        { collection: 'label', field: 'tags', type: 'csv', meta: { special: 'cast-csv' } },
      ],
      relations: [{ collection: 'label', field: 'artist', related_collection: 'artist', meta: {} }],
    };
    expect((await one.become(written)).status).to.equal(204);
    expect(await one.diff(written)).to.equal(undefined);
    expect((await one.send('GET', '/items/track')).status).to.equal(200);
  });
});

describe('the document of a request to /schema/diff', function () {
  this.timeout(60_000);
  let service: InProcessService;
  before(async () => {
    service = await startService({ env: { SCHEMA_SNAPSHOT_MAX_SIZE: '64kb', MAX_PAYLOAD_SIZE: '16kb' } });
  });
  after(() => service?.stop());
  const send = async (body: string | FormData, type?: string) => {
    const headers = { Authorization: `Bearer ${service.admin.token}`, ...(type ? { 'Content-Type': type } : {}) };
    const reply = await fetch(`${service.url}/schema/diff`, { method: 'POST', headers, body });
    const text = await reply.text();
    const error = text === '' ? undefined : (JSON.parse(text) as Snapshot).errors?.[0];
    return { status: reply.status, code: error?.extensions.code, message: error?.message as string };
  };
  const formWith = (text: string) => {
    const form = new FormData();
    form.set('file', new File([text], 'snapshot.yaml'));
    return form;
  };

  it('may be larger than MAX_PAYLOAD_SIZE, and over SCHEMA_SNAPSHOT_MAX_SIZE is 413 in every form', async () => {
    const { body } = await service.request('GET', '/schema/snapshot', { token: service.admin.token });
    const text = JSON.stringify(body.data);
    expect((await send(text + ' '.repeat(30_000), 'application/json')).status).to.equal(204);
    for (const [large, type] of [
      [' '.repeat(70_000), 'application/json'],
      ['#'.repeat(70_000), 'text/yaml'],
      [formWith('#'.repeat(70_000)), undefined],
    ] as const) {
      const { status, code, message } = await send(large, type);
      expect([status, code]).to.deep.equal([413, 'CONTENT_TOO_LARGE']);
      expect(message).to.contain('SCHEMA_SNAPSHOT_MAX_SIZE');
    }
  });

  it('is refused where it is malformed, a bomb of aliases, no form with a file, or of another type', async () => {
    const levels = ['a: &a [x, x, x, x, x, x, x, x, x, x]'];
    for (let at = 1; at < 9; at++) {
      const [name, inner] = ['abcdefghij'[at], 'abcdefghij'[at - 1]];
      levels.push(`${name}: &${name} [${Array(10).fill(`*${inner}`).join(', ')}]`);
    }
    for (const [body, type] of [
      ['{', 'application/json'],
      ['', 'application/json'],
      ['a: [', 'text/yaml'],
      [levels.join('\n'), 'text/yaml'],
      [`a: &a ${'x'.repeat(1000)}\nb: *a`, 'text/yaml'],
      ['"\\0"', 'text/yaml'],
      ['version: 1\n__proto__: {}', 'application/yaml'],
      ['"\\u0000"', 'application/json'],
      ['x', 'multipart/form-data; boundary=x'],
      [new FormData(), undefined],
    ] as const) {
      const { status, code } = await send(body, type);
      expect([status, code], String(body).slice(0, 40)).to.deep.equal([400, 'INVALID_PAYLOAD']);
    }
    expect((await send('x', 'text/plain')).code).to.equal('UNSUPPORTED_MEDIA_TYPE');
  });
});
