import { once } from 'node:events';
import { createConnection } from 'node:net';
import type { Duplex } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { createLog } from '../../kernel/log.ts';
import { createPostgresDriverPool } from '../../plugins/database/pool.ts';
import type { FreshDatabase } from '../support/database.ts';
import { processorTime } from '../support/processor-time.ts';
import { createMigratedDatabase, type InProcessService, startService } from '../support/service.ts';
import { createUserWithPermissions, requestAsAdmin } from './test-users.ts';

const Y63 = 'y'.repeat(63);

describe('hostile input', () => {
  let database: FreshDatabase;
  let service: InProcessService;
  before(async function () {
    this.timeout(120_000);
    database = await createMigratedDatabase('hostile_input');
    await database.query(`
      create table author (id serial primary key, name text not null, email text unique, boss int references author);
      create table article (id serial primary key, title text, day timestamptz, points int, author int references author);
      create table "we""ird ta.ble" (id serial primary key, "co""l" text, "~0" int, "sp ace" int, "?" int, "*" int, "a.b" int, "select" int, "constructor" int,
        r int, t2 int, j int, "${Y63}" int, "näme 💥" text, parent int references "we""ird ta.ble");
      create table constructor (id serial primary key, "__proto__" text);
      create table __proto__ (id serial primary key, name text);
      insert into author (name, boss, email) select 'author ' || i, nullif(i - 1, 0), 'a' || i from generate_series(1, 100) i;
      insert into article (title, day, points, author) select 'article ' || i, now(), i, 1 + i % 100 from generate_series(1, 500) i;
    `);
    service = await startService({ database });
    for (const [to, field, many, key] of [
      ['author', 'articles', 'article', 'author'],
      ['author', 'staff', 'author', 'boss'],
    ] as const) {
      await requestAsAdmin(service, 'POST', `/fields/${to}`, { field, type: 'alias', meta: { special: ['o2m'] } });
      await requestAsAdmin(service, 'PATCH', `/relations/${many}/${key}`, { meta: { one_field: field } });
    }
  });
  after(async () => {
    await service?.stop();
    await database?.drop();
  });

  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    service.request(method, path, { token: service.admin.token, body, headers });
  const outcome = async (method: string, path: string, body?: unknown) => {
    const reply = await send(method, path, body);
    return [reply.status, reply.body?.errors?.[0].extensions.code];
  };

  const deep = (part: string, end: string, levels: number) => part.repeat(levels) + end.repeat(levels);
  const many = (count: number, value: unknown) => Array.from({ length: count }, () => value);
  const aliases = Object.fromEntries(Array.from({ length: 1900 }, (_, at) => [`a${at}`, 'title']));
  /** Hostile queries and the expected status; 0 stands for 200 or 400. */
  const QUERIES: readonly [what: string, query: object, status: number][] = [
    ['a moment beyond the calendar', { filter: { day: { _gt: '$NOW(99999999999 years)' } } }, 0],
    ['a number of days without end', { filter: { day: { _gt: `$NOW(${'9'.repeat(400)} days)` } } }, 0],
    ['more nulls than parameters', { filter: { points: { _in: many(70_000, null) } } }, 400],
    ['more moments than parameters', { filter: { day: { _nin: many(70_000, '$NOW') } } }, 400],
    ['150,000 numbers', { filter: { points: { _in: many(150_000, 1) } }, limit: 1 }, 200],
    ['more columns than a statement has', { fields: Object.keys(aliases), alias: aliases, limit: 1 }, 400],
    ['a filter that is deep JSON text', { filter: deep('{"_and":[', ']}', 50_000) }, 400],
    ['a deep list as JSON text', { filter: deep('[', ']', 200_000) }, 400],
    ['a number of 100,000 digits', { filter: { points: '9'.repeat(100_000) } }, 0],
    ['a search for 100,000 digits', { search: '9'.repeat(100_000), limit: 1 }, 400],
    ['a search full of wildcards', { search: '%_\\'.repeat(600), limit: 1 }, 200],
    ['ten levels of everything on tables that lead to each other', { fields: '*.*.*.*.*.*.*.*.*.*' }, 400],
    [
      'a thousand aliases that each read below',
      {
        fields: Array.from({ length: 999 }, (_, at) => `a${at}.*`),
        alias: Object.fromEntries(many(999, 0).map((_, at) => [`a${at}`, 'author'])),
      },
      400,
    ],
  ];
  for (const [what, query, status] of QUERIES) {
    it(`${what}: ${status ? `answers ${status}` : 'no failure'}`, async () => {
      const started = processorTime();
      const reply = await send('SEARCH', '/items/article', { query });
      expect(reply.status, JSON.stringify(reply.body).slice(0, 300)).to.be.oneOf(status === 0 ? [200, 400] : [status]);
      if (reply.status === 400) expect(reply.body.errors[0].extensions.code).to.equal('INVALID_QUERY');
      expect(processorTime() - started).to.be.lessThan(5000);
    });
  }

  it('deeply nested JSON text in a filter of permissions is refused', async () => {
    expect(
      await outcome('SEARCH', '/permissions', { query: { filter: deep('{"_and":[', ']}', 50_000) } }),
    ).to.deep.equal([400, 'INVALID_QUERY']);
    expect(await outcome('SEARCH', '/permissions', { query: { filter: deep('[', ']', 200_000) } })).to.deep.equal([
      400,
      'INVALID_QUERY',
    ]);
  });

  it('a text too long for an index is refused', async () => {
    const email = Array.from({ length: 20_000 }, (_, at) => (at * 7919).toString(36)).join('');
    expect(await outcome('POST', '/items/author', { name: 'a', email })).to.deep.equal([400, 'INVALID_PAYLOAD']);
  });

  it('keys out of the range of their type answer like any missing key', async () => {
    for (const key of [
      '2147483648',
      '9223372036854775807',
      '99999999999999999999',
      '-2147483649',
      '1e3',
      '0x1',
      '1.0',
      ' 1',
      '%00',
      'NaN',
    ]) {
      for (const method of ['GET', 'PATCH', 'DELETE']) {
        const [status] = await outcome(
          method,
          `/items/article/${key}`,
          method === 'PATCH' ? { title: 'a' } : undefined,
        );
        expect([method, key, status]).to.deep.equal([method, key, key === '%00' ? 400 : 403]);
      }
    }
  });

  it('an invalid query of a write is refused before anything is written', async () => {
    const before = await database.query('select count(*) from author');
    for (const query of [
      'deep=[1]',
      'alias=x',
      'alias[a.b]=c',
      'fields=count(name)',
      'a=%00',
      'deep[staff][_limit]=-5',
      'a[b][c][d][e][f][g][h][i][j][k][l]=1',
    ]) {
      expect(await outcome('POST', `/items/author?${query}`, { name: 'never' }), query).to.deep.equal([
        400,
        'INVALID_QUERY',
      ]);
      expect(await outcome('PATCH', `/items/author/1?${query}`, { name: 'never' }), query).to.deep.equal([
        400,
        'INVALID_QUERY',
      ]);
      expect(
        await outcome('PATCH', `/items/author?${query}`, { keys: [1], data: { name: 'never' } }),
        query,
      ).to.deep.equal([400, 'INVALID_QUERY']);
    }
    expect(await database.query('select count(*) from author')).to.deep.equal(before);
    expect(await database.query("select id from author where name = 'never'")).to.deep.equal([]);
  });

  it('a foreign key violation does not name the referencing table', async () => {
    const { status, body } = await send('DELETE', '/items/author/1');
    expect([status, body.errors[0].extensions.code]).to.deep.equal([400, 'INVALID_FOREIGN_KEY']);
    expect(JSON.stringify(body)).not.to.include('article');
    expect(JSON.stringify(body)).not.to.include('_fkey');
  });

  it('tables and columns may have any name', async () => {
    const path = `/items/${encodeURIComponent('we"ird ta.ble')}`;
    const row = {
      'co"l': 'x',
      '~0': 3,
      'sp ace': 2,
      '?': 1,
      '*': 1,
      'a.b': 2,
      select: 3,
      constructor: 4,
      r: 5,
      t2: 6,
      j: 7,
      [Y63]: 8,
      'näme 💥': '💥',
    };
    const created = await send('POST', path, { ...row, parent: { ...row } });
    expect(created.status, JSON.stringify(created.body)).to.equal(200);
    expect(created.body.data).to.include(row);
    const query = {
      fields: ['*', 'parent.*'],
      sort: ['~0', 'co"l', 'select', 'sp ace', Y63, '-parent.r'],
      filter: { _and: Object.entries(row).map(([name, value]) => ({ [name]: { _eq: value } })) },
    };
    const found = await send('SEARCH', path, { query });
    expect(found.status, JSON.stringify(found.body)).to.equal(200);
    expect(found.body.data).to.have.length(2);
    for (const alias of ['r', 't1', 't2', 't3', 't4', 't5', 'j', '~0', '?', '"', 'key', 'at', '__proto__']) {
      const named = await send(
        'GET',
        `${path}?fields=${encodeURIComponent(alias)},parent.id&alias=${encodeURIComponent(JSON.stringify({ [alias]: 'id' }))}&limit=1`,
      );
      expect([alias, named.status]).to.deep.equal([alias, 200]);
    }
    for (const name of ['constructor', '__proto__']) expect((await send('GET', `/items/${name}`)).status).to.equal(200);
    for (const name of ['toString', 'hasOwnProperty', 'valueOf', '__defineGetter__']) {
      expect(await outcome('GET', `/items/${name}`)).to.deep.equal([404, 'ROUTE_NOT_FOUND']);
      expect(await outcome('GET', `/items/article?sort=${name}`)).to.deep.equal([403, 'FORBIDDEN']);
      expect((await send('GET', `/items/article?fields=${name},${name}.x&limit=1`)).body.data).to.deep.equal([{}]);
    }
  });

  it('a value that the driver cannot read (longer than any string) ends its own connection only', async () => {
    const log = createLog({ level: 'silent', style: 'raw' });
    const target = { client: { connectionString: database.url }, label: 'the test' };
    const pool = createPostgresDriverPool(target, { min: 0, max: 1, schemas: ['public'], statementTimeout: 0, log });
    try {
      const client = await pool.connect();
      const running = client.query('select pg_sleep(30)').catch((error: Error) => error.message);
      // Instead of half a gigabyte the driver receives a message of an unknown type, for which it throws in the same place.
      const { stream } = (client as unknown as { connection: { stream: Duplex } }).connection;
      stream.emit('data', Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 99]));
      expect(await running).to.match(/Unknown authenticationOk/);
      client.release();
      expect((await pool.query('select 1 as value')).rows).to.deep.equal([{ value: 1 }]);
    } finally {
      await pool.end();
    }
  });

  it('wildcards of LIKE in texts are plain characters', async () => {
    for (const [operator, value, count] of [
      ['_contains', '%', 0],
      ['_starts_with', '_rticle', 0],
      ['_contains', '\\', 0],
      ['_eq', 'article _', 0],
      ['_starts_with', 'article 1', 111],
    ] as const) {
      const { body } = await send('SEARCH', '/items/article', {
        query: { filter: { title: { [operator]: value } }, meta: 'filter_count', limit: 0 },
      });
      expect([operator, value, body.meta?.filter_count]).to.deep.equal([operator, value, count]);
    }
    expect((await send('GET', '/items/article?search=%25&limit=1')).body.data).to.deep.equal([]);
  });

  it('texts that would make regular expressions backtrack are answered quickly', async () => {
    const { token } = await createUserWithPermissions(service, [
      {
        collection: 'article',
        action: 'create',
        validation: {
          title: { _nin: ['a', 1], _neq: 5 },
          points: { _lt: 9, _between: [1, 5] },
          day: { _gt: '2020-01-01', _neq: '$NOW' },
        },
      },
      { collection: 'article', action: 'read' },
    ]);
    const size = 100_000;
    const texts = [
      `${'1'.repeat(size)}x`,
      `1.${'1'.repeat(size)}x`,
      `${'0'.repeat(size)}.`,
      `1${' '.repeat(size)}x`,
      `${' '.repeat(size)}x`,
      `2020-01-01${' '.repeat(size)}x`,
      `2020${'('.repeat(size)}`,
      `2020${'-1'.repeat(size / 2)}`,
      `$NOW(${' '.repeat(size)}x`,
      `$NOW(1${' '.repeat(size)}x`,
      `$NOW(${'1'.repeat(size)}`,
      `$CURRENT_USER${'.a'.repeat(size / 2)}!`,
      `${'\\'.repeat(size)}u0000`,
      `${'"'.repeat(size)}`,
      `${')'.repeat(size)}=(`,
      `${'a'.repeat(size)}@`,
      `1e${'9'.repeat(size)}`,
      `${'-'.repeat(size)}1`,
      '['.repeat(size),
      `${'a,'.repeat(size / 2)}`,
    ];
    for (const text of texts) {
      const bodies = [{ title: text }, { points: text }, { day: text }, { author: text }];
      const queries = [
        { filter: { title: text } },
        { filter: { points: text } },
        { filter: { day: { _gt: text } } },
        { filter: { points: { _in: text } } },
        { search: text },
        { sort: text },
        { fields: text },
        { filter: text },
      ];
      for (const request of [
        ...bodies.map((body) => ['POST', body] as const),
        ...queries.map((query) => ['SEARCH', { query }] as const),
      ]) {
        const [started, used] = [performance.now(), processorTime()];
        const reply = await service.request(request[0], '/items/article', { token, body: request[1] });
        expect(reply.status).to.be.below(500);
        const what = `${JSON.stringify(request).slice(0, 60)} ${text.slice(0, 20)}`;
        expect(processorTime() - used, what).to.be.lessThan(1500);
        // The elapsed time includes the evaluation in the database, unlike the processor time above.
        expect(performance.now() - started, what).to.be.lessThan(10_000);
      }
    }
  }).timeout(120_000);

  it('lists and objects where one value is expected are refused', async () => {
    for (const query of [
      'limit[]=1',
      'limit[a]=1',
      'limit=1&limit=2',
      'search[a]=b',
      'search=a&search=b',
      'offset[]=1',
      'page[x]=2',
      'meta[a][b]=c',
      'sort[a][b]=c',
      'fields[a][b]=c',
      'filter[]=1',
      'filter=[1]',
      'filter=1',
      'deep[]=1',
      'alias[]=a',
      'alias=1',
    ]) {
      const [status, code] = await outcome('GET', `/items/article?${query}`);
      expect([query, status]).to.deep.equal([
        query,
        query === 'limit[]=1' || query === 'fields[a][b]=c' ? status : 400,
      ]);
      if (status !== 200) expect(code).to.equal('INVALID_QUERY');
    }
  });

  it('compressed bodies are measured decompressed, and broken ones are refused', async () => {
    const bomb = gzipSync(Buffer.alloc(200_000_000, ' '));
    const before = process.memoryUsage().rss;
    const reply = await send('POST', '/items/author', bomb, { 'content-encoding': 'gzip' });
    expect([reply.status, reply.body.errors[0].extensions.code]).to.deep.equal([413, 'CONTENT_TOO_LARGE']);
    expect(process.memoryUsage().rss - before).to.be.lessThan(150_000_000);
    for (const [encoding, body] of [
      ['gzip', 'no gzip'],
      ['deflate', 'no deflate'],
      ['br', 'no brotli'],
      ['x-unknown', '{}'],
      ['gzip', bomb.subarray(0, 50)],
    ] as const) {
      const { status } = await send('POST', '/items/author', body, { 'content-encoding': encoding });
      expect([encoding, status]).to.deep.equal([encoding, status === 415 ? 415 : 400]);
    }
  });

  it('bodies of other types and encodings, or that are no text, are refused', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/xml',
      'x',
      '/',
      'application/json; charset=utf-16',
      'application/json; charset=x',
      'multipart/form-data; boundary=',
    ]) {
      const { status } = await send('POST', '/items/author', '{"name":1', { 'content-type': type });
      expect([type, status]).to.deep.equal([type, status === 415 ? 415 : 400]);
    }
    const { status } = await send(
      'POST',
      '/items/author',
      Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
    );
    expect(status).to.equal(400);
  });

  const raw = async (text: string, wait = 20_000): Promise<string> => {
    const socket = createConnection(Number(new URL(service.url).port), '127.0.0.1');
    let answer = '';
    socket
      .setEncoding('latin1')
      .on('data', (part) => (answer += part))
      .on('error', () => {});
    socket.write(text);
    const timer = setTimeout(() => socket.destroy(), wait);
    await once(socket, 'close');
    clearTimeout(timer);
    return answer;
  };
  const head = (line: string, ...more: string[]) =>
    [line, 'Host: x', 'Connection: close', ...more, '', ''].join('\r\n');

  it('malformed HTTP ends its connection only', async () => {
    const auth = `Authorization: Bearer ${service.admin.token}`;
    const requests: readonly [text: string, expected: RegExp][] = [
      [head('GET /items/article?limit=1\u0000 HTTP/1.1'), /^HTTP\/1.1 400/],
      [head('GET /items/%00 HTTP/1.1', auth), /^HTTP\/1.1 400/],
      [head('GET /items/article HTTP/1.1', 'X-A: a\u0000b'), /^HTTP\/1.1 400/],
      [head('GET //items//article HTTP/1.1', auth), /^HTTP\/1.1 40[34]/],
      [head('GET /../items/article HTTP/1.1', auth), /^HTTP\/1.1 404/],
      [head('GET http://elsewhere.example/items/article?limit=1 HTTP/1.1', auth), /^HTTP\/1.1 (200|40\d)/],
      [head('GET * HTTP/1.1'), /^HTTP\/1.1 40\d/],
      [head('OPTIONS * HTTP/1.1'), /^HTTP\/1.1 40\d/],
      [head(`GET /items/article?${'a'.repeat(30_000)} HTTP/1.1`), /^HTTP\/1.1 431/],
      [
        `${head(
          'POST /items/author HTTP/1.1',
          auth,
          'Content-Type: application/json',
          'Content-Length: 5',
          'Transfer-Encoding: chunked',
        )}0\r\n\r\n`,
        /^HTTP\/1.1 400/,
      ],
      [
        `${head(
          'POST /items/author HTTP/1.1',
          auth,
          'Content-Type: application/json',
          'Content-Length: 5',
          'Content-Length: 6',
        )}{"a":1`,
        /^HTTP\/1.1 400/,
      ],
      [
        `${head('POST /items/author HTTP/1.1', auth, 'Content-Type: application/json', 'Content-Length: -1')}{}`,
        /^HTTP\/1.1 400/,
      ],
      [
        head('POST /items/author HTTP/1.1', auth, 'Content-Type: application/json', 'Transfer-Encoding: chunked') +
          'zz\r\n{}\r\n0\r\n\r\n',
        /^(HTTP\/1.1 400|$)/,
      ],
      [
        head('POST /items/author HTTP/1.1', auth, 'Content-Type: application/json', 'Transfer-Encoding: chunked') +
          '9\r\n{"name":1\r\n1\r\n}\r\n0\r\n\r\n',
        /^HTTP\/1.1 200/,
      ],
      [
        `${head(
          'PATCH /items/author/1 HTTP/1.1',
          auth,
          'Content-Type: application/json',
          'Transfer-Encoding: identity, chunked',
        )}0\r\n\r\n`,
        /^HTTP\/1.1 400/,
      ],
      [head('CONNECT elsewhere:80 HTTP/1.1'), /^(HTTP\/1.1 40\d|$)/],
      [head('NONSENSE / HTTP/1.1'), /^HTTP\/1.1 400/],
      ['GET /nowhere\r\n\r\n', /^HTTP\/1.1 40[04]/],
    ];
    for (const [text, expected] of requests)
      expect(await raw(text), JSON.stringify(text.slice(0, 80))).to.match(expected);
    expect((await send('GET', '/server/ping')).body).to.equal('pong');
  });

  it('a body that never ends or is cut off writes nothing', async () => {
    const auth = `Authorization: Bearer ${service.admin.token}`;
    const before = await database.query('select count(*) from author');
    const start = head('POST /items/author HTTP/1.1', auth, 'Content-Type: application/json', 'Content-Length: 1000');
    await raw(`${start}[{"name":"never"},`, 200);
    const endless = head(
      'POST /items/author HTTP/1.1',
      auth,
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
    );
    expect(await raw(`${endless}${`10000\r\n${' '.repeat(0x10000)}\r\n`.repeat(20)}`)).to.match(/^HTTP\/1.1 413/);
    expect(await database.query('select count(*) from author')).to.deep.equal(before);
    expect((await send('GET', '/server/ping')).body).to.equal('pong');
  });
});
