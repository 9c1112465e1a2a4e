import { expect } from 'chai';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type HttpReply, type InProcessService, startService } from '../support/service.ts';
import { createUserWithPermissions, requestAsAdmin } from './test-users.ts';

const refusal = ({ status, body }: HttpReply) => [status, body?.errors?.[0]?.extensions?.code];
const INVALID = [400, 'INVALID_PAYLOAD'];
const ABSENT = [404, 'ROUTE_NOT_FOUND'];
const MASK = '**********';
// biome-ignore lint/suspicious/noExplicitAny: records of several kinds
const names = (rows: any[], key: string): string[] => rows.map((row) => row[key]);

describe('/fields', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  before(async () => {
    database = await createMigratedDatabase('sdk_fields');
    await database.query(`
      create type mood as enum ('sad', 'happy');
      create table old (id int generated always as identity primary key, name varchar(10) not null, mood mood,
        tags text[], doc tsvector, twice int generated always as (char_length(name) * 2) stored, price numeric(8, 2) default -1.5);
    `);
    service = await startService({ database });
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  const send = (method: string, path: string, body?: unknown, token: string | null = service.admin.token) =>
    service.request(method, path, { token, body });
  const admin = (method: string, path: string, body?: unknown) => requestAsAdmin(service, method, path, body);
  let created = 0;
  /** Creates a collection with a new name, and answers the name. */
  const table = async (fields: unknown[] = [], meta: object = {}): Promise<string> => {
    const collection = `t${++created}`;
    await admin('POST', '/collections', { collection, schema: {}, meta, fields });
    return collection;
  };

  describe('field types', () => {
    const uuid = '7b3c2d86-7f0e-4a57-9d0f-36dff5b4a7a9';
    for (const [type, input, read, dataType, schema] of [
      ['string', 'Ünï', 'Ünï', 'character varying', { max_length: 255 }],
      ['text', 'x'.repeat(5000), 'x'.repeat(5000), 'text', { max_length: null }],
      ['integer', -2147483648, -2147483648, 'integer', {}],
      ['bigInteger', '9007199254740993', '9007199254740993', 'bigint', {}],
      ['float', 1.5, 1.5, 'real', {}],
      ['decimal', '12345.678', '12345.67800', 'numeric', { numeric_precision: 10, numeric_scale: 5 }],
      ['boolean', false, false, 'boolean', {}],
      ['date', '2024-02-29', '2024-02-29', 'date', {}],
      ['dateTime', '2024-02-29T12:34:56', '2024-02-29T12:34:56', 'timestamp without time zone', {}],
      ['timestamp', '2024-02-29T12:34:56.789+02:00', '2024-02-29T10:34:56.789Z', 'timestamp with time zone', {}],
      ['time', '12:34:56', '12:34:56', 'time without time zone', {}],
      ['json', { a: [1, null, 'x'], b: { c: true } }, { a: [1, null, 'x'], b: { c: true } }, 'jsonb', {}],
      ['json', [1, 2], [1, 2], 'jsonb', {}],
      ['json', 'text', 'text', 'jsonb', {}],
      ['csv', ['a', 'b'], ['a', 'b'], 'text', {}],
      ['hash', 'secret', MASK, 'character varying', { max_length: 255 }],
      ['uuid', uuid.toUpperCase(), uuid, 'uuid', {}],
    ] as const) {
      it(`a field of type ${type} is created, written as ${JSON.stringify(input).slice(0, 40)}, read and set to null`, async () => {
        const name = await table();
        const field = await admin('POST', `/fields/${name}`, { field: 'value', type });
        expect(field).to.deep.include({ collection: name, field: 'value', type });
        expect(field.schema).to.include({
          name: 'value',
          table: name,
          data_type: dataType,
          is_nullable: true,
          is_unique: false,
          is_indexed: false,
          is_primary_key: false,
          is_generated: false,
          has_auto_increment: false,
          default_value: null,
          ...schema,
        });
        expect(await admin('GET', `/fields/${name}/value`)).to.deep.equal(field);
        expect(await admin('POST', `/items/${name}`, { value: input })).to.deep.equal({ id: 1, value: read });
        expect(await admin('GET', `/items/${name}/1`)).to.deep.equal({ id: 1, value: read });
        expect(await admin('GET', `/items/${name}?filter[value][_nnull]=true`)).to.deep.equal([{ id: 1, value: read }]);
        expect(await admin('PATCH', `/items/${name}/1`, { value: null })).to.deep.equal({ id: 1, value: null });
        expect(await admin('GET', `/items/${name}?filter[value][_null]=true&fields=id`)).to.deep.equal([{ id: 1 }]);
      });
    }

    it('a hash field stores the Argon2id hash of the text, never the text', async () => {
      const name = await table([{ field: 'pass', type: 'hash' }]);
      await admin('POST', `/items/${name}`, { pass: 'secret' });
      const [row] = await database.query<{ pass: string }>(`select pass from ${name}`);
      expect(row?.pass).to.match(/^\$argon2id\$/);
    });

    it('a binary field stores bytes', async () => {
      const name = await table([{ field: 'bytes', type: 'binary' }]);
      expect((await admin('GET', `/fields/${name}/bytes`)).schema.data_type).to.equal('bytea');
      expect((await send('GET', `/items/${name}`)).status).to.equal(200);
    });

    it('a geometry field without PostGIS is rejected with an error that names PostGIS', async () => {
      const name = await table();
      const has = await database.query(`select 1 from pg_extension where extname = 'postgis'`);
      for (const type of ['geometry', 'geometry.Point', 'geometry.MultiPolygon']) {
        const reply = await send('POST', `/fields/${name}`, { field: type.replace('.', '_'), type });
        if (has.length === 0) expect(refusal(reply), type).to.deep.equal(INVALID);
        else expect(reply.status).to.equal(200);
      }
    });

    it('a value that does not fit the type is rejected, and nothing is written', async () => {
      const types = [
        'integer',
        'bigInteger',
        'float',
        'decimal',
        'boolean',
        'date',
        'dateTime',
        'timestamp',
        'time',
        'uuid',
      ];
      const name = await table(types.map((type) => ({ field: type, type })));
      for (const type of types) {
        const reply = await send('POST', `/items/${name}`, { [type]: 'nonsense' });
        expect(reply.status, `${type} ${JSON.stringify(reply.body)}`).to.equal(400);
        expect(['INVALID_PAYLOAD', 'FAILED_VALIDATION'], type).to.include(reply.body.errors[0].extensions.code);
      }
      for (const value of [2147483648, -2147483649, 1e20]) {
        const reply = await send('POST', `/items/${name}`, { integer: value });
        expect(reply.status, String(value)).to.equal(400);
        expect(['VALUE_OUT_OF_RANGE', 'FAILED_VALIDATION'], String(value)).to.include(
          reply.body.errors[0].extensions.code,
        );
      }
      const long = await table([{ field: 'short', type: 'string', schema: { max_length: 3 } }]);
      expect((await admin('POST', `/items/${long}`, { short: 'äöü' })).short).to.equal('äöü');
      const reply = await send('POST', `/items/${long}`, { short: 'abcd' });
      expect(reply.body.errors[0].extensions).to.include({ code: 'VALUE_TOO_LONG', collection: long, field: 'short' });
      expect(await admin('GET', `/items/${name}`)).to.deep.equal([]);
    });

    it('a field beside the primary key may be auto-increment', async () => {
      const name = await table();
      const field = await admin('POST', `/fields/${name}`, {
        field: 'n',
        type: 'integer',
        schema: { has_auto_increment: true },
      });
      expect(field.schema.has_auto_increment).to.equal(true);
      expect(await admin('POST', `/items/${name}`, [{}, {}])).to.deep.equal([
        { id: 1, n: 1 },
        { id: 2, n: 2 },
      ]);
    });

    it('a decimal field has precision and scale', async () => {
      const name = await table([
        { field: 'money', type: 'decimal', schema: { numeric_precision: 6, numeric_scale: 2 } },
      ]);
      expect((await admin('GET', `/fields/${name}/money`)).schema).to.include({
        numeric_precision: 6,
        numeric_scale: 2,
      });
      expect((await admin('POST', `/items/${name}`, { money: 12.5 })).money).to.equal('12.50');
      expect((await send('POST', `/items/${name}`, { money: 123456 })).body.errors[0].extensions.code).to.equal(
        'VALUE_OUT_OF_RANGE',
      );
    });
  });

  describe('/fields of an existing table', () => {
    it('the records have types, generated columns and enum values', async () => {
      const fields = await admin('GET', '/fields/old');
      expect(fields.map((one: Record<string, unknown>) => [one.field, one.type, one.meta === null])).to.deep.equal([
        ['id', 'integer', true],
        ['name', 'string', true],
        ['mood', 'string', false],
        ['tags', 'json', true],
        ['doc', 'unknown', true],
        ['twice', 'integer', true],
        ['price', 'decimal', true],
      ]);
      const by = (name: string) => fields.find((one: { field: string }) => one.field === name).schema;
      expect(by('id')).to.include({ has_auto_increment: true, is_primary_key: true });
      expect(by('name')).to.include({ max_length: 10, is_nullable: false });
      expect(by('twice')).to.include({ is_generated: true });
      expect(by('twice').generation_expression).to.be.a('string');
      expect(by('mood').enum_values).to.deep.equal(['sad', 'happy']);
      expect(by('price')).to.include({ default_value: '-1.5', numeric_precision: 8, numeric_scale: 2 });
      expect(await admin('POST', '/items/old', { name: 'abc', mood: 'happy', tags: ['a'] })).to.deep.equal({
        id: 1,
        name: 'abc',
        mood: 'happy',
        tags: ['a'],
        twice: 6,
        price: '-1.50',
      });
      expect(refusal(await send('POST', '/items/old', { name: 'a', mood: 'other' }))).to.deep.equal(INVALID);
    });

    it('a field of an existing table can be registered and unregistered, and not renamed', async () => {
      const field = await admin('PATCH', '/fields/old/name', { meta: { note: 'n', interface: 'input' } });
      expect(field.meta).to.include({ note: 'n', interface: 'input', hidden: false });
      expect((await admin('PATCH', '/fields/old/name', { meta: null })).meta).to.equal(null);
      expect(refusal(await send('PATCH', '/fields/old/name', { field: 'other' }))).to.deep.equal(INVALID);
      expect(refusal(await send('PATCH', '/fields/old/twice', { schema: { default_value: 3 } }))).to.deep.equal(
        INVALID,
      );
    });
  });

  describe('POST /fields', () => {
    it('an impossible field is rejected with INVALID_PAYLOAD, and no column is created', async () => {
      const name = await table([{ field: 'there', type: 'string' }]);
      await admin('POST', `/items/${name}`, {});
      for (const [field, why] of [
        [{}, 'no name'],
        [{ field: '', type: 'string' }, 'empty'],
        [{ field: 'there', type: 'string' }, 'exists'],
        [{ field: 'id', type: 'string' }, 'exists'],
        [{ field: 'a', type: 'nonsense' }, 'no type'],
        [{ field: 'a' }, 'no type'],
        [{ field: 'a', type: 'unknown' }, 'not makeable'],
        [{ field: '__proto__', type: 'string' }, '__proto__'],
        [{ field: 'a.b', type: 'string' }, 'a dot'],
        [{ field: 'a', type: 'string', meta: { special: ['o2m'] } }, 'alias with a type'],
        [{ field: 'a', type: 'integer', schema: { is_primary_key: true } }, 'a second key'],
        [{ field: 'a', type: 'integer', schema: { default_value: 'x' } }, 'a default that does not fit'],
        [{ field: 'a', type: 'string', schema: 'x' }, 'schema no object'],
        [{ field: 'a', type: 'string', meta: [] }, 'meta no object'],
        [{ field: 'a', type: 'string', meta: { options: { a: 'x\u0000' } } }, 'NUL'],
        [[{ field: 'a', type: 'string' }], 'a list'],
      ] as const) {
        expect(refusal(await send('POST', `/fields/${name}`, field)), why).to.deep.equal(INVALID);
      }
      expect(names(await admin('GET', `/fields/${name}`), 'field')).to.deep.equal(['id', 'there']);
      const filled = await send('POST', `/fields/${name}`, {
        field: 'a',
        type: 'string',
        schema: { is_nullable: false },
      });
      expect(refusal(filled)).to.deep.equal([400, 'CONTAINS_NULL_VALUES']);
      expect(refusal(await send('POST', '/fields/nowhere', { field: 'a', type: 'string' }))).to.deep.equal(ABSENT);
      expect(
        await database.query('select 1 from platform_fields where collection = $1 and field = $2', [name, 'a']),
      ).to.deep.equal([]);
    });

    it('sort counts up inside a group', async () => {
      const name = await table([{ field: 'a', type: 'string' }]);
      const sort = async (field: string, meta: object) =>
        (await admin('POST', `/fields/${name}`, { field, type: 'string', meta })).meta.sort;
      expect(await sort('b', {})).to.equal(3);
      await admin('POST', `/fields/${name}`, {
        field: 'box',
        type: 'alias',
        meta: { special: ['alias', 'no-data', 'group'] },
      });
      expect(await sort('c', { group: 'box' })).to.equal(1);
      expect(await sort('d', { group: 'box' })).to.equal(2);
      expect(await sort('e', { sort: 40 })).to.equal(40);
    });

    it('every member of meta is stored as sent', async () => {
      const name = await table();
      const meta = {
        special: ['uuid', 'conceal'],
        interface: 'select',
        options: { choices: [{ text: 'A', value: 'a' }] },
        display: 'labels',
        display_options: { x: null },
        readonly: true,
        hidden: true,
        required: true,
        sort: 9,
        width: 'half',
        group: null,
        translations: [{ language: 'de-DE', translation: 'Feld' }],
        note: 'note',
        conditions: [{ name: 'c', rule: { a: { _eq: 1 } }, hidden: true }],
        validation: { value: { _nempty: true } },
        validation_message: 'fill it',
        searchable: false,
      };
      const field = await admin('POST', `/fields/${name}`, { field: 'value', type: 'string', meta });
      expect(field.meta).to.deep.include({ ...meta, collection: name, field: 'value' });
      expect(field.meta.id).to.be.a('number');
      expect(await admin('PATCH', `/fields/${name}/value`, field)).to.deep.equal(field);
      expect(await admin('PATCH', `/fields/${name}/value`, {})).to.deep.equal(field);
    });

    it('a default may be a literal, an expression or null', async () => {
      const name = await table();
      for (const [field, type, input, shown, read] of [
        ['a', 'string', "it's", "it's", "it's"],
        ['b', 'integer', 5, 5, 5],
        ['c', 'boolean', true, true, true],
        ['d', 'decimal', '1.5', '1.5', '1.50000'],
        ['e', 'json', { x: [1] }, { x: [1] }, { x: [1] }],
        ['f', 'csv', ['p', 'q'], ['p', 'q'], ['p', 'q']],
        ['g', 'date', '2024-01-01', '2024-01-01', '2024-01-01'],
        ['h', 'text', 'back\\slash \n line', 'back\\slash \n line', 'back\\slash \n line'],
        ['i', 'bigInteger', '9007199254740993', '9007199254740993', '9007199254740993'],
        ['j', 'string', 'now()', 'now()', 'now()'],
        ['k', 'integer', -3, -3, -3],
        ['l', 'string', '', '', ''],
        ['m', 'boolean', false, false, false],
        ['n', 'float', 1.25, 1.25, 1.25],
        ['o', 'time', '10:00:00', '10:00:00', '10:00:00'],
      ] as const) {
        const created = await admin('POST', `/fields/${name}`, {
          field,
          type,
          schema: { default_value: input, is_nullable: false },
        });
        expect(created.schema.default_value, field).to.deep.equal(shown);
        // A PATCH with the record that was read changes nothing.
        expect((await admin('PATCH', `/fields/${name}/${field}`, created)).schema, field).to.deep.equal(created.schema);
        expect((await admin('POST', `/items/${name}?fields=${field}`, {}))[field], field).to.deep.equal(read);
      }
      const now = await admin('POST', `/fields/${name}`, {
        field: 'z',
        type: 'timestamp',
        schema: { default_value: 'now()' },
      });
      expect(now.schema.default_value).to.match(/now\(\)|CURRENT_TIMESTAMP/);
      expect((await admin('POST', `/items/${name}?fields=z`, {})).z).to.match(/^\d{4}-.*Z$/);
      const changed = await admin('PATCH', `/fields/${name}/b`, { schema: { default_value: null } });
      expect(changed.schema.default_value).to.equal(null);
      expect((await send('POST', `/items/${name}`, {})).body.errors[0].extensions).to.include({
        code: 'FAILED_VALIDATION',
        field: 'b',
        type: 'required',
      });
    });

    it('is_unique and is_indexed create constraint and index', async () => {
      const name = await table();
      const field = await admin('POST', `/fields/${name}`, {
        field: 'code',
        type: 'string',
        schema: { is_unique: true, is_indexed: true },
      });
      expect(field.schema).to.include({ is_unique: true, is_indexed: true });
      await admin('POST', `/items/${name}`, { code: 'a' });
      expect((await send('POST', `/items/${name}`, { code: 'a' })).body.errors[0].extensions).to.include({
        code: 'RECORD_NOT_UNIQUE',
        collection: name,
        field: 'code',
      });
    });
  });

  describe('meta.special', () => {
    it('date and user flags fill and overwrite values', async () => {
      const special = (flag: string, type: string) => ({
        field: flag.replace('-', '_'),
        type,
        meta: { special: [flag] },
      });
      const name = await table([
        { field: 'name', type: 'string' },
        special('uuid', 'uuid'),
        special('date-created', 'timestamp'),
        special('date-updated', 'timestamp'),
        special('user-created', 'uuid'),
        special('user-updated', 'uuid'),
        special('role-created', 'uuid'),
        special('role-updated', 'uuid'),
      ]);
      const me = await admin('GET', '/users/me?fields=id,role');
      const one = await admin('POST', `/items/${name}`, {
        name: 'a',
        date_created: '2000-01-01T00:00:00Z',
        user_created: null,
      });
      expect(one.uuid).to.match(/^[0-9a-f-]{36}$/);
      expect(Date.parse(one.date_created)).to.be.greaterThan(Date.now() - 60_000);
      expect([one.user_created, one.role_created]).to.deep.equal([me.id, me.role]);
      expect([one.date_updated, one.user_updated, one.role_updated]).to.deep.equal([null, null, null]);
      const two = await admin('PATCH', `/items/${name}/1`, { name: 'b', user_updated: null });
      expect([two.user_updated, two.role_updated, two.date_created]).to.deep.equal([me.id, me.role, one.date_created]);
      expect(Date.parse(two.date_updated)).to.be.greaterThan(Date.now() - 60_000);
      const input = '7b3c2d86-7f0e-4a57-9d0f-36dff5b4a7a9';
      expect((await admin('POST', `/items/${name}`, { uuid: input })).uuid).to.equal(input);
    });

    it('conceal masks the value for every caller; filters by value and sorts are refused, and search does not find it', async () => {
      const name = await table([{ field: 'key', type: 'string', meta: { special: ['conceal'] } }]);
      await admin('POST', `/items/${name}`, [{ key: 'secret' }, {}]);
      expect(await admin('GET', `/items/${name}`)).to.deep.equal([
        { id: 1, key: MASK },
        { id: 2, key: null },
      ]);
      expect(await admin('GET', `/items/${name}?filter[key][_null]=true&fields=id`)).to.deep.equal([{ id: 2 }]);
      expect((await send('GET', `/items/${name}?filter[key][_eq]=secret`)).status).to.be.oneOf([400, 403]);
      expect((await send('GET', `/items/${name}?sort=key`)).status).to.be.oneOf([400, 403]);
      expect(await admin('GET', `/items/${name}?search=secret`)).to.deep.equal([]);
    });

    it('cast-json and cast-csv on text columns are read as json and csv', async () => {
      const name = await table([
        { field: 'j', type: 'text' },
        { field: 'c', type: 'string' },
      ]);
      expect((await admin('PATCH', `/fields/${name}/j`, { meta: { special: ['cast-json'] } })).type).to.equal('json');
      expect((await admin('PATCH', `/fields/${name}/c`, { meta: { special: ['cast-csv'] } })).type).to.equal('csv');
      expect(await admin('POST', `/items/${name}`, { j: { a: 1 }, c: ['x', 'y'] })).to.deep.equal({
        id: 1,
        j: { a: 1 },
        c: ['x', 'y'],
      });
      expect(await database.query(`select j, c from ${name}`)).to.deep.equal([{ j: '{"a":1}', c: 'x,y' }]);
    });

    it('meta.validation is enforced, and hidden, readonly and required are not', async () => {
      const name = await table([
        {
          field: 'v',
          type: 'string',
          meta: { validation: { v: { _starts_with: 'A' } }, validation_message: 'starts with A' },
        },
        { field: 'w', type: 'string', meta: { hidden: true, readonly: true, required: true } },
      ]);
      expect((await send('POST', `/items/${name}`, { v: 'b' })).body.errors[0].extensions).to.deep.include({
        code: 'FAILED_VALIDATION',
        field: 'v',
        type: 'starts_with',
        substring: 'A',
      });
      expect(await admin('POST', `/items/${name}`, { v: 'Ab' })).to.deep.equal({ id: 1, v: 'Ab', w: null });
      expect(await admin('PATCH', `/items/${name}/1`, { w: 'x' })).to.deep.equal({ id: 1, v: 'Ab', w: 'x' });
      expect((await send('PATCH', `/items/${name}/1`, { v: 'c' })).status).to.equal(400);
    });

    it('searchable false takes a field out of the search', async () => {
      const name = await table([
        { field: 'a', type: 'string' },
        { field: 'b', type: 'string', meta: { searchable: false } },
      ]);
      await admin('POST', `/items/${name}`, [{ a: 'needle' }, { b: 'needle' }]);
      expect(await admin('GET', `/items/${name}?search=needle&fields=id`)).to.deep.equal([{ id: 1 }]);
      await admin('PATCH', `/fields/${name}/b`, { meta: { searchable: true } });
      expect(await admin('GET', `/items/${name}?search=needle&fields=id`)).to.deep.equal([{ id: 1 }, { id: 2 }]);
    });

    it('a presentation field has no data', async () => {
      const name = await table();
      const field = await admin('POST', `/fields/${name}`, {
        field: 'line',
        type: 'alias',
        meta: { special: ['alias', 'no-data'], interface: 'presentation-divider' },
      });
      expect([field.type, field.schema]).to.deep.equal(['alias', null]);
      expect(await admin('POST', `/items/${name}`, {})).to.deep.equal({ id: 1 });
      expect((await send('GET', `/items/${name}?fields=*,line`)).status).to.equal(200);
      const plain = await admin('POST', `/fields/${name}`, { field: 'by_special', meta: { special: ['group'] } });
      expect([plain.type, plain.schema]).to.deep.equal(['alias', null]);
    });
  });

  describe('PATCH /fields', () => {
    it('is_nullable false is rejected while rows have null', async () => {
      const name = await table([{ field: 'a', type: 'string' }]);
      await admin('POST', `/items/${name}`, [{ a: 'x' }, { a: null }]);
      const reply = await send('PATCH', `/fields/${name}/a`, { schema: { is_nullable: false } });
      expect([reply.status, reply.body.errors[0].extensions]).to.deep.equal([
        400,
        { code: 'CONTAINS_NULL_VALUES', collection: name, field: 'a' },
      ]);
      await admin('PATCH', `/items/${name}/2`, { a: 'y' });
      expect(
        (await admin('PATCH', `/fields/${name}/a`, { schema: { is_nullable: false } })).schema.is_nullable,
      ).to.equal(false);
      expect((await send('POST', `/items/${name}`, {})).body.errors[0].extensions).to.include({
        code: 'FAILED_VALIDATION',
        type: 'required',
      });
      expect((await send('PATCH', `/items/${name}/1`, { a: null })).body.errors[0].extensions).to.include({
        code: 'FAILED_VALIDATION',
        type: 'nnull',
      });
      await admin('PATCH', `/fields/${name}/a`, { schema: { is_nullable: true } });
      expect((await admin('POST', `/items/${name}`, {})).a).to.equal(null);
    });

    it('is_unique and is_indexed can be set and unset', async () => {
      const name = await table([{ field: 'a', type: 'string' }]);
      await admin('POST', `/items/${name}`, [{ a: 'x' }, { a: 'x' }]);
      const doubled = await send('PATCH', `/fields/${name}/a`, { schema: { is_unique: true } });
      expect(refusal(doubled)).to.deep.equal([400, 'RECORD_NOT_UNIQUE']);
      await admin('DELETE', `/items/${name}`, [2]);
      const set = async (schema: object) => (await admin('PATCH', `/fields/${name}/a`, { schema })).schema;
      expect((await set({ is_unique: true })).is_unique).to.equal(true);
      expect((await set({ is_indexed: true })).is_indexed).to.equal(true);
      expect((await send('POST', `/items/${name}`, { a: 'x' })).status).to.equal(400);
      expect((await set({ is_unique: false })).is_unique).to.equal(false);
      expect((await set({ is_indexed: false })).is_indexed).to.equal(false);
      expect((await send('POST', `/items/${name}`, { a: 'x' })).status).to.equal(200);
      expect(await database.query(`select indexname from pg_indexes where tablename = $1`, [name])).to.have.length(1);
      expect(
        (await send('PATCH', `/fields/${name}/a?concurrentIndexCreation=true`, { schema: { is_indexed: true } }))
          .status,
      ).to.equal(200);
    });

    it('a change of type converts the values of the table', async () => {
      const name = await table([
        { field: 'a', type: 'string', schema: { default_value: '7' } },
        { field: 'b', type: 'integer' },
        { field: 'c', type: 'csv' },
        { field: 'd', type: 'string' },
      ]);
      await admin('POST', `/items/${name}`, [{ a: '1', b: 2, c: ['x', 'y'], d: 'abcdefgh' }]);
      const integer = await admin('PATCH', `/fields/${name}/a`, { type: 'integer' });
      expect([integer.type, integer.schema.data_type, integer.schema.default_value]).to.deep.equal([
        'integer',
        'integer',
        7,
      ]);
      expect((await admin('PATCH', `/fields/${name}/b`, { type: 'text' })).schema.data_type).to.equal('text');
      const text = await admin('PATCH', `/fields/${name}/c`, { type: 'text' });
      expect([text.type, text.meta.special]).to.deep.equal(['text', null]);
      expect(await admin('GET', `/items/${name}/1`)).to.deep.equal({ id: 1, a: 1, b: '2', c: 'x,y', d: 'abcdefgh' });
      const short = await send('PATCH', `/fields/${name}/d`, { schema: { max_length: 4 } });
      expect(refusal(short)).to.deep.equal([400, 'VALUE_TOO_LONG']);
      expect((await admin('PATCH', `/fields/${name}/d`, { schema: { max_length: 300 } })).schema.max_length).to.equal(
        300,
      );
      expect(refusal(await send('PATCH', `/fields/${name}/d`, { type: 'integer' }))).to.deep.equal(INVALID);
      expect((await admin('GET', `/fields/${name}/d`)).type).to.equal('string');
    });

    it('a change between alias and column, of the primary key, or of the name is rejected', async () => {
      const name = await table([
        { field: 'a', type: 'string' },
        { field: 'x', type: 'alias', meta: { special: ['alias', 'no-data'] } },
      ]);
      for (const [field, body] of [
        ['a', { type: 'alias' }],
        ['a', { meta: { special: ['o2m'] } }],
        ['x', { type: 'string' }],
        ['x', { meta: null }],
        ['x', { meta: { special: ['uuid'] } }],
        ['id', { schema: { is_nullable: true } }],
        ['id', { schema: { is_primary_key: false } }],
        ['a', { schema: { is_primary_key: true } }],
        ['a', { field: 'b' }],
        ['a', { type: 'nonsense' }],
      ] as const) {
        expect(refusal(await send('PATCH', `/fields/${name}/${field}`, body)), JSON.stringify(body)).to.deep.equal(
          INVALID,
        );
      }
      expect(refusal(await send('PATCH', `/fields/${name}/nothing`, { meta: {} }))).to.deep.equal(ABSENT);
      expect(refusal(await send('PATCH', '/fields/nowhere/a', { meta: {} }))).to.deep.equal(ABSENT);
    });

    it('a list changes all fields or none', async () => {
      const name = await table([
        { field: 'a', type: 'string' },
        { field: 'b', type: 'string' },
      ]);
      const rows = await admin('PATCH', `/fields/${name}`, [
        { field: 'a', meta: { sort: 2 } },
        { field: 'b', meta: { sort: 1 }, schema: { default_value: 'x' } },
      ]);
      expect(rows.map((one: { field: string; meta: { sort: number } }) => [one.field, one.meta.sort])).to.deep.equal([
        ['a', 2],
        ['b', 1],
      ]);
      const failed = await send('PATCH', `/fields/${name}`, [
        { field: 'a', meta: { sort: 9 } },
        { field: 'b', type: 'nonsense' },
      ]);
      expect(refusal(failed)).to.deep.equal(INVALID);
      expect((await admin('GET', `/fields/${name}/a`)).meta.sort).to.equal(2);
      expect(refusal(await send('PATCH', `/fields/${name}`, [{ meta: {} }]))).to.deep.equal(INVALID);
      expect(refusal(await send('PATCH', `/fields/${name}`, { field: 'a' }))).to.deep.equal(INVALID);
    });
  });

  describe('DELETE /fields', () => {
    it('every reference to the field is removed', async () => {
      const name = await table(
        [
          { field: 'a', type: 'string' },
          { field: 'b', type: 'string' },
          { field: 'rank', type: 'integer' },
          { field: 'status', type: 'string' },
          { field: 'box', type: 'alias', meta: { special: ['alias', 'no-data', 'group'] } },
          { field: 'inner', type: 'string', meta: { group: 'box' } },
        ],
        {
          sort_field: 'rank',
          archive_field: 'status',
          archive_value: 'old',
          unarchive_value: 'new',
          item_duplication_fields: ['a', 'b', 'status'],
        },
      );
      await admin('POST', `/items/${name}`, [
        { a: 'x', rank: 2 },
        { a: 'y', rank: 1 },
      ]);
      const { token, role } = await createUserWithPermissions(service, [
        {
          collection: name,
          action: 'read',
          fields: ['id', 'a', 'b'],
          permissions: { _or: [{ status: { _eq: 'x' } }, { a: { _eq: 'x' } }] },
        },
        {
          collection: name,
          action: 'create',
          fields: ['status'],
          presets: { status: 'p', a: 'q' },
          validation: { status: { _eq: 'p' } },
        },
        { collection: name, action: 'update', fields: ['*'], permissions: { status: { _null: true } } },
        { collection: name, action: 'delete', fields: ['*'], permissions: null },
      ]);
      const reply = await send('DELETE', `/fields/${name}/status`);
      expect([reply.status, reply.body]).to.deep.equal([204, undefined]);
      await admin('DELETE', `/fields/${name}/rank`);
      await admin('DELETE', `/fields/${name}/box`);
      const { meta } = await admin('GET', `/collections/${name}`);
      expect(meta).to.deep.include({ sort_field: null, archive_field: null, item_duplication_fields: ['a', 'b'] });
      expect((await admin('GET', `/fields/${name}/inner`)).meta.group).to.equal(null);
      expect(await admin('GET', `/items/${name}?fields=id`)).to.deep.equal([{ id: 1 }, { id: 2 }]);
      const rows = (await admin('GET', '/permissions')).filter((one: { role: string }) => one.role === role);
      const of = (action: string) => rows.find((one: { action: string }) => one.action === action);
      expect(of('create').fields).to.deep.equal([]);
      expect(of('create').presets).to.deep.equal({ a: 'q' });
      expect(JSON.stringify(rows)).not.to.include('status');
      // The permission allows no other rows than before, although a field of its rule is deleted.
      expect((await send('GET', `/items/${name}`, undefined, token)).body.data).to.deep.equal([
        { id: 1, a: 'x', b: null },
      ]);
      expect((await send('PATCH', `/items/${name}/1`, { a: 'z' }, token)).status).to.equal(403);
      await admin('DELETE', `/fields/${name}/b`);
      expect((await send('GET', `/items/${name}`, undefined, token)).body.data).to.deep.equal([{ id: 1, a: 'x' }]);
      await admin('DELETE', `/fields/${name}/a`);
      // The rule named only fields that are now deleted: the permission must allow no rows instead of all.
      expect((await send('GET', `/items/${name}`, undefined, token)).body.data ?? []).to.deep.equal([]);
    });

    it('a permission for this field only allows no field afterwards', async () => {
      const name = await table([{ field: 'only', type: 'string' }]);
      await admin('POST', `/items/${name}`, { only: 'x' });
      const { token, role } = await createUserWithPermissions(service, [
        { collection: name, action: 'read', fields: ['only'] },
      ]);
      await admin('DELETE', `/fields/${name}/only`);
      const row = (await admin('GET', '/permissions')).find((one: { role: string }) => one.role === role);
      expect(row.fields).to.deep.equal([]);
      expect(JSON.stringify((await send('GET', `/items/${name}`, undefined, token)).body)).not.to.include('"id"');
    });

    it('the primary key is rejected, and an unknown field is 404', async () => {
      const name = await table();
      expect(refusal(await send('DELETE', `/fields/${name}/id`))).to.deep.equal(INVALID);
      for (const path of [
        `/fields/${name}/nothing`,
        '/fields/nowhere/a',
        `/fields/${name}/__proto__`,
        `/fields/${name}/%00`,
      ]) {
        const got = await send('GET', path);
        const gone = await send('DELETE', path);
        expect([got.status, gone.status], path).to.satisfy((list: number[]) =>
          list.every((status) => status === 404 || (path.includes('%00') && status === 400)),
        );
      }
    });
  });

  describe('/fields of system collections', () => {
    it('a custom field of users can be created, written, filtered, granted and deleted', async () => {
      const field = await admin('POST', '/fields/platform_users', {
        field: 'badge',
        type: 'string',
        meta: { note: 'ours' },
        schema: { is_unique: true },
      });
      expect(field).to.deep.nested.include({
        collection: 'platform_users',
        'meta.note': 'ours',
        'schema.is_unique': true,
      });
      expect(field.meta.system).to.equal(undefined);
      const user = await admin('POST', '/users?fields=id,badge', { email: 'badge@example.com', badge: 'b-1' });
      expect(user.badge).to.equal('b-1');
      expect(await admin('GET', '/users?filter[badge][_eq]=b-1&fields=email')).to.deep.equal([
        { email: 'badge@example.com' },
      ]);
      expect((await admin('PATCH', `/users/${user.id}?fields=badge`, { badge: 'b-2' })).badge).to.equal('b-2');
      expect((await admin('GET', `/users/${user.id}`)).badge).to.equal('b-2');
      const { token } = await createUserWithPermissions(service, [
        { collection: 'platform_users', action: 'read', fields: ['badge'] },
      ]);
      expect((await send('GET', '/users?filter[badge][_nnull]=true', undefined, token)).body.data).to.deep.equal([
        { badge: 'b-2' },
      ]);
      await admin('PATCH', '/fields/platform_users/badge', { meta: { note: 'changed' } });
      expect((await send('DELETE', '/fields/platform_users/badge')).status).to.equal(204);
      expect(await admin('GET', `/users/${user.id}`)).not.to.have.property('badge');
      expect((await send('GET', '/users?filter[badge][_eq]=x')).status).to.be.oneOf([400, 403]);
    });

    it('a relation between users and a collection works in both directions', async () => {
      const name = await table([
        { field: 'owner', type: 'uuid' },
        { field: 'title', type: 'string' },
      ]);
      await admin('POST', '/fields/platform_users', { field: 'things', type: 'alias', meta: { special: ['o2m'] } });
      await admin('POST', '/relations', {
        collection: name,
        field: 'owner',
        related_collection: 'platform_users',
        meta: { one_field: 'things' },
      });
      const user = await admin('POST', '/users?fields=id,things.title', {
        email: 'things@example.com',
        things: [{ title: 'a' }],
      });
      expect(user.things).to.deep.equal([{ title: 'a' }]);
      expect(await admin('GET', `/items/${name}?fields=owner.email`)).to.deep.equal([
        { owner: { email: 'things@example.com' } },
      ]);
      await admin('DELETE', `/collections/${name}`);
      expect((await send('GET', '/fields/platform_users/things')).status).to.equal(404);
      expect((await admin('GET', `/users/${user.id}`)).id).to.equal(user.id);
    });

    it('a system field can only get an index', async () => {
      const email = await admin('GET', '/fields/platform_users/email');
      expect(email.meta.system).to.equal(true);
      for (const body of [
        { meta: { hidden: true } },
        { type: 'text' },
        { schema: { is_nullable: false } },
        { schema: { is_unique: false } },
      ]) {
        expect(refusal(await send('PATCH', '/fields/platform_users/email', body)), JSON.stringify(body)).to.deep.equal(
          INVALID,
        );
      }
      expect(refusal(await send('DELETE', '/fields/platform_users/email'))).to.deep.equal(INVALID);
      expect(refusal(await send('POST', '/fields/platform_users', { field: 'email', type: 'string' }))).to.deep.equal(
        INVALID,
      );
      const indexed = await admin('PATCH', '/fields/platform_users/last_access', { schema: { is_indexed: true } });
      expect(indexed.schema.is_indexed).to.equal(true);
      expect(
        (await admin('PATCH', '/fields/platform_users/last_access', { schema: { is_indexed: false } })).schema
          .is_indexed,
      ).to.equal(false);
    });
  });

  describe('GET /fields', () => {
    it('GET answers all fields, those of one collection, or one field, and query parameters have no effect', async () => {
      const all = await admin('GET', '/fields');
      expect(new Set(names(all, 'collection')))
        .to.include('platform_users')
        .and.to.include('old');
      expect(await admin('GET', '/fields?limit=1')).to.deep.equal(all);
      expect(await admin('GET', '/fields/old')).to.deep.equal(
        all.filter((one: { collection: string }) => one.collection === 'old'),
      );
      expect(Object.keys(await admin('GET', '/fields/old/name')).sort()).to.deep.equal([
        'collection',
        'field',
        'meta',
        'schema',
        'type',
      ]);
      for (const path of ['/fields/old/nothing', '/fields/nowhere', '/fields/nowhere/a', '/fields/platform_nowhere']) {
        expect(refusal(await send('GET', path)), path).to.deep.equal(ABSENT);
      }
    });
  });
});
