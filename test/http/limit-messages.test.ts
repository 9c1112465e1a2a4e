import { expect } from 'chai';
import type { FreshDatabase } from '../support/database.ts';
import { createMigratedDatabase, type HttpReply, type InProcessService, startService } from '../support/service.ts';

const LONG = 'x'.repeat(3000);

describe('errors of requests above a limit', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  before(async () => {
    database = await createMigratedDatabase('limit_messages');
    await database.query(`
      create table thing (id serial primary key, name varchar(5), price numeric(4, 2), small smallint, doc jsonb);
      insert into thing (name) values ('a'), ('b'), ('c');
    `);
    service = await startService({
      database,
      env: {
        QUERY_LIMIT_MAX: '5',
        QUERY_MAX_NODES: '40',
        MAX_BATCH_MUTATION: '2',
        MAX_PAYLOAD_SIZE: '20kb',
        QUERYSTRING_PARAMETER_LIMIT: '4',
        QUERYSTRING_MAX_PARSE_DEPTH: '3',
        GRAPHQL_MAX_ALIASES: '1',
        GRAPHQL_MAX_ROOT_FIELDS: '2',
        GRAPHQL_QUERY_TOKEN_LIMIT: '100',
        FILES_MAX_UPLOAD_SIZE: '20',
        TUS_ENABLED: 'true',
      },
    });
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  const send = (method: string, path: string, body?: unknown) =>
    service.request(method, path, { token: service.admin.token, body });
  const graphql = (query: string) => send('POST', '/graphql', { query });
  const form = (...files: readonly string[]) => {
    const data = new FormData();
    for (const [at, text] of files.entries())
      data.append('file', new File([text], `${at}.txt`, { type: 'text/plain' }));
    return data;
  };
  const names = (count: number) => Array.from({ length: count }, (_, at) => `n${at}`);

  const CASES: readonly [what: string, request: () => Promise<HttpReply>, size: string, limit: string][] = [
    ['a "limit" above QUERY_LIMIT_MAX', () => send('GET', '/items/thing?limit=6'), 'is 6', '5 allowed'],
    [
      'a search term that is too long',
      () => send('SEARCH', '/items/thing', { query: { search: LONG } }),
      '3000 characters',
      '2000 allowed',
    ],
    [
      'an alias that is too long',
      () => send('GET', `/items/thing?alias[${'y'.repeat(70)}]=id`),
      '70 bytes',
      '63 allowed',
    ],
    [
      'too many entries in "fields"',
      () => send('SEARCH', '/items/thing', { query: { fields: Array(2001).fill('id') } }),
      '2001 entries',
      '2000 allowed',
    ],
    [
      'too many parts of a query',
      () => send('SEARCH', '/items/thing', { query: { sort: Array(50).fill('id') } }),
      '',
      '40 parts',
    ],
    [
      'too many query parameters',
      () => send('GET', '/items/thing?a=1&b=2&c=3&d=4&e=5&f=%20'),
      '6 parameters',
      '4 allowed',
    ],
    [
      'brackets that are nested too deep',
      () => send('GET', '/items/thing?filter[a][b][c][d][e]=1'),
      'brackets',
      '3 allowed',
    ],
    [
      'a body that is too large',
      () => send('POST', '/items/thing', { name: 'z'.repeat(30_000) }),
      '30011 bytes',
      '20480 allowed',
    ],
    [
      'a JSON path with too many levels',
      () => send('GET', `/items/thing?fields=json(doc, ${names(11).join('.')})`),
      '11 levels',
      '10 allowed',
    ],
    ['too many created rows', () => send('POST', '/items/thing', [{}, {}, {}]), '3 rows', '2 allowed'],
    [
      'too many rows that are changed by key',
      () => send('PATCH', '/items/thing', { keys: [1, 2, 3], data: {} }),
      '3 rows',
      '2 allowed',
    ],
    [
      'a text longer than its column',
      () => send('POST', '/items/thing', { name: 'abcdefgh' }),
      '8 characters',
      '5 allowed',
    ],
    [
      'a decimal with too many digits',
      () => send('POST', '/items/thing', { price: 1234.5 }),
      'out of range',
      '4 digits',
    ],
    [
      'an integer out of the range of its column',
      () => send('POST', '/items/thing', { small: 70_000 }),
      'out of range',
      '32767',
    ],
    ['too many GraphQL aliases', () => graphql('{ a: thing { id } b: thing { id } }'), '2 aliases', '1 allowed'],
    [
      'too many GraphQL root fields',
      () => graphql('{ thing { id } thing_by_id(id: 1) { id } __typename thing_aggregated { countAll } }'),
      '3 root fields',
      '2 allowed',
    ],
    ['too many GraphQL tokens', () => graphql(`{ thing { ${'id '.repeat(200)} } }`), '', '100 tokens'],
    [
      'GraphQL braces that are nested too deep',
      () => graphql(`{ ${'a { '.repeat(40)} id ${'} '.repeat(40)} }`),
      '',
      '100 tokens',
    ],
    ['too many GraphQL fields', () => graphql(`{ thing { ${'id '.repeat(45)} } }`), '46 fields', '40 allowed'],
    ['a file that is too large', () => send('POST', '/files', form('y'.repeat(30))), '', '20 bytes'],
    ['a resumable upload that is too large', () => tus(30), '30 bytes', '20 allowed'],
  ];
  const tus = (length: number) =>
    service.request('POST', '/files/tus', {
      token: service.admin.token,
      headers: {
        'tus-resumable': '1.0.0',
        'upload-length': String(length),
        'upload-metadata': `filename_download ${btoa('a.txt')}`,
      },
    });
  for (const [what, request, size, limit] of CASES) {
    it(`the error for ${what} names the size and the limit`, async () => {
      const { status, body } = await request();
      expect(status).to.be.within(400, 413);
      const [{ message }] = body.errors;
      expect(message).to.contain(size).and.to.contain(limit);
    });
  }
});
