import { expect } from 'chai';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { type InProcessService, startService } from '../support/service.ts';
import { createUserWithPermissions, type TestUserWithToken } from './test-users.ts';

describe('tables that a third party created', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  before(async function () {
    this.timeout(120_000);
    database = await freshDatabase('hostile_adopted');
    await database.query(`
      create table pair (id serial primary key, kind text, secret text, unique (kind, secret));
      insert into pair (kind, secret) values ('a', 's3cret'), ('b', 's3cret');
      create table made (id serial primary key, kind text, secret text default 's3cret',
        both_of text generated always as (kind || secret) stored unique);
      insert into made (kind) values ('a'), ('b');
      create table coded (id serial primary key, secret text unique);
      create table pointing (id serial primary key, code text references coded (secret));
      insert into coded (secret) values ('s3cret');
      insert into pointing (code) values ('s3cret');
      create table elsewhere (id serial primary key, hidden_name text unique, hidden_note text not null, n int check (n > 0));
      insert into elsewhere (hidden_name, hidden_note) values ('s3cret', 'x');
      create table watched (id serial primary key, name text);
      create function watch() returns trigger language plpgsql as $$ begin
        if new.name = 'twice' then insert into elsewhere (hidden_name, hidden_note) values ('s3cret', 'x'); end if;
        if new.name = 'null' then insert into elsewhere (hidden_name) values ('y'); end if;
        if new.name = 'check' then insert into elsewhere (hidden_note, n) values ('y', -1); end if;
        if new.name = 'cast' then perform (select hidden_name::int from elsewhere limit 1); end if;
        return new;
      end $$;
      create trigger watches before insert or update on watched for each row execute function watch();
      insert into watched (name) values ('one');
      create table ruled (id serial primary key, name text);
      create table ruled_log (name text);
      insert into ruled (name) values ('one');
      create rule ruled_insert as on insert to ruled do also insert into ruled_log values (new.name);
      create rule ruled_update as on update to ruled do also insert into ruled_log values (new.name);
      create rule ruled_delete as on delete to ruled do also insert into ruled_log values (old.name);
      create table general (id serial primary key, name text);
      create table special () inherits (general);
      insert into general (name) values ('one');
      insert into special (id, name) values (1, 'one');
      create table odd_json (id serial primary key, name text, j json);
      insert into odd_json (name, j) values
        ('nul', '{"a":"x\\u0000y"}'), ('half', '["\\ud800"]'), ('pair', '["\\ud83d\\ude00"]'), ('escaped', '["\\\\u0000"]'), ('plain', '[1, 2]');
      create table odd_lists (id int primary key, name text, l json[]);
      insert into odd_lists values (1, 'nul', array['{"a":"x\\u0000y"}']::json[]), (2, 'plain', array['{"a":1}']::json[]);
      create table measured (id serial primary key, "double" float8, single real);
      insert into measured ("double", single) values ('Infinity', 'NaN'), ('-Infinity', 1.5);
      create table lettered (id char(5) primary key, name text, above char(5) references lettered);
      insert into lettered values ('ab', 'one', null), ('cd', 'two', 'ab');
      create table named (id serial primary key, "1ª²①" text, "a:b" text, "-x" text, "ünï·" text);
      insert into named ("1ª²①", "a:b", "-x", "ünï·") values ('1', '2', '3', '4');
    `);
    service = await startService({ database });
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  const admin = (method: string, path: string, body?: unknown) =>
    service.request(method, path, { token: service.admin.token, body });

  describe('errors of the database show nothing that the caller may not read', () => {
    let person: TestUserWithToken;
    before(async () => {
      const all = (collection: string, fields: readonly string[]) =>
        (['create', 'read', 'update', 'delete'] as const).map((action) => ({ collection, action, fields }));
      person = await createUserWithPermissions(service, [
        ...all('pair', ['id', 'kind']),
        ...all('made', ['id', 'kind']),
        ...all('coded', ['id']),
        ...all('watched', ['id', 'name']),
      ]);
    });

    const CASES: readonly [what: string, method: string, path: string, body: unknown, code: string][] = [
      ['a hidden column of a unique pair', 'PATCH', '/items/pair/1', { kind: 'b' }, 'RECORD_NOT_UNIQUE'],
      ['several rows at once', 'PATCH', '/items/pair', [{ id: 1, kind: 'b' }], 'RECORD_NOT_UNIQUE'],
      ['a generated column', 'PATCH', '/items/made/1', { kind: 'b' }, 'RECORD_NOT_UNIQUE'],
      ['a generated column, on create', 'POST', '/items/made', { kind: 'b' }, 'RECORD_NOT_UNIQUE'],
      ['a row that other rows refer to', 'DELETE', '/items/coded/1', undefined, 'INVALID_FOREIGN_KEY'],
      [
        'a trigger that violates a unique constraint of another table',
        'POST',
        '/items/watched',
        { name: 'twice' },
        'RECORD_NOT_UNIQUE',
      ],
      [
        'a trigger that writes null into another table',
        'PATCH',
        '/items/watched/1',
        { name: 'null' },
        'NOT_NULL_VIOLATION',
      ],
      [
        'a trigger that violates a check of another table',
        'POST',
        '/items/watched',
        { name: 'check' },
        'INVALID_PAYLOAD',
      ],
      ['a trigger that casts an invalid value', 'POST', '/items/watched', { name: 'cast' }, 'INVALID_PAYLOAD'],
    ];
    for (const [what, method, path, body, code] of CASES) {
      it(`${what}: the error shows no hidden names or values`, async () => {
        const reply = await service.request(method, path, { token: person.token, body });
        expect([reply.status, reply.body.errors[0].extensions.code]).to.deep.equal([400, code]);
        expect(JSON.stringify(reply.body)).to.not.match(/s3cret|hidden_|elsewhere|both_of|"secret|, secret/);
      });
    }

    it('names that the caller sent are still in the error', async () => {
      const { body } = await service.request('PATCH', '/items/pair/1', { token: person.token, body: { kind: 'b' } });
      expect(body.errors[0].extensions).to.include({ collection: 'pair', field: 'kind' });
      const whole = await admin('POST', '/items/pair', { kind: 'a', secret: 's3cret' });
      expect(whole.body.errors[0].extensions).to.include({ field: 'kind, secret' });
    });
  });

  it('a write to a table with rules that write further rows is refused, and nothing is written', async () => {
    for (const [method, path, body] of [
      ['POST', '/items/ruled', { name: 'two' }],
      ['POST', '/items/ruled', [{ name: 'two' }, { name: 'three' }]],
      ['PATCH', '/items/ruled/1', { name: 'two' }],
      ['DELETE', '/items/ruled/1', undefined],
    ] as const) {
      const reply = await admin(method, path, body);
      expect([reply.status, reply.body.errors[0].extensions.code], method).to.deep.equal([422, 'UNPROCESSABLE_ENTITY']);
      expect(reply.body.errors[0].message).to.include('ruled has rules');
    }
    expect((await admin('GET', '/items/ruled')).body.data).to.deep.equal([{ id: 1, name: 'one' }]);
    const kept = await database.query(`select 1 from ruled_log union all
      select 1 from platform_activity where collection = 'ruled'`);
    expect(kept).to.deep.equal([]);
  });

  it('a key that also exists in an inheriting table changes neither row', async () => {
    const names = () => database.query('select name from general order by name');
    const replies = [
      await admin('PATCH', '/items/general/1', { name: 'two' }),
      await admin('PATCH', '/items/general', { keys: [1], data: { name: 'two' } }),
    ];
    expect(replies.map(({ status }) => status)).to.deep.equal([403, 403]);
    expect(await names()).to.deep.equal([{ name: 'one' }, { name: 'one' }]);
    const noted = await database.query(`select from platform_activity where collection = 'general'`);
    expect(noted).to.have.length(0);
  });

  it('rows whose JSON jsonb refuses can be updated, deleted and read, and their revisions hold it as text', async () => {
    const values = async () => database.query('select id, j::text as j from odd_json order by id');
    const before = await values();
    for (const { id } of before as { id: number }[]) {
      expect((await admin('PATCH', `/items/odd_json/${id}`, { name: `row ${id}` })).status).to.equal(200);
    }
    expect(await values()).to.deep.equal(before);
    const { body } = await admin('GET', '/revisions?filter[collection][_eq]=odd_json&sort=item&fields=data,delta');
    expect(body.data.map(({ delta }: { delta: object }) => delta)).to.deep.equal(
      [1, 2, 3, 4, 5].map((id) => ({ name: `row ${id}` })),
    );
    expect(body.data.map(({ data }: { data: { j: unknown } }) => data.j)).to.deep.equal([
      '{"a":"x\\u0000y"}',
      '["\\ud800"]',
      ['😀'],
      ['\\u0000'],
      [1, 2],
    ]);
    const found = await admin('GET', '/revisions?filter={"data":{"_json":{"name":{"_eq":"row 1"}}}}&fields=item');
    expect(found.body.data).to.deep.equal([{ item: '1' }]);
    const changed = await admin('PATCH', '/items/odd_json/5', { j: ['\ud800'] });
    expect([changed.status, changed.body.data.j]).to.deep.equal([200, ['\ud800']]);
    const counted = await admin('GET', '/items/odd_json?fields=id,count(j)&filter[count(j)][_eq]=1&sort=id');
    expect(counted.body.data.map(({ id }: { id: number }) => id)).to.deep.equal([3, 4]);
    expect((await admin('GET', '/items/odd_json?filter={"j":{"_json":{"a":{"_eq":"x"}}}}')).status).to.equal(200);
    expect((await admin('DELETE', '/items/odd_json', [1, 2, 5])).status).to.equal(204);
  });

  it('an array of JSON that jsonb refuses keeps no revision from filters by path', async () => {
    for (const id of [1, 2]) {
      const changed = await admin('PATCH', `/items/odd_lists/${id}`, { name: `row ${id}` });
      expect(changed.status, JSON.stringify(changed.body)).to.equal(200);
    }
    const found = async (name: string) => {
      const filter = JSON.stringify({ collection: { _eq: 'odd_lists' }, data: { _json: { name: { _eq: name } } } });
      return (await admin('GET', `/revisions?filter=${encodeURIComponent(filter)}&fields=data`)).body.data;
    };
    expect(await found('row 1')).to.deep.equal([{ data: { id: 1, name: 'row 1', l: '[{"a":"x\\u0000y"}]' } }]);
    expect(await found('row 2')).to.deep.equal([{ data: { id: 2, name: 'row 2', l: [{ a: 1 }] } }]);
  });

  it('NaN and infinity can be written as they were read', async () => {
    const { body } = await admin('GET', '/items/measured?sort=id');
    expect(body.data).to.deep.equal([
      { id: 1, double: 'Infinity', single: 'NaN' },
      { id: 2, double: '-Infinity', single: 1.5 },
    ]);
    expect((await admin('PATCH', '/items/measured', body.data)).body.data).to.deep.equal(body.data);
    expect((await admin('POST', '/items/measured', { double: 'infinite' })).status).to.equal(400);
  });

  it('a key with trailing blanks finds its row with and without them', async () => {
    for (const key of ['ab   ', 'ab']) {
      const path = `/items/lettered/${encodeURIComponent(key)}`;
      expect((await admin('GET', path)).body.data?.name, key).to.be.a('string');
      expect((await admin('PATCH', path, { name: `for ${key}.` })).body.data?.name, key).to.equal(`for ${key}.`);
      const nested = await admin('PATCH', '/items/lettered/cd', { above: { id: key, name: 'again' } });
      expect([nested.status, nested.body.data?.above], key).to.deep.equal([200, 'ab   ']);
    }
    expect(await database.query('select id, name from lettered order by id')).to.deep.equal([
      { id: 'ab   ', name: 'again' },
      { id: 'cd   ', name: 'two' },
    ]);
    expect((await admin('DELETE', '/items/lettered', ['cd   ', 'ab   '])).status).to.equal(204);
    expect(await database.query('select * from lettered')).to.deep.equal([]);
  });

  it('an XML export escapes names that are not XML names', async () => {
    const { body } = await admin('GET', '/items/named?export=xml');
    expect([...body.matchAll(/<([^/?>]+)>[1-4]</g)].map(([, name]: string[]) => name)).to.deep.equal([
      'id',
      '_1___',
      'a_b',
      '_-x',
      'ünï·',
    ]);
  });
});
