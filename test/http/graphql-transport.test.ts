import { expect } from 'chai';
import { type HttpReply, type InProcessService, type RequestOptions, startService } from '../support/service.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
const GRAPHQL_TYPE = 'application/graphql-response+json';
const MUTATION = 'mutation { create_posts_item(data: { title: "new" }) { title } }';

describe('/graphql: GraphQL over HTTP', function () {
  this.timeout(120_000);
  let service: InProcessService;
  before(async () => {
    service = await startService({
      env: { CORS_ENABLED: 'true', CORS_ORIGIN: 'https://app.example', MAX_PAYLOAD_SIZE: '100kb' },
    });
    await service.database.query(`create table posts (id serial primary key, title text not null, tags text[]);
      insert into posts (title, tags) values ('first', '{a,b}'), ('second', '{}')`);
  });
  after(() => service?.stop());

  const send = (method: string, path: string, options: RequestOptions = {}) =>
    service.request(method, path, { token: service.admin.token, ...options });
  const post = (body: unknown, headers: Record<string, string> = {}) => send('POST', '/graphql', { body, headers });
  const get = (params: Record<string, string>, headers: Record<string, string> = {}, method = 'GET') =>
    send(method, `/graphql?${new URLSearchParams(params)}`, { headers });
  const codeOf = ({ status, body }: HttpReply) => [status, body?.errors?.[0]?.extensions.code];
  const typeOf = ({ headers }: HttpReply) => headers.get('content-type');
  const TITLES = { data: { posts: [{ title: 'first' }, { title: 'second' }] } };
  const ASK = '{ posts(sort: ["id"], limit: 2) { title } }';

  describe('POST', () => {
    it('runs the operation of "operationName" with its variables', async () => {
      const query = 'query A($id: ID!) { posts_by_id(id: $id) { title } } query B { posts { id } }';
      const reply = await post({ query, variables: { id: 2 }, operationName: 'A' });
      expect([reply.status, reply.body]).to.deep.equal([200, { data: { posts_by_id: { title: 'second' } } }]);
      expect(typeOf(reply)).to.equal(JSON_TYPE);
    });

    it('treats null members and an empty "operationName" as missing', async () => {
      const nothing = { variables: null, operationName: null, extensions: null };
      expect((await post({ query: ASK, ...nothing })).body).to.deep.equal(TITLES);
      expect((await post({ query: ASK, operationName: '' })).body).to.deep.equal(TITLES);
      expect((await post({ query: ASK, extensions: { traced: true }, more: 1 })).body).to.deep.equal(TITLES);
    });

    it('names the invalid member of the body', async () => {
      for (const [body, member] of [
        [{}, 'query'],
        [{ query: null }, 'query'],
        [{ query: 1 }, 'query'],
        [{ query: [ASK] }, 'query'],
        [{ query: ASK, variables: '{}' }, 'variables'],
        [{ query: ASK, variables: [] }, 'variables'],
        [{ query: ASK, operationName: 1 }, 'operationName'],
        [{ query: ASK, extensions: 'x' }, 'extensions'],
      ] as const) {
        const reply = await post(body);
        expect(codeOf(reply), JSON.stringify(body)).to.deep.equal([400, 'INVALID_PAYLOAD']);
        expect(reply.body.errors[0].message).to.contain(`"${member}"`);
        expect(reply.body).not.to.have.property('data');
      }
    });

    it('refuses a list of requests', async () => {
      const reply = await post([{ query: ASK }, { query: ASK }]);
      expect(codeOf(reply)).to.deep.equal([400, 'INVALID_PAYLOAD']);
    });

    it('accepts only bodies whose Content-Type is JSON', async () => {
      const text = JSON.stringify({ query: ASK });
      for (const [type, status] of [
        ['application/json; charset=utf-8', 200],
        ['application/graphql+json', 200],
        ['text/plain', 415],
        ['application/graphql', 415],
        ['application/x-www-form-urlencoded', 415],
        ['multipart/form-data; boundary=x', 415],
      ] as const)
        expect((await post(text, { 'content-type': type })).status, type).to.equal(status);
      // A request without Content-Type is refused, since pages of other sites can send one without a CORS preflight.
      const untyped = await fetch(`${service.url}/graphql`, { method: 'POST', body: new Blob([text]) });
      expect([untyped.status, ((await untyped.json()) as HttpReply['body']).errors[0].extensions.code]).to.deep.equal([
        415,
        'UNSUPPORTED_MEDIA_TYPE',
      ]);
      expect(codeOf(await send('POST', '/graphql'))).to.deep.equal([400, 'INVALID_PAYLOAD']);
      expect(codeOf(await post('{'))).to.deep.equal([400, 'INVALID_PAYLOAD']);
      expect(codeOf(await post({ query: `${' '.repeat(110_000)}${ASK}` }))).to.deep.equal([413, 'CONTENT_TOO_LARGE']);
    });
  });

  describe('GET', () => {
    it('answers a query with variables as JSON', async () => {
      const query = 'query A($limit: Int) { posts(limit: $limit, sort: ["id"]) { title tags } }';
      const reply = await get({ query, variables: '{"limit":1}', operationName: 'A' });
      expect([reply.status, reply.body]).to.deep.equal([
        200,
        { data: { posts: [{ title: 'first', tags: ['a', 'b'] }] } },
      ]);
    });

    it('reads a document with brackets, ampersands and plus signs unchanged', async () => {
      const query =
        'query($f:posts_filter={_or:[{title:{_eq:"a&b=c+d"}},{title:{_eq:"first"}}]}){posts(filter:$f){title}}';
      const once = { data: { posts: [{ title: 'first' }] } };
      expect((await get({ query })).body).to.deep.equal(once);
      const sparing = query.replaceAll('&', '%26').replaceAll('+', '%2B').replaceAll('"', '%22');
      expect((await send('GET', `/graphql?query=${sparing}`)).body).to.deep.equal(once);
      const title = 'query($t:String){posts(filter:{title:{_eq:$t}}){title}}';
      expect((await get({ query: title, variables: '{"t":"first"}' })).body).to.deep.equal(once);
      expect((await send('GET', `/graphql?query={posts(sort:[%22id%22]){title}}`)).body).to.deep.equal(TITLES);
    });

    it('accepts a token in the query string', async () => {
      const path = `/graphql?${new URLSearchParams({ query: ASK, access_token: service.admin.token })}`;
      expect((await service.request('GET', path)).body).to.deep.equal(TITLES);
    });

    it('names the invalid query parameter', async () => {
      for (const [params, name] of [
        [{}, 'query'],
        [{ query: '' }, 'query'],
        [{ query: ASK, variables: '{' }, 'variables'],
        [{ query: ASK, variables: '[]' }, 'variables'],
        [{ query: ASK, variables: '1' }, 'variables'],
        [{ query: ASK, variables: '{"a":"\\u0000"}' }, 'variables'],
        [{ query: ASK, variables: `{"a":${'['.repeat(101)}${']'.repeat(101)}}` }, 'variables'],
        [{ query: ASK, extensions: 'x' }, 'extensions'],
      ] as [Record<string, string>, string][]) {
        const reply = await get(params);
        expect(codeOf(reply), JSON.stringify(params)).to.deep.equal([400, 'INVALID_PAYLOAD']);
        expect(reply.body.errors[0].message).to.contain(`"${name}"`);
      }
      const twice = await send('GET', '/graphql?query={__typename}&query={__typename}');
      expect(codeOf(twice)).to.deep.equal([400, 'INVALID_PAYLOAD']);
    });

    it('refuses a mutation with 405, by HEAD as well, and does not run it', async () => {
      for (const method of ['GET', 'HEAD']) {
        const reply = await get({ query: MUTATION }, {}, method);
        expect(reply.status).to.equal(405);
        expect(reply.headers.get('allow')).to.equal('POST');
        if (method === 'GET')
          expect(reply.body.errors[0].extensions).to.deep.include({ code: 'METHOD_NOT_ALLOWED', allow: ['POST'] });
      }
      const both = await get({
        query: `query A { __typename } ${MUTATION.replace('mutation', 'mutation B')}`,
        operationName: 'A',
      });
      expect(both.body).to.deep.equal({ data: { __typename: 'Query' } });
      expect((await post({ query: ASK.replace('limit: 2', 'limit: 5') })).body).to.deep.equal(TITLES);
    });

    it('answers HEAD with the headers only', async () => {
      const [whole, head] = [await get({ query: ASK }), await get({ query: ASK }, {}, 'HEAD')];
      expect([head.status, head.body, typeOf(head)]).to.deep.equal([200, undefined, typeOf(whole)]);
      for (const name of ['etag', 'content-length', 'cache-control', 'vary'])
        expect(head.headers.get(name), name).to.equal(whole.headers.get(name));
    });
  });

  describe('other methods', () => {
    for (const path of ['/graphql', '/graphql/', '/graphql/system'])
      for (const method of ['PUT', 'PATCH', 'DELETE', 'SEARCH', 'PROPFIND', 'OPTIONS'])
        it(`${method} ${path} is refused with 405 and Allow`, async () => {
          const body = method === 'PUT' ? { body: 'x', headers: { 'content-type': 'text/plain' } } : {};
          const reply = await send(method, path, body);
          expect(reply.status).to.equal(405);
          expect(reply.headers.get('allow')).to.equal('GET, HEAD, POST');
          expect(reply.body.errors[0].extensions).to.deep.equal({
            code: 'METHOD_NOT_ALLOWED',
            allow: ['GET', 'HEAD', 'POST'],
          });
        });

    it('an OPTIONS preflight is answered as on all routes', async () => {
      const headers = { origin: 'https://app.example', 'access-control-request-method': 'POST' };
      const reply = await send('OPTIONS', '/graphql', { headers });
      expect([reply.status, reply.headers.get('access-control-allow-origin')]).to.deep.equal([
        204,
        'https://app.example',
      ]);
    });

    it('a path below /graphql without a route is 404', async () => {
      for (const method of ['GET', 'POST', 'PUT'])
        expect((await send(method, '/graphql/other')).status, method).to.equal(404);
    });
  });

  describe('Content-Type of the response', () => {
    for (const [accept, type] of [
      ['*/*', JSON_TYPE],
      ['application/json', JSON_TYPE],
      ['application/*', JSON_TYPE],
      [GRAPHQL_TYPE, `${GRAPHQL_TYPE}; charset=utf-8`],
      [`${GRAPHQL_TYPE}, application/json;q=0.9`, `${GRAPHQL_TYPE}; charset=utf-8`],
      [`${GRAPHQL_TYPE};q=0.5, application/json`, JSON_TYPE],
      ['application/xml', JSON_TYPE],
    ] as const)
      it(`Content-Type is ${type} for "Accept: ${accept}", of answers and of errors`, async () => {
        const headers = { accept };
        for (const reply of [
          await post({ query: ASK }, headers),
          await get({ query: ASK }, headers),
          await post({ query: '{ nothing }' }, headers),
          await post({ query: '{' }, headers),
          await post({ query: 1 }, headers),
          await get({ query: MUTATION }, headers),
        ])
          expect(typeOf(reply), JSON.stringify(reply.body)).to.equal(type);
      });
  });

  describe('errors', () => {
    it('errors of a document come with their location, without data, and with all validation errors', async () => {
      const reply = await post({ query: '{\n  posts { titel }\n}' });
      expect(reply.status).to.equal(400);
      const [error] = reply.body.errors;
      expect(reply.body).to.have.all.keys('errors');
      expect(error.locations).to.deep.equal([{ line: 2, column: 11 }]);
      expect(error.extensions.code).to.equal('GRAPHQL_VALIDATION_EXCEPTION');
      expect(error.extensions.graphqlErrors).to.deep.equal([{ message: error.message, locations: error.locations }]);
    });

    it('errors of "operationName" are 400 without data', async () => {
      const query = 'query A { __typename } query B { __typename }';
      for (const [operationName, text] of [
        [undefined, 'several operations'],
        ['C', 'no operation "C"'],
      ]) {
        const reply = await post({ query, operationName });
        expect(codeOf(reply)).to.deep.equal([400, 'GRAPHQL_VALIDATION_EXCEPTION']);
        expect(reply.body.errors[0].message).to.contain(text);
      }
    });

    it('errors of a token are those of all routes', async () => {
      const reply = await service.request('POST', '/graphql', { token: 'no-such-token', body: { query: ASK } });
      expect(reply.status).to.be.within(401, 403);
      expect(reply.body.errors[0].extensions.code).to.be.oneOf(['INVALID_CREDENTIALS', 'INVALID_TOKEN']);
    });

    it('errors of a field are 200 with the data of the other fields', async () => {
      const reply = await post({ query: '{ posts_by_id(id: 99) { title } posts(limit: 1, sort: ["id"]) { title } }' });
      expect(reply.status).to.equal(200);
      expect(reply.body.data).to.deep.equal({ posts_by_id: null, posts: [{ title: 'first' }] });
      expect(reply.body.errors[0].extensions.code).to.equal('FORBIDDEN');
    });
  });

  describe('caching', () => {
    it('the service allows the answer of a query by GET to be kept and revalidated by its entity tag', async () => {
      const first = await get({ query: ASK });
      const tag = first.headers.get('etag') as string;
      expect(first.headers.get('cache-control')).to.equal('no-cache');
      const again = await get({ query: ASK }, { 'if-none-match': tag, 'cache-control': 'max-age=0' });
      expect([again.status, again.body]).to.deep.equal([304, undefined]);
      await service.database.query(`update posts set title = 'changed' where id = 2`);
      const changed = await get({ query: ASK }, { 'if-none-match': tag, 'cache-control': 'max-age=0' });
      expect([changed.status, changed.body.data.posts[1]]).to.deep.equal([200, { title: 'changed' }]);
      await service.database.query(`update posts set title = 'second' where id = 2`);
    });

    it('the service separates answers by Accept and Authorization', async () => {
      const vary = (await get({ query: ASK })).headers.get('vary')?.split(/, */);
      expect(vary).to.include.members(['Origin', 'Cache-Control', 'Accept', 'Authorization']);
    });

    it('the service forbids keeping answers to POST and errors', async () => {
      for (const [what, reply] of Object.entries({
        'by POST': await post({ query: ASK }),
        mutation: await post({ query: 'mutation { delete_posts_item(id: 98) { id } }' }),
        'partly failed': await get({ query: '{ posts_by_id(id: 99) { title } }' }),
        'no sense': await get({ query: '{ nothing }' }),
        'no query': await get({}),
        'by GET': await get({ query: MUTATION }),
      })) {
        expect(reply.headers.get('cache-control'), what).to.equal('no-store');
      }
    });
  });

  it('a long list is streamed with the requested Content-Type', async () => {
    await service.database.query(`create table long (id serial primary key, text text);
      insert into long (text) select repeat(md5(i::text), 20) from generate_series(1, 3000) i`);
    const query = '{ long(limit: -1, sort: ["id"]) { id text } }';
    const reply = await post({ query }, { accept: GRAPHQL_TYPE });
    expect([reply.status, typeOf(reply)]).to.deep.equal([200, `${GRAPHQL_TYPE}; charset=utf-8`]);
    expect(reply.headers.get('transfer-encoding')).to.equal('chunked');
    expect(reply.body.data.long).to.have.length(3000);
    expect(reply.body.data.long[2999]).to.have.all.keys('id', 'text');
    expect(reply.headers.get('cache-control')).to.equal('no-store');
    const head = await get({ query }, {}, 'HEAD');
    expect([head.status, head.body]).to.deep.equal([200, undefined]);
  });
});
