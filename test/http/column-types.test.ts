import { expect } from 'chai';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../support/service.ts';
import { createUserWithPermissions, requestAsAdmin } from './test-users.ts';

const UUID = '3f0e9a52-3b0c-4d51-9a4e-0d1a6c1f7a11';

/** A column type, a value as PostgreSQL prints it, and whether the type has an order. */
const TYPES: readonly [type: string, value: string, sorts: boolean][] = [
  ['aclitem', 'pg_monitor=r/pg_monitor', false],
  ['bit', '1', true],
  ['bool', 't', true],
  ['box', '(1,1),(0,0)', false],
  ['bpchar', 'ab', true],
  ['bytea', '\\x00ff10', false],
  ['"char"', 'a', false],
  ['cid', '7', false],
  ['cidr', '10.0.0.0/8', true],
  ['circle', '<(0,0),1>', false],
  ['date', '2024-02-29', true],
  ['datemultirange', '{[2024-01-01,2024-02-01)}', true],
  ['daterange', '[2024-01-01,2024-02-01)', true],
  ['float4', '1.5', true],
  ['float8', '-0.25', true],
  ['inet', '10.0.0.1', true],
  ['int2', '-7', true],
  ['int2vector', '1 2', false],
  ['int4', '7', true],
  ['int4multirange', '{[1,5),[7,9)}', true],
  ['int4range', '[1,5)', true],
  ['int8', '9223372036854775807', true],
  ['int8multirange', '{[1,5)}', true],
  ['int8range', '[1,5)', true],
  ['interval', '1 day 02:00:00', true],
  ['json', '{"a":[1,null]}', false],
  ['jsonb', '{"a": [1, null]}', false],
  ['jsonpath', '$."a"[*]', false],
  ['line', '{1,-1,0}', false],
  ['lseg', '[(0,0),(1,1)]', false],
  ['macaddr', '08:00:2b:01:02:03', true],
  ['macaddr8', '08:00:2b:01:02:03:04:05', true],
  ['money', '$1,234.50', true],
  ['name', 'ab', true],
  ['numeric', '12345678901234567890.50', true],
  ['nummultirange', '{[1.5,2.5)}', true],
  ['numrange', '[1.5,2.5)', true],
  ['oid', '42', true],
  ['oidvector', '1 2', false],
  ['path', '((0,0),(1,1),(2,0))', false],
  ['pg_lsn', '16/B374D848', true],
  ['pg_snapshot', '10:20:10,14', false],
  ['point', '(1,2)', false],
  ['polygon', '((0,0),(1,1),(2,0))', false],
  ['refcursor', 'a cursor', false],
  ['regclass', 'pg_class', false],
  ['regcollation', '"C"', false],
  ['regconfig', 'english', false],
  ['regdictionary', 'english_stem', false],
  ['regnamespace', 'public', false],
  ['regoper', '||/', false],
  ['regoperator', '+(integer,integer)', false],
  ['regproc', 'now', false],
  ['regprocedure', 'lower(text)', false],
  ['regrole', 'pg_monitor', false],
  ['regtype', 'integer', false],
  ['text', 'a "b", {c}', true],
  ['tid', '(1,2)', false],
  ['time', '13:30:05', true],
  ['timestamp', '2024-02-29 13:30:05', true],
  ['timestamptz', '2024-02-29 13:30:05.678+00', true],
  ['timetz', '13:30:05+02', true],
  ['tsmultirange', '{["2024-01-01 00:00:00","2024-02-01 00:00:00")}', true],
  ['tsquery', "'a' & 'b'", false],
  ['tsrange', '["2024-01-01 00:00:00","2024-02-01 00:00:00")', true],
  ['tstzmultirange', '{["2024-01-01 00:00:00+00","2024-02-01 00:00:00+00")}', true],
  ['tstzrange', '["2024-01-01 00:00:00+00",)', true],
  ['tsvector', "'a':1 'b':2", false],
  ['txid_snapshot', '10:20:10,14', false],
  ['uuid', UUID, true],
  ['varbit', '1010', true],
  ['varchar', 'ab', true],
  ['xid', '7', false],
  ['xid8', '7', true],
  ['xml', '<a>b</a>', false],
  // Types that this test itself creates.
  ['mood', 'it is "ok"', true],
  ['positive', '5', true],
  ['letters', '{a,b}', false],
  ['pair', '(1,)', false],
  ['floatrange', '[1.5,2.5]', true],
  ['hstore', '"a"=>"1"', false],
];

/** Types that PostgreSQL uses internally and whose values no client can write. */
const INTERNAL = [
  'gtsvector',
  'pg_brin_bloom_summary',
  'pg_brin_minmax_multi_summary',
  'pg_dependencies',
  'pg_mcv_list',
  'pg_ndistinct',
  'pg_node_tree',
];

const plain = (type: string) => `v_${type.replaceAll('"', '')}`;
const list = (type: string) => `a_${type.replaceAll('"', '')}`;
const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;
/** Types without an array type, because their own values are arrays. */
const hasArray = (type: string) => type !== 'letters';

describe('items by column type', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  const send = (method: string, path: string, body?: unknown) =>
    service.request(method, path, { token: service.admin.token, body });
  const read = async (field: string) => (await send('GET', `/items/everything/1?fields=${field}`)).body.data[field];

  before(async () => {
    database = await createMigratedDatabase('column_types');
    await database.query(`
      create extension hstore;
      create type mood as enum ('sad', 'it is "ok"', 'happy');
      create domain positive as int check (value > 0);
      create domain letters as text[] check (cardinality(value) < 5);
      create type pair as (a int, b text);
      create type floatrange as range (subtype = float8);
      create table everything (id int primary key,
        ${TYPES.map(([type]) => `"${plain(type)}" ${type}${hasArray(type) ? `, "${list(type)}" ${type}[]` : ''}`).join(', ')},
        ${INTERNAL.map((type) => `${plain(type)} ${type}`).join(', ')});
      insert into everything (id, ${TYPES.map(([type]) => `"${plain(type)}"${hasArray(type) ? `, "${list(type)}"` : ''}`).join(', ')})
        values (1, ${TYPES.map(([type, value]) => `${quoted(value)}${hasArray(type) ? `, array[${quoted(value)}, null]::text[]::${type}[]` : ''}`).join(', ')}), (2${', null'.repeat(2 * TYPES.length - 1)});
      create table note (
        id int primary key, title text, tags text[], sizes smallint[], keys uuid[], moods mood[], ranks positive[],
        moments timestamptz[], prices numeric[], docs jsonb[], plain json[], places point[], readers uuid[], words letters,
        period tstzrange, span int4range, spans int4multirange, body text,
        search tsvector generated always as (setweight(to_tsvector('english', coalesce(body, '')), 'A')
          || to_tsvector('simple', coalesce(title, ''))) stored,
        lenient tsvector);
      insert into note (id, title, tags, sizes, keys, moods, ranks, moments, prices, docs, plain, places, words, period, span, spans, body, lenient)
      values
        (1, 'Falcons', '{a,b}', '{1,2}', '{${UUID}}', '{sad,happy}', '{5}', '{2024-02-29T12:00:00Z}', '{1.50}',
          array['{"k": 1}', '[1, 2]']::jsonb[], array['{"k": 1}']::json[], array['(1,2)']::point[], '{x}',
          '[2024-01-01,2024-02-01)', '[1,5)', '{[1,5),[7,9)}', 'Birds were flying', to_tsvector('english', 'hidden treasures')),
        (2, 'Mixed', '{b,null}', '{}', null, '{happy}', null, null, '{1.5,2}', null, null, null, null, '[2030-01-01,)', 'empty', null, null, null),
        (3, 'None', null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null);
      create index on note using gin (tags);
      create index on note using gin (ranks);
      create table secretive (id int primary key, title text, pin text, search tsvector generated always as
        (to_tsvector('simple', coalesce(title, '') || ' ' || coalesce(pin, ''))) stored);
      insert into secretive (id, title, pin) values (1, 'plain', 'swordfish');
    `);
    service = await startService({ database });
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  it('the table of types has every type of the database', async () => {
    const rows = await database.query<{ typname: string }>(
      `select typname from pg_type where typnamespace = 'pg_catalog'::regnamespace and typtype in ('b', 'r', 'm')
        and (typcategory <> 'A' or typname in ('int2vector', 'oidvector'))`,
    );
    const known = new Set([...TYPES.map(([type]) => type.replaceAll('"', '')), ...INTERNAL]);
    expect(rows.map(({ typname }) => typname).filter((name) => !known.has(name))).to.deep.equal([]);
  });

  for (const [type, , sorts] of TYPES) {
    for (const field of hasArray(type) ? [plain(type), list(type)] : [plain(type)]) {
      const isList = field === list(type) || type === 'letters';

      it(`a value of ${field} is written back as it was read`, async () => {
        const value = await read(field);
        expect(value, 'reads').to.satisfy((one: unknown) => (isList ? Array.isArray(one) : one !== null));
        const stored = `select "${field}"::text as value from everything where id = $1`;
        const created = await send('POST', '/items/everything?fields=id', { id: 3, [field]: value });
        expect(created.status, JSON.stringify(created.body)).to.equal(200);
        expect(await database.query(stored, [3])).to.deep.equal(await database.query(stored, [1]));
        const changed = await send('PATCH', `/items/everything/2?fields=${field}`, { [field]: value });
        expect(changed.body, JSON.stringify(changed.body)).to.deep.equal({ data: { [field]: value } });
        expect(await database.query(stored, [2])).to.deep.equal(await database.query(stored, [1]));
        const several = await send('PATCH', '/items/everything?fields=id', [
          { id: 1, [field]: value },
          { id: 2, [field]: null },
        ]);
        expect(several.status, JSON.stringify(several.body)).to.equal(200);
        expect((await send('DELETE', '/items/everything/3')).status).to.equal(204);
      });

      it(`filters find ${field} by null and by its value`, async () => {
        const find = async (filter: object) => {
          const { status, body } = await send('SEARCH', '/items/everything', {
            query: { fields: 'id', filter: { [field]: filter } },
          });
          expect(status, JSON.stringify([filter, body])).to.equal(200);
          return body.data.map(({ id }: { id: number }) => id);
        };
        expect(await find({ _null: true })).to.deep.equal([2]);
        expect(await find({ _nnull: true })).to.deep.equal([1]);
        if (!isList && ['json', 'jsonb'].includes(type)) return;
        const value = await read(field);
        expect(await find({ _eq: value })).to.deep.equal([1]);
        expect(await find({ _neq: value })).to.deep.equal([]);
        if (isList) {
          expect(await find({ _contains: value[0] })).to.deep.equal([1]);
          expect(await find({ _has_any: [value[0]] })).to.deep.equal([1]);
          expect(await find({ _empty: true })).to.deep.equal([2]);
        } else if (type !== 'bool') {
          expect(await find({ _in: [value] })).to.deep.equal([1]);
        }
      });

      it(`a sort by ${field} ${sorts && !isList ? 'is accepted' : 'fails because the type has no order'}`, async () => {
        const { status, body } = await send('GET', `/items/everything?fields=id&sort=-${field}`);
        if (sorts && !isList) expect(status, JSON.stringify(body)).to.equal(200);
        else {
          expect(body.errors[0].extensions).to.deep.include({ code: 'INVALID_QUERY', path: ['sort', 0] });
          expect(body.errors[0].message).to.match(/has no order here/);
        }
      });

      it(`${field} rejects values of another kind`, async () => {
        for (const value of ['\\ nonsense " {', [[{}]], 1e300]) {
          for (const [method, path, body] of [
            ['POST', '/items/everything', { id: 4, [field]: value }],
            ['SEARCH', '/items/everything', { query: { fields: 'id', filter: { [field]: { _eq: value } } } }],
            ['SEARCH', '/items/everything', { query: { fields: 'id', filter: { [field]: { _contains: value } } } }],
          ] as const) {
            const { status, body: answer } = await send(method, path, body);
            expect(status, JSON.stringify([body, answer])).to.be.oneOf([200, 400]);
            if (method === 'POST' && status === 200) await send('DELETE', '/items/everything/4');
          }
        }
      });
    }
  }

  // PostgreSQL accepts no value of these types from a client, and its error names no column: the service must name the field.
  for (const type of INTERNAL) {
    it(`a column of type ${type} is read and filtered by null, and a write of it is INVALID_PAYLOAD`, async () => {
      const { body } = await send('GET', `/items/everything?fields=id&filter[${plain(type)}][_null]=true`);
      expect(body.data).to.deep.equal([{ id: 1 }, { id: 2 }]);
      expect(await read(plain(type))).to.equal(null);
      const written = await send('PATCH', '/items/everything/1', { [plain(type)]: 'x' });
      expect(written.body.errors?.[0].extensions).to.include({ code: 'INVALID_PAYLOAD', field: plain(type) });
    });
  }

  // `AP8Q` is the bytea value of the row in base64, as the API shows it; `x00ff10` would be PostgreSQL's own form.
  it('values of every type are counted, exported and kept in a revision', async () => {
    const fields = TYPES.map(([type]) => plain(type));
    const count = await send('GET', `/items/everything?aggregate[count]=${fields.join(',')}`);
    expect(Object.values(count.body.data[0].count)).to.deep.equal(fields.map(() => 1));
    const revisions = await send('GET', '/revisions?filter[collection]=everything&limit=-1');
    expect(JSON.stringify(revisions.body)).to.include('AP8Q').and.not.include('x00ff10');
    for (const format of ['csv', 'json', 'xml', 'yaml']) {
      const { status, body } = await send('GET', `/items/everything?export=${format}`);
      expect(status, format).to.equal(200);
      expect(JSON.stringify(body), format).to.include('AP8Q').and.not.include('x00ff10');
    }
  });

  describe('filters of arrays and ranges', () => {
    const answer = (filter: object, token = service.admin.token) =>
      service.request('SEARCH', '/items/note', { token, body: { query: { fields: 'id', filter } } });

    const FINDS: readonly [field: string, operator: string, operand: unknown, ids: readonly number[]][] = [
      ['tags', '_contains', 'a', [1]],
      ['tags', '_contains', '', []],
      ['tags', '_ncontains', 'a', [2]],
      ['tags', '_in', ['a', 'z'], [1]],
      ['tags', '_in', 'a,z', [1]],
      ['tags', '_nin', ['a', 'z'], [2]],
      ['tags', '_has_any', ['b', 'z'], [1, 2]],
      ['tags', '_has_all', ['b', 'a'], [1]],
      ['tags', '_has_all', 'a,z', []],
      ['tags', '_eq', ['a', 'b'], [1]],
      ['tags', '_eq', 'a,b', [1]],
      ['tags', '_eq', ['b', 'a'], []],
      ['tags', '_eq', ['b', null], [2]],
      ['tags', '_neq', ['a', 'b'], [2]],
      ['tags', '_null', true, [3]],
      ['tags', '_nnull', true, [1, 2]],
      ['tags', '_eq', null, [3]],
      ['sizes', '_empty', true, [2, 3]],
      ['sizes', '_nempty', true, [1]],
      ['sizes', '_eq', [], [2]],
      ['sizes', '_contains', '2', [1]],
      ['sizes', '_has_any', [2, 9], [1]],
      ['keys', '_contains', UUID.toUpperCase(), [1]],
      ['moods', '_contains', 'sad', [1]],
      ['moods', '_has_any', ['happy'], [1, 2]],
      ['ranks', '_contains', 5, [1]],
      ['moments', '_contains', '2024-02-29T13:00:00+01:00', [1]],
      ['prices', '_has_all', ['1.5'], [1, 2]],
      ['docs', '_contains', { k: 1 }, [1]],
      ['docs', '_contains', [1, 2], [1]],
      ['docs', '_has_any', [{ k: 2 }, [1, 2]], [1]],
      ['plain', '_contains', { k: 1 }, [1]],
      ['places', '_contains', '(1,2)', [1]],
      ['words', '_contains', 'x', [1]],
      ['readers', '_contains', '$CURRENT_USER', []],
      ['period', '_contains', '2024-01-15', [1]],
      ['period', '_ncontains', '2024-01-15', [2]],
      ['period', '_contains', '$NOW(+20 years)', [2]],
      ['period', '_intersects', '[2024-01-20,2024-03-01)', [1]],
      ['period', '_nintersects', '[2024-01-20,2024-03-01)', [2]],
      ['span', '_contains', 4, [1]],
      ['span', '_eq', '[1,4]', [1]],
      ['span', '_in', ['[1,5)', '[7,8)'], [1]],
      ['span', '_empty', true, [2, 3]],
      ['span', '_nempty', true, [1]],
      ['spans', '_contains', 8, [1]],
      ['spans', '_intersects', '{[5,8)}', [1]],
    ];
    for (const [field, operator, operand, ids] of FINDS) {
      it(`${field} ${operator} ${JSON.stringify(operand)} finds ${JSON.stringify(ids)}`, async () => {
        const { status, body } = await answer({ [field]: { [operator]: operand } });
        expect([status, body.data], JSON.stringify(body)).to.deep.equal([200, ids.map((id) => ({ id }))]);
      });
    }

    const REFUSED: readonly [field: string, operator: string, operand: unknown, at?: readonly (string | number)[]][] = [
      ['tags', '_has_any', []],
      ['tags', '_has_any', ''],
      ['tags', '_contains', null],
      ['tags', '_in', ['a', null], [1]],
      ['tags', '_contains', { a: 1 }],
      ['tags', '_has_any', [['a']], [0]],
      ['tags', '_starts_with', 'a'],
      ['tags', '_gt', 'a'],
      ['tags', '_json', { a: 1 }],
      ['sizes', '_contains', 'one'],
      ['sizes', '_contains', 1.5],
      ['sizes', '_has_all', [1, 40000], [1]],
      ['sizes', '_eq', [1, 'x'], [1]],
      ['keys', '_has_any', [UUID, '1'], [1]],
      ['moods', '_contains', 'angry'],
      ['moments', '_contains', 'soon'],
      ['span', '_contains', 'x'],
      ['span', '_contains', 99999999999],
      ['span', '_starts_with', '['],
      ['title', '_has_any', ['a']],
    ];
    for (const [field, operator, operand, at = []] of REFUSED) {
      it(`${field} ${operator} ${JSON.stringify(operand)} fails with its path`, async () => {
        const { status, body } = await answer({ [field]: { [operator]: operand } });
        expect(status, JSON.stringify(body)).to.equal(400);
        expect(body.errors[0].extensions).to.deep.include({
          code: 'INVALID_QUERY',
          path: ['filter', field, operator, ...at],
        });
      });
    }

    it('an element outside the domain of the elements is rejected', async () => {
      const { status, body } = await answer({ ranks: { _contains: -5 } });
      expect([status, body.errors?.[0].extensions.code], JSON.stringify(body)).to.deep.equal([400, 'INVALID_QUERY']);
    });

    it('filters of arrays and ranges use GIN indexes', async () => {
      await database.query(
        'insert into note (id, tags, words) select n, array[n::text], array[repeat(md5(n::text), 40)] from generate_series(1000, 6000) n',
      );
      await database.query('analyze note');
      for (const filter of [
        { tags: { _contains: '1234' } },
        { tags: { _has_any: ['1234'] } },
        { tags: { _has_all: ['1234', '1'] } },
        { ranks: { _contains: 7 } },
      ]) {
        const { body } = await send('SEARCH', '/explain/note', { query: { aggregate: { count: '*' }, filter } });
        expect(JSON.stringify(body), JSON.stringify(filter)).to.match(/note_(tags|ranks)_idx/);
      }
      await database.query('delete from note where id >= 1000');
    });

    it('$CURRENT_USER as an element in a rule finds rows of the caller, and none for callers without a user', async () => {
      const someone = await createUserWithPermissions(service, [
        { collection: 'note', action: 'read', permissions: { readers: { _contains: '$CURRENT_USER' } } },
      ]);
      await database.query(`update note set readers = '{${someone.id}}' where id = 2`);
      expect((await answer({}, someone.token)).body.data).to.deep.equal([{ id: 2 }]);
      expect((await answer({ readers: { _ncontains: '$CURRENT_USER' } }, someone.token)).body.data).to.deep.equal([]);
    });

    it('a validation of a role checks elements', async () => {
      const someone = await createUserWithPermissions(service, [
        { collection: 'note', action: 'read' },
        {
          collection: 'note',
          action: 'update',
          validation: { tags: { _has_all: ['a'], _ncontains: 'z' }, sizes: { _in: [1, 2] } },
        },
      ]);
      const write = async (body: object) =>
        (await service.request('PATCH', '/items/note/3?fields=id', { token: someone.token, body })).status;
      expect(await write({ tags: ['b', 'a'], sizes: ['1', 7] })).to.equal(200);
      expect(await write({ tags: ['ba'] })).to.equal(400);
      expect(await write({ tags: ['a', 'z'] })).to.equal(400);
      expect(await write({ tags: ['a', 'zz'] })).to.equal(200);
      expect(await write({ sizes: [3] })).to.equal(400);
      await database.query('update note set tags = null, sizes = null where id = 3');
    });

    it('array functions work in fields and filters', async () => {
      const { body } = await send('GET', '/items/note?fields=count(tags),count(sizes)');
      expect(body.data).to.deep.equal([
        { tags_count: 2, sizes_count: 2 },
        { tags_count: 2, sizes_count: 0 },
        { tags_count: null, sizes_count: null },
      ]);
      expect((await answer({ 'count(tags)': { _gte: 2 } })).body.data).to.have.length(2);
    });

    it('GraphQL has the filters of arrays and ranges', async () => {
      const ask = async (filter: string, variables: object = {}, declared = '') =>
        (
          await send('POST', '/graphql', {
            query: `query ${declared} { note(filter: ${filter}) { id } }`,
            variables,
          })
        ).body;
      expect(await ask('{ tags: { _contains: "a" } }')).to.deep.equal({ data: { note: [{ id: '1' }] } });
      expect(await ask('{ sizes: { _has_any: [2, 9] } }')).to.deep.equal({ data: { note: [{ id: '1' }] } });
      expect(await ask('{ tags: { _has_all: $list } }', { list: ['b', 'a'] }, '($list: [JSON])')).to.deep.equal({
        data: { note: [{ id: '1' }] },
      });
      expect(await ask('{ docs: { _contains: $x } }', { x: { k: 1 } }, '($x: JSON)')).to.deep.equal({
        data: { note: [{ id: '1' }] },
      });
      expect(await ask('{ tags: { _eq: ["a", "b"] } }')).to.deep.equal({ data: { note: [{ id: '1' }] } });
    });
  });

  describe('search vectors', () => {
    const search = async (term: string, collection = 'note', token = service.admin.token) => {
      const path = `/items/${collection}?fields=id&search=${encodeURIComponent(term)}`;
      const { status, body } = await service.request('GET', path, { token });
      expect(status, JSON.stringify(body)).to.equal(200);
      return body.data.map(({ id }: { id: number }) => id);
    };

    it('a search finds words of a search vector, in its own and in the default text search configuration', async () => {
      expect(await search('fly')).to.deep.equal([1]);
      expect(await search('birds -flying')).to.deep.equal([]);
      expect(await search('"were flying"')).to.deep.equal([1]);
      expect(await search('treasure')).to.deep.equal([1]);
      expect(await search('flies or mixed')).to.deep.equal([1, 2]);
      expect(await search('a:b & | ! ( " \\')).to.deep.equal([]);
    });

    it('a search leaves out a search vector with searchable false', async () => {
      await requestAsAdmin(service, 'PATCH', '/fields/note/search', { meta: { searchable: false } });
      expect(await search('fly')).to.deep.equal([1], 'the text contains it');
      expect(await search('bird flying')).to.deep.equal([]);
      await requestAsAdmin(service, 'PATCH', '/fields/note/search', { meta: { searchable: true } });
      expect(await search('bird flying')).to.deep.equal([1]);
    });

    it('a search uses a search vector only for callers that may read it, by name in a table with secrets', async () => {
      const grants = (fields: readonly string[]) => [{ collection: 'secretive', action: 'read' as const, fields }];
      await requestAsAdmin(service, 'PATCH', '/fields/secretive/pin', { meta: { special: ['conceal'] } });
      const all = await createUserWithPermissions(service, grants(['*']));
      const named = await createUserWithPermissions(service, grants(['*', 'search']));
      const path = '/items/secretive?fields=id,search';
      expect(await search('swordfish', 'secretive', all.token)).to.deep.equal([]);
      expect(await search('swordfish', 'secretive', named.token)).to.deep.equal([1]);
      expect((await service.request('GET', path, { token: all.token })).body.data).to.deep.equal([{ id: 1 }]);
      expect((await service.request('GET', path, { token: named.token })).body.data).to.deep.equal([
        { id: 1, search: "'plain':1 'swordfish':2" },
      ]);
    });
  });
});
