import { request as rawRequest } from 'node:http';
import { expect } from 'chai';
import { captureError } from '../../support/test-plugins.ts';
import { until } from '../../support/until.ts';
import {
  type ExtensionTestService,
  extensionReports,
  startExtensionTestService,
  TELL_FUNCTION_SOURCE,
} from './test-service.ts';

describe('endpoints with full authority', () => {
  let testService: ExtensionTestService;
  before(async () => {
    testService = await startExtensionTestService({ env: { MAX_PAYLOAD_SIZE: '2kb', QUERY_LIMIT_MAX: '50' } });
  });
  after(() => testService?.stop());
  beforeEach(() => void extensionReports.splice(0));

  const endpoint = (body: string, id = 'shop') => `${TELL_FUNCTION_SOURCE}
    export default { id: '${id}', handler: (router, context) => { ${body} } };`;
  const get = (path: string, headers = {}, token: string | null = null) =>
    testService.request('GET', path, { headers, token });

  describe('the path of an endpoint', () => {
    it('the path is the id of the object form, case-insensitive, and is removed with the extension', async () => {
      const code = endpoint(
        `router.get('/', (req, res) => res.json({ data: [req.baseUrl, req.url, req.originalUrl] }))`,
      );
      await testService.with(code, async () => {
        expect((await get('/shop')).body).to.deep.equal({ data: ['/shop', '/', '/shop'] });
        expect((await get('/SHOP/?a=1')).body).to.deep.equal({ data: ['/SHOP', '/?a=1', '/SHOP/?a=1'] });
      });
      expect((await get('/shop')).body.errors[0].extensions.code).to.equal('ROUTE_NOT_FOUND');
    });

    it('a function is mounted under the package name without prefix, or the folder without a manifest', async () => {
      const files = `export default (router) => { router.get('/', (req, res) => res.send('here')); };`;
      for (const [name, path, single] of [
        ['service-extension-books', '/books', false],
        ['@acme/service-extension-pens', '/pens', false],
        ['service-extension-inks', '/service-extension-inks', true],
      ] as const) {
        await testService.with({ name, files, single }, async () => expect((await get(path)).body).to.equal('here'));
      }
    });

    it('endpoints may share a path: the first with a matching route answers', async () => {
      const first = await testService.load({ files: endpoint(`router.get('/a', (req, res) => res.send('first a'))`) });
      const second = await testService.load({
        files: endpoint(
          `router.get('/a', (req, res) => res.send('second a')); router.get('/b', (req, res) => res.send('b'))`,
        ),
      });
      expect([(await get('/shop/a')).body, (await get('/shop/b')).body]).to.deep.equal(['first a', 'b']);
      await first.remove();
      expect((await get('/shop/a')).body).to.equal('second a');
      await second.remove();
    });

    it('routes accept the path syntax of older routers', async () => {
      const code = endpoint(`
        router.get('/one/:id?', (req, res) => res.json(['one', req.params.id ?? null]));
        router.get(['/two', '/files/*'], (req, res) => res.json(['two']));
        router.use('/used', (req, res) => res.json(['used', req.url]));
        router.route('/routed').get((req, res) => res.json(['routed']));
        router.use((req, res, next) => { res.set('X-Seen', 'yes'); next(); });
        router.all('*', (req, res) => res.json(['any', req.path]));`);
      await testService.with(code, async () => {
        for (const [path, expected] of [
          ['/one', ['one', null]],
          ['/one/5', ['one', '5']],
          ['/two', ['two']],
          ['/files/a/b.txt', ['two']],
          ['/files', ['two']],
          ['/used/a', ['used', '/a']],
          ['/routed', ['routed']],
          ['/else/where', ['any', '/else/where']],
          ['', ['any', '/']],
        ] as const) {
          expect((await get(`/shop${path}`)).body, path).to.deep.equal(expected);
        }
      });
    });

    it('endpoints that share a path both get the body', async () => {
      const first = await testService.load({
        files: endpoint(`router.use((req, res, next) => { tell(req.body); next(); })`),
      });
      const second = await testService.load({ files: endpoint(`router.post('/', (req, res) => res.json(req.body))`) });
      expect((await testService.request('POST', '/shop', { body: { a: 1 } })).body).to.deep.equal({ a: 1 });
      expect(extensionReports).to.deep.equal([{ a: 1 }]);
      await second.remove();
      await first.remove();
    });

    for (const id of ['', 'a b', 'a/b', '..?x']) {
      it(`the id ${JSON.stringify(id)} is refused`, async () => {
        const failed = await captureError<{ code: string }>(testService.load({ files: endpoint('', id) }));
        expect(failed.code).to.equal('REGISTRATION_FAILED');
      });
    }
  });

  describe('the request and context of a handler', () => {
    it('the context has exactly the members of the specification', async () => {
      await testService.with(endpoint('tell(Object.keys(context).sort())'), async () => {
        expect(extensionReports[0]).to.deep.equal(
          ['database', 'emitter', 'env', 'exceptions', 'extensionSettings', 'getSchema', 'logger', 'services'].sort(),
        );
      });
    });

    it('the request has accountability, ip and token', async () => {
      const code = endpoint(`router.get('/', (req, res) => res.json({
        accountability: req.accountability, token: req.token, ip: req.ip, agent: req.get('User-Agent') }))`);
      await testService.with(code, async () => {
        const anonymous = (await get('/shop', { 'user-agent': 'test' })).body;
        expect(anonymous).to.deep.equal({
          accountability: {
            user: null,
            role: null,
            admin: false,
            app: false,
            ip: '127.0.0.1',
            userAgent: 'test',
            origin: null,
          },
          token: null,
          ip: '127.0.0.1',
          agent: 'test',
        });
        const admin = (await get('/shop', {}, testService.admin)).body;
        expect(admin.accountability).to.include({ admin: true, app: true });
        expect([admin.accountability.user, admin.token]).to.deep.equal([admin.accountability.user, testService.admin]);
        expect((await get(`/shop?access_token=${testService.admin}`)).body.token).to.equal(testService.admin);
      });
    });

    it('a request with a wrong token does not reach the handler', async () => {
      await testService.with(endpoint(`router.get('/', (req, res) => { tell(1); res.end(); })`), async () => {
        expect((await get('/shop', {}, 'wrong')).status).to.equal(401);
        expect(extensionReports).to.deep.equal([]);
      });
    });

    it('req.schema and getSchema() answer the schema', async () => {
      const code = endpoint(`router.get('/', async (req, res) => {
        const { collections, relations } = req.schema;
        const { primary, singleton, fields } = collections.platform_users;
        res.json([primary, singleton, fields.email.type, Array.isArray(relations), (await context.getSchema()) === req.schema]);
      })`);
      await testService.with(code, async () => {
        expect((await get('/shop')).body).to.deep.equal(['id', false, 'string', true, true]);
      });
    });

    it('req.query is parsed, and req.sanitizedQuery is typed and capped at the ceiling', async () => {
      const code = endpoint(`
        router.get('/raw', (req, res) => res.json(req.query));
        router.get('/clean', (req, res) => res.json(req.sanitizedQuery));`);
      await testService.with(code, async () => {
        expect((await get('/shop/raw?filter[a][_eq]=1&filter=nonsense&b=%20')).status).to.equal(200);
        expect((await get('/shop/raw?filter=nonsense&b[]=1')).body).to.deep.equal({ filter: 'nonsense', b: ['1'] });
        const clean = '/shop/clean?fields=a,b.c&sort[]=-a&limit=1000&filter={"a":{"_eq":1}}&aggregate[count]=*&page=2';
        expect((await get(clean)).body).to.deep.equal({
          fields: ['a', 'b.c'],
          sort: ['-a'],
          limit: 50,
          filter: { a: { _eq: 1 } },
          aggregate: { count: ['*'] },
          page: 2,
        });
        expect((await get('/shop/clean?limit=-1')).body).to.deep.equal({ limit: 50 });
        for (const wrong of ['filter=nonsense', 'limit=x', 'limit=-2', 'fields[a]=1', 'page=0'])
          expect((await get(`/shop/clean?${wrong}`)).body.errors[0].extensions.code, wrong).to.equal('INVALID_QUERY');
      });
    });

    it('JSON bodies are parsed within the limits, and other bodies are left as streams', async () => {
      const code = endpoint(`
        router.post('/', (req, res) => res.json({ body: req.body }));
        router.post('/text', async (req, res) => {
          let text = '';
          for await (const part of req) text += part;
          res.send(text);
        });`);
      const post = (path: string, body: unknown, headers = {}) => testService.request('POST', path, { body, headers });
      await testService.with(code, async () => {
        expect((await post('/shop', { a: 1 })).body).to.deep.equal({ body: { a: 1 } });
        expect((await testService.request('POST', '/shop')).body).to.deep.equal({ body: {} });
        expect((await post('/shop', '{"a":')).body.errors[0].extensions.code).to.equal('INVALID_PAYLOAD');
        expect((await post('/shop', { a: 'x'.repeat(3000) })).status).to.equal(413);
        const form = { 'content-type': 'application/x-www-form-urlencoded' };
        expect((await post('/shop/text', 'a=1&b=2', form)).body).to.equal('a=1&b=2');
        expect((await post('/shop', 'a=1', form)).body).to.deep.equal({ body: {} });
      });
    });

    it('the request has params, cookies, path, hostname and protocol', async () => {
      const code = endpoint(`router.get('/:id/parts/*rest', (req, res) => res.json([
        req.params, req.cookies, req.path, req.hostname, req.protocol, req.secure, req.method, req.is('json'), req.xhr ]))`);
      await testService.with(code, async () => {
        const reply = await get('/shop/a%20b/parts/c/d?x=1', { cookie: 'one=1; two="%20"; one=2; broken=%' });
        expect(reply.body).to.deep.equal([
          { id: 'a b', rest: ['c', 'd'] },
          { one: '1', two: ' ', broken: '%' },
          '/a%20b/parts/c/d',
          '127.0.0.1',
          'http',
          false,
          'GET',
          null,
          false,
        ]);
      });
    });
  });

  describe('the response of a handler', () => {
    it('a handler sets status, headers and bodies of all usual types', async () => {
      const code = endpoint(`
        router.get('/json', (req, res) => res.status(201).json({ a: 1 }));
        router.get('/html', (req, res) => res.send('<p>é</p>'));
        router.get('/bytes', (req, res) => res.send(Buffer.from([104, 105])));
        router.get('/status', (req, res) => res.sendStatus(202));
        router.get('/none', (req, res) => res.status(204).send('text'));
        router.get('/empty', (req, res) => res.end());
        router.get('/csv', (req, res) => res.type('csv').attachment('é.csv').vary('X-A').append('X-B', '1').append('X-B', '2').send('a,b'));
        router.get('/set', (req, res) => res.set({ 'X-A': 1 }).header('X-B', 'b').send(res.get('X-A')));
        router.get('/cookie', (req, res) => res.cookie('a', 'b c', { httpOnly: true, maxAge: 1000, sameSite: true }).clearCookie('d').end());`);
      await testService.with(code, async () => {
        const shown = async (path: string, ...headers: string[]) => {
          const reply = await get(`/shop${path}`);
          return [reply.status, reply.body, ...headers.map((name) => reply.headers.get(name))];
        };
        expect(await shown('/json', 'content-type', 'content-length')).to.deep.equal([
          201,
          { a: 1 },
          'application/json; charset=utf-8',
          '7',
        ]);
        expect(await shown('/html', 'content-type')).to.deep.equal([200, '<p>é</p>', 'text/html; charset=utf-8']);
        expect(await shown('/bytes', 'content-type')).to.deep.equal([200, 'hi', 'application/octet-stream']);
        expect(await shown('/status')).to.deep.equal([202, 'Accepted']);
        expect(await shown('/none', 'content-type')).to.deep.equal([204, undefined, null]);
        expect(await shown('/empty')).to.deep.equal([200, undefined]);
        expect(await shown('/csv', 'content-type', 'vary', 'x-b')).to.deep.equal([
          200,
          'a,b',
          'text/csv; charset=utf-8',
          'Origin, Cache-Control, X-A',
          '1, 2',
        ]);
        expect(await shown('/set', 'x-a', 'x-b')).to.deep.equal([200, 1, '1', 'b']);
        const cookies = (await get('/shop/cookie')).headers.getSetCookie();
        expect(cookies[0]).to.match(/^a=b%20c; Max-Age=1; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Strict$/);
        expect(cookies[1]).to.equal('d=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT');
      });
    });

    it('a response keeps the headers of the middleware and is logged', async () => {
      await testService.with(endpoint(`router.get('/', (req, res) => res.status(203).send('ok'))`), async () => {
        const { headers } = await get('/shop', { 'x-request-id': 'mine' });
        expect(headers.get('x-request-id')).to.equal('mine');
        expect(headers.get('x-content-type-options')).to.equal('nosniff');
        await until(() =>
          testService.log.some((line) => line.request === 'mine' && line.msg === 'request' && line.status === 203),
        );
      });
    });

    it('a handler may pipe a stream', async () => {
      const code = endpoint(`router.get('/', async (req, res) => {
        const { Readable } = await import('node:stream');
        res.type('text/plain');
        Readable.from(['a', 'b', 'c']).pipe(res);
      })`);
      await testService.with(code, async () => expect((await get('/shop')).body).to.equal('abc'));
    });

    it('res.redirect answers with a status and Location', async () => {
      const code = endpoint(`
        router.get('/a', (req, res) => res.redirect('/b c?d=%2F'));
        router.get('/b', (req, res) => res.redirect(307, 'https://example.com/'));`);
      await testService.with(code, async () => {
        const [a, b] = [await get('/shop/a'), await get('/shop/b')];
        expect([a.status, a.headers.get('location')]).to.deep.equal([302, '/b%20c?d=%2F']);
        expect([b.status, b.headers.get('location')]).to.deep.equal([307, 'https://example.com/']);
      });
    });

    it('HEAD answers like GET without a body, and OPTIONS lists the methods', async () => {
      const code = endpoint(
        `router.get('/', (req, res) => res.json({ a: 1 })); router.delete('/', (req, res) => res.end());`,
      );
      await testService.with(code, async () => {
        const head = await testService.request('HEAD', '/shop');
        expect([head.status, head.body, head.headers.get('content-length')]).to.deep.equal([200, undefined, '7']);
        expect((await testService.request('OPTIONS', '/shop')).headers.get('allow')).to.equal('DELETE, GET, HEAD');
      });
    });

    it('a request that no route matches is passed on', async () => {
      const code = endpoint(
        `router.use((req, res, next) => { tell(req.url); next(); }); router.get('/a', (req, res) => res.end());`,
      );
      await testService.with(code, async () => {
        for (const [method, path] of [
          ['GET', '/shop/b'],
          ['POST', '/shop/a'],
        ] as const) {
          const reply = await testService.request(method, path);
          expect([reply.status, reply.body.errors[0].extensions]).to.deep.equal([
            404,
            { code: 'ROUTE_NOT_FOUND', path },
          ]);
        }
        expect(extensionReports).to.deep.equal(['/b', '/a']);
      });
    });

    it('an unfinished response is aborted', async () => {
      const code = endpoint(
        `router.get('/', (req, res, next) => { res.write('half'); setImmediate(() => next(new Error('no'))); })`,
      );
      await testService.with(code, async () => {
        expect(await captureError(get('/shop'))).to.be.instanceOf(Error);
        await until(() => testService.log.some((line) => line.msg === 'an answer broke off'));
        expect((await get('/server/ping')).body).to.equal('pong');
      });
    });

    it('a disconnected client does not keep the request running', async () => {
      const code = endpoint(`router.get('/', (req, res) => { res.on('close', () => tell('closed')); tell('asked'); })`);
      await testService.with(code, async () => {
        const client = rawRequest(`${testService.url}/shop`);
        client.on('error', () => {});
        client.end();
        await until(() => extensionReports.includes('asked'));
        client.destroy();
        await until(() => extensionReports.includes('closed'));
        expect((await get('/server/ping')).body).to.equal('pong');
      });
    });
  });

  describe('errors of a handler', () => {
    const outcome = async (path: string, token: string | null = null) => {
      const { status, body } = await get(`/shop${path}`, {}, token);
      return [status, body.errors[0].extensions.code, body.errors[0].message];
    };

    it('each exception class answers with its status and code', async () => {
      const kinds = [
        ['InvalidPayloadException', 400, 'INVALID_PAYLOAD'],
        ['InvalidQueryException', 400, 'INVALID_QUERY'],
        ['RecordNotUniqueException', 400, 'RECORD_NOT_UNIQUE'],
        ['InvalidCredentialsException', 401, 'INVALID_CREDENTIALS'],
        ['ForbiddenException', 403, 'FORBIDDEN'],
        ['RouteNotFoundException', 404, 'ROUTE_NOT_FOUND'],
        ['MethodNotAllowedException', 405, 'METHOD_NOT_ALLOWED'],
        ['UnsupportedMediaTypeException', 415, 'UNSUPPORTED_MEDIA_TYPE'],
        ['UnprocessableEntityException', 422, 'UNPROCESSABLE_ENTITY'],
        ['HitRateLimitException', 429, 'REQUESTS_EXCEEDED'],
        ['ServiceUnavailableException', 503, 'SERVICE_UNAVAILABLE'],
      ] as const;
      const code = endpoint(`const { exceptions } = context;
        router.get('/next/:kind', (req, res, next) => next(new exceptions[req.params.kind]('because', { more: 1 })));
        router.get('/throw/:kind', (req) => { throw new exceptions[req.params.kind]('because'); });
        router.get('/reject/:kind', async (req) => { await null; throw new exceptions[req.params.kind](); });`);
      await testService.with(code, async () => {
        for (const [kind, status, name] of kinds) {
          expect(await outcome(`/next/${kind}`), kind).to.deep.equal([status, name, 'because']);
          expect(await outcome(`/throw/${kind}`), kind).to.deep.equal([status, name, 'because']);
          expect((await outcome(`/reject/${kind}`)).slice(0, 2), kind).to.deep.equal([status, name]);
        }
        for (const [kind, extensions] of [
          ['RecordNotUniqueException', { more: 1, code: 'RECORD_NOT_UNIQUE' }],
          ['InvalidPayloadException', { more: 1, code: 'INVALID_PAYLOAD', reason: 'because' }],
        ] as const)
          expect((await get(`/shop/next/${kind}`)).body.errors[0].extensions).to.deep.equal(extensions);
      });
    });

    it("BaseException may have any status and code, and the failed response's headers are dropped", async () => {
      const code = endpoint(`const { BaseException, MethodNotAllowedException } = context.exceptions;
        class Mine extends BaseException { constructor() { super('no coffee', 418, 'TEAPOT', { pot: 1, code: 'X' }); } }
        router.get('/mine', (req, res, next) => { res.status(201).type('csv').set('X-Other', '1'); next(new Mine()); });
        router.get('/allow', () => { throw new MethodNotAllowedException('no', { allow: ['GET', 'PUT'] }); });
        router.get('/odd', () => { throw new BaseException('odd', 7, 'a b'); });
        router.get('/style', () => { throw Object.assign(new Error('too many'), { statusCode: 409 }); });
        router.get('/hidden', () => { throw Object.assign(new Error('secret'), { status: 409, expose: false }); });
        router.get('/server', () => { throw Object.assign(new Error('secret'), { status: 502 }); });`);
      await testService.with(code, async () => {
        const mine = await get('/shop/mine');
        expect([mine.status, mine.body]).to.deep.equal([
          418,
          { errors: [{ message: 'no coffee', extensions: { pot: 1, code: 'TEAPOT' } }] },
        ]);
        expect([mine.headers.get('content-type'), mine.headers.get('x-other')]).to.deep.equal([
          'application/json; charset=utf-8',
          null,
        ]);
        expect((await get('/shop/allow')).headers.get('allow')).to.equal('GET, PUT');
        expect(await outcome('/odd')).to.deep.equal([500, 'INTERNAL_SERVER_ERROR', 'odd']);
        expect(await outcome('/style')).to.deep.equal([409, 'CONFLICT', 'too many']);
        const unexpected = [500, 'INTERNAL_SERVER_ERROR', 'An unexpected error occurred.'];
        expect(await outcome('/hidden')).to.deep.equal(unexpected);
        expect(await outcome('/server')).to.deep.equal(unexpected);
      });
    });

    it('other errors are answered 500 with the message for admins only', async () => {
      const code = endpoint(`
        router.get('/error', () => { throw new Error('the password is x'); });
        router.get('/text', (req, res, next) => next('just a text'));
        router.get('/late', async (req, res) => { res.send('ok'); await null; throw new Error('later'); });`);
      await testService.with(code, async () => {
        expect(await outcome('/error')).to.deep.equal([500, 'INTERNAL_SERVER_ERROR', 'An unexpected error occurred.']);
        expect((await outcome('/error', testService.admin))[2]).to.equal('the password is x');
        expect((await outcome('/text'))[0]).to.equal(500);
        expect((await get('/shop/late')).body).to.equal('ok');
        await until(() => testService.log.some((line) => line.msg === 'a handler failed after its answer'));
      });
    });

    it('error handlers of the router run first', async () => {
      const code = endpoint(`
        router.get('/', () => { throw new Error('no'); });
        router.use((error, req, res, next) => res.status(400).json({ mine: error.message }));`);
      await testService.with(code, async () => {
        const { status, body } = await get('/shop');
        expect([status, body]).to.deep.equal([400, { mine: 'no' }]);
      });
    });
  });
});
