import { expect } from 'chai';
import { type InProcessService, startService } from '../support/service.ts';
import { createUserWithPermissions, type TestUserWithToken } from './test-users.ts';

const SQL = `
  create type mood as enum ('glad', 'sad');
  create table places (id uuid primary key, name text);
  create table things (
    id serial primary key, code varchar(20), note text, size int, big bigint, price numeric(12,3), weight float8, small real,
    done boolean, born date, made timestamp, seen timestamptz, at time, host inet, feeling mood, raw bytea, fixed char(6),
    place uuid references places, above int references things, data jsonb
  );
  insert into places values ('0e984725-c51c-4bf4-9960-e1c80e27aba0', 'here'), ('1e984725-c51c-4bf4-9960-e1c80e27aba1', '7');
  insert into things (code, note, size, big, price, weight, small, done, born, made, seen, at, host, feeling, raw, fixed,
    place, above, data)
  select
    (array['7', 'a_c', 'a%c', '$x', '', null, 'NULL', 'true'])[1 + n % 8], 'note ' || n, n % 9, n * 1000000000000, n / 4.0,
    n / 4.0, n / 4.0, n % 2 = 0, date '2020-01-01' + n, timestamp '2020-01-01 10:00' + n * interval '1 hour',
    timestamptz '2020-01-01 10:00+00' + n * interval '1 hour', time '10:00' + n * interval '1 minute', '10.0.0.7',
    (array['glad', 'sad']::mood[])[1 + n % 2], decode('37', 'hex'), (n % 9)::text,
    (array['0e984725-c51c-4bf4-9960-e1c80e27aba0', '1e984725-c51c-4bf4-9960-e1c80e27aba1', null]::uuid[])[1 + n % 3],
    case when n > 3 then n - 3 end, '{"a": 7, "b": "7"}'
  from generate_series(1, 30) n;
`;

const WORDS = [
  '7', 'a_c', 'a%c', 'a\\c', 'note 1', 'NOTE 1', '$x', '$NOW', '$NOW(-7 days)', '$NOW(nonsense)', '$CURRENT_USER', '$CURRENT_ROLE',
  '$CURRENT_USER.email', '$CURRENT_USER.nothing', '', ' ', ' 7 ', 'null', 'NULL', 'true', 'false', '0', '1', '+7', '-7', '07',
  '7.0', '7.5', '.5', '5.', '1e2', '1e999', 'Infinity', 'NaN', '123456789012345678', '1234567890123456789',
  '9223372036854775807', '9223372036854775808', '99999999999999999999999', '2020-01-05', '2020-01-05T12:00:00',
  '2020-01-05T12:00:00Z', '2020-02-31', '2020', 'yesterday', '10:05', '10:05:00+02', '25:00', '10.0.0.7', 'glad', 'angry',
  '0e984725-c51c-4bf4-9960-e1c80e27aba0', '0E984725-C51C-4BF4-9960-E1C80E27ABA0', '0e984725-c51c-4bf4-9960', '7,8', '{}',
] as const; // biome-ignore format: a list

type VariableValue = string | number | boolean | null | readonly (string | number | boolean | null)[];

/** The values that each condition is tested with, by the GraphQL type of the variable. */
const VALUES: Readonly<Record<string, readonly VariableValue[]>> = {
  String: [...WORDS, null],
  ID: [...WORDS, 7, 0, null],
  StringOrFloat: [...WORDS, 7, 0, -7, 7.5, 1e21, 9007199254740991, null],
  BigInt: ['7', '-7', 7, '9223372036854775807', '9223372036854775808', '99999999999999999999999', null],
  Boolean: [true, false, null],
  // The document is invalid with any other text for an enum.
  mood_enum: ['glad', 'sad', '$CURRENT_USER', '$CURRENT_USER.email', '$CURRENT_USER.nothing', '$x', null],
};
const LISTS: readonly VariableValue[] = [
  ['7'], ['7', '8'], ['7', null], ['7', '$NOW'], ['$CURRENT_USER'], [], ['a', '7'], ['7', '9223372036854775808'], ['7.5', '1'], [''],
  ['2020-01-02', '2020-01-05'], ['0e984725-c51c-4bf4-9960-e1c80e27aba0', '1e984725-c51c-4bf4-9960-e1c80e27aba1'], null,
]; // biome-ignore format: a list

interface Question {
  readonly name: string;
  readonly type: string;
  readonly values: readonly VariableValue[];
  readonly filter: (value: string) => string;
}

const of = (field: string, operator: string, type: string, values = VALUES[type] ?? []): Question => ({
  name: `${field} ${operator}`,
  type,
  values,
  filter: (value) => `{ ${field}: { ${operator}: ${value} } }`,
});

/** Texts with characters that are special in LIKE, in dynamic values or in other types. */
const PARTS: readonly VariableValue[] = [
  '7', 'a_c', 'a%c', 'a\\c', 'note 1', 'NOTE 1', '$x', '$NOW(-7 days)', '$NOW(nonsense)', '$CURRENT_USER', '$CURRENT_USER.nothing',
  '', ' 7 ', 'null', 'true', '7.0', '9223372036854775808', '2020-01-05', '{}', null,
]; // biome-ignore format: a list

const TYPES: Readonly<Record<string, readonly string[]>> = {
  String: ['code', 'born', 'made', 'seen', 'at', 'host', 'raw', 'fixed'],
  mood_enum: ['feeling'],
  ID: ['id'],
  StringOrFloat: ['size', 'price', 'weight', 'small'],
  BigInt: ['big'],
  Boolean: ['done'],
};
const TEXTS = ['_ieq', '_contains', '_ncontains', '_icontains', '_starts_with', '_nends_with', '_iends_with'];

const QUESTIONS: readonly Question[] = [
  ...Object.entries(TYPES).flatMap(([type, fields]) => fields.map((field) => of(field, '_eq', type))),
  ...['code', 'size', 'at'].map((field) => of(field, '_neq', field === 'size' ? 'StringOrFloat' : 'String')),
  ...['size', 'price'].map((field) => of(field, '_gte', 'StringOrFloat')),
  ...['born', 'seen'].map((field) => of(field, '_gt', 'String')),
  ...TEXTS.map((operator) => of('code', operator, 'String', PARTS)),
  of('note', '_eq', 'String', PARTS),
  ...['feeling', 'raw', 'fixed'].map((field) => of(field, '_ncontains', 'String', PARTS)),
  ...['code', 'born', 'host'].flatMap((field) => [
    of(field, '_in', '[String]', LISTS),
    of(field, '_nin', '[String]', LISTS),
  ]),
  ...['size', 'price', 'weight'].flatMap((field) => [
    of(field, '_in', '[StringOrFloat]', LISTS),
    of(field, '_nin', '[StringOrFloat]', LISTS),
    of(field, '_between', '[StringOrFloat]', LISTS),
  ]),
  of('id', '_in', '[ID]', LISTS),
  ...['[mood_enum]', '[String]'].map((type) =>
    of('feeling', '_nin', type, [['glad'], ['glad', 'sad'], ['sad', null], [], ['$CURRENT_USER.email', 'sad'], null]),
  ),
  of('done', '_null', 'Boolean'),
  ...['_nbetween', '_nin'].map((operator) => ({
    name: `size ${operator} [value, 20]`,
    type: 'StringOrFloat',
    values: VALUES.StringOrFloat as readonly VariableValue[],
    filter: (value: string) => `{ size: { ${operator}: [${value}, 20] } }`,
  })),
  {
    name: 'through a relation, a function and another condition',
    type: 'ID',
    values: VALUES.ID as readonly VariableValue[],
    filter: (value) =>
      `{ _or: [{ place: { id: { _eq: ${value} } } }, { above: { above: { id: { _neq: ${value} } } } }] }`,
  },
  {
    name: 'a function',
    type: 'StringOrFloat',
    values: VALUES.StringOrFloat as readonly VariableValue[],
    filter: (value) => `{ born_func: { day: { _lte: ${value} } } }`,
  },
  {
    name: 'inside JSON',
    type: 'JSON',
    values: ['7', 7, 'x', null, true],
    filter: (value) => `{ data: { _json: { a: { _eq: ${value} } } } }`,
  },
];

const literal = (value: VariableValue): string => JSON.stringify(value);

describe('/graphql: values in conditions', function () {
  this.timeout(120_000);
  let service: InProcessService;
  let person: TestUserWithToken;
  before(async () => {
    service = await startService();
    await service.database.query(SQL);
    person = await createUserWithPermissions(service, [
      { collection: 'things', action: 'read', permissions: { size: { _neq: 3 } } },
      { collection: 'places', action: 'read' },
    ]);
  });
  after(() => service?.stop());

  async function ask(token: string, query: string, variables: Record<string, VariableValue> = {}): Promise<unknown> {
    const { status, body } = await service.request('POST', '/graphql', { token, body: { query, variables } });
    // Compares without error locations, which differ between documents, and without times, which differ between requests.
    const reply = JSON.stringify(body, (key, value) => (key === 'locations' ? undefined : value));
    return { status, reply: reply.replaceAll(/\d{4}(-\d\d){2}T[\d:.]+Z/g, '<now>') };
  }

  for (const { name, type, values, filter } of QUESTIONS) {
    it(`${name}: a variable selects the same rows as the literal`, async () => {
      const document = `query ($value: ${type}) { things(sort: "id", filter: ${filter('$value')}) { id above { id } } }`;
      const askByLiteral = (token: string, value: VariableValue) =>
        ask(token, `{ things(sort: "id", filter: ${filter(literal(value))}) { id above { id } } }`);
      const compare = async (token: string, value: VariableValue, expected: unknown) => {
        const actual = await ask(token, document, { value });
        expect(actual, `${name} ${literal(value)}`).to.deep.equal(expected);
      };
      const { token } = service.admin;
      const pairs: { readonly value: VariableValue; readonly expected: unknown }[] = [];
      for (const value of values) {
        const expected = await askByLiteral(token, value);
        pairs.push({ value, expected });
        await compare(token, value, expected);
      }
      // Again in reverse order, so that values run statements that were compiled for other values.
      for (const { value, expected } of pairs.toReversed().filter((_, at) => at % 2 === 0))
        await compare(token, value, expected);
      for (const value of values.filter((_, at) => at % 5 === 0))
        await compare(person.token, value, await askByLiteral(person.token, value));
    });
  }
});
