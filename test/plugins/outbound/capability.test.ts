import { expect } from 'chai';
import { fail, findJsonSchemaProblems, type GrantHolder, type Host } from '#kernel';
import {
  broker,
  type ConfinedCodeInvocation,
  type InvocationSecretReferences,
  type PackageGrantBroker,
} from '../../../plugins/broker/contract.ts';
import { BrokerRefusal, InvocationSecrets, renderAuthorities } from '../../../plugins/broker/library.ts';
import { createRequestCapability } from '../../../plugins/outbound/capability/capability.ts';
import type {
  ConfinedOutboundRequest,
  OutboundRequest,
  OutboundResponse,
  OutboundService,
} from '../../../plugins/outbound/contract.ts';
import { OutboundFailure } from '../../../plugins/outbound/failure.ts';
import { processorTime } from '../../support/processor-time.ts';
import { captureError, withBootedTestPlugins } from '../../support/test-plugins.ts';
import { startRecordingServer } from './recording-server.ts';

const subject = { name: 'x', version: '1.0.0', runtime: 'confined' } as GrantHolder;
const invocationWith = (secrets: InvocationSecretReferences = new InvocationSecrets()): ConfinedCodeInvocation => ({
  id: '1',
  caller: null,
  signal: new AbortController().signal,
  secrets,
});

/** A fake `outbound` that records requests and returns the answer of the test. */
function createFakeOutbound(answer: Partial<OutboundResponse> | Error = {}) {
  const seen: OutboundRequest[] = [];
  const outbound: Pick<OutboundService, 'send'> = {
    async send(request) {
      seen.push(request);
      if (answer instanceof Error) throw answer;
      return { status: 200, headers: {}, body: new Uint8Array(), ...answer };
    },
  };
  return { outbound, seen };
}

type RequestGrant = Parameters<ReturnType<typeof createRequestCapability>['describe']>[0];

const GRANT: RequestGrant = { origins: ['https://api.example.com'], methods: ['GET', 'POST'] };
const URL_OF = 'https://api.example.com/a';

describe('outbound: the capability request', () => {
  const { schema, describe: authoritiesOf, widens } = createRequestCapability(createFakeOutbound().outbound);
  const sentences = (grant: RequestGrant) => renderAuthorities(authoritiesOf(grant));
  const fits = (grant: unknown) => findJsonSchemaProblems(schema, grant).length === 0;

  describe('the grant', () => {
    const origins = (...list: string[]) => ({ origins: list });

    it('a grant is a list of origins, named origins or urls, with methods', () => {
      for (const grant of [
        origins('https://api.example.com'),
        { urls: ['https://api.example.com/'] },
        { ...origins('http://localhost:8080', 'https://API.Example.com:443'), methods: ['GET', 'DELETE'] },
        origins('https://bücher.example', 'http://[::1]:9', 'http://10.0.0.1', 'HTTPS://a.example'),
      ])
        expect(fits(grant), JSON.stringify(grant)).to.equal(true);
    });

    for (const grant of [
      {},
      true,
      { origins: [] },
      { methods: ['GET'] },
      { ...origins('https://a.example'), urls: ['https://a.example'] },
      { ...origins('https://a.example'), methods: [] },
      { ...origins('https://a.example'), methods: ['get'] },
      { ...origins('https://a.example'), methods: ['TRACE'] },
      { ...origins('https://a.example'), more: 1 },
      ...[
        ...['https://a.example/path', 'https://a.example//', 'https://a.example?q', 'https://a.example/#f'],
        ...['https://user@a.example', 'https://u:p@a.example', 'https://a.example.', 'https://a.example.:443'],
        ...['https://*.a.example', 'https://*', '*', '', 'a.example', '//a.example', 'ftp://a.example', 'https://'],
        ...[
          'https://a.example\\b',
          ' https://a.example',
          'https://a.example\n',
          'https://a%2eexample',
          'https://a.example:',
        ],
        ...['https://a.example:123456', 'javascript:x', 'https:///a.example', 'https://[::1'],
      ].map((one) => origins(one)),
    ]) {
      it(`the grant ${JSON.stringify(grant)} is invalid`, () => {
        expect(fits(grant)).to.equal(false);
      });
    }

    it('binding validates the grant again', async () => {
      const bind = () =>
        createRequestCapability(createFakeOutbound().outbound).bind(origins('https://a.example:99999'), subject);
      expect(await captureError(bind)).to.include({ code: 'CAPABILITY_DENIED' });
    });

    it('the audit describes the canonical origins and the methods', () => {
      expect(sentences(GRANT)).to.deep.equal(['sends requests to https://api.example.com (GET, POST)']);
      expect(sentences({ urls: ['HTTPS://Bücher.example:443/', 'http://2130706433'] })).to.deep.equal([
        'sends requests to http://127.0.0.1, https://xn--bcher-kva.example (GET)',
      ]);
    });

    it('a grant widens by another origin or method, not by another spelling', () => {
      const [before] = [{ urls: ['https://a.example/'] }] as const;
      expect(widens(undefined, before)).to.equal(true);
      expect(widens(before, { origins: ['https://A.example:443'], methods: ['GET'] })).to.equal(false);
      expect(widens(before, { origins: ['https://a.example', 'https://b.example'] })).to.equal(true);
      expect(widens(before, { origins: ['http://a.example'] })).to.equal(true);
      expect(widens(before, { ...before, methods: ['GET', 'HEAD'] })).to.equal(true);
      expect(widens(GRANT, { origins: ['https://api.example.com'], methods: ['POST'] })).to.equal(false);
    });
  });

  describe('host.request.send', () => {
    const answered = async (
      options: ConfinedOutboundRequest,
      {
        grant = GRANT,
        secrets,
        ...fake
      }: {
        grant?: RequestGrant;
        secrets?: InvocationSecretReferences;
        answer?: Parameters<typeof createFakeOutbound>[0];
      } = {},
    ) => {
      const { outbound, seen } = createFakeOutbound(fake.answer);
      const api = createRequestCapability(outbound).bind(grant, subject);
      return { value: await api.send(options, invocationWith(secrets)), seen: seen[0] as OutboundRequest };
    };
    const refusalOf = async (...args: Parameters<typeof answered>) => {
      const refusal = await captureError<BrokerRefusal>(answered(...args));
      expect(refusal).to.be.instanceOf(BrokerRefusal);
      return refusal.code;
    };

    it('a request to a granted origin with a granted method is sent', async () => {
      const { seen } = await answered({ url: 'https://API.example.com:443/a?b', method: 'post', body: 'x' });
      expect([seen.url.href, seen.method]).to.deep.equal(['https://api.example.com/a?b', 'POST']);
      expect(
        (await answered({ url: URL_OF }, { grant: { origins: ['https://api.example.com'] } })).seen.method,
      ).to.equal('GET');
    });

    for (const url of [
      'http://api.example.com/',
      'https://api.example.com:444/',
      'https://api.example.com./',
      'https://sub.api.example.com/',
      'https://api.example.com.evil.example/',
      'https://evil.example/https://api.example.com/',
      'file:///etc/passwd',
      'data:,x',
    ]) {
      it(`a request to ${url} is denied`, async () => {
        expect(await refusalOf({ url })).to.equal('denied');
      });
    }

    it('a method that is not granted is denied', async () => {
      for (const method of ['DELETE', 'PUT', 'CONNECT', '', 'GET\r\n'])
        expect(await refusalOf({ url: URL_OF, method })).to.equal('denied');
    });

    it('a text that is no URL and a URL with credentials are invalid_request', async () => {
      for (const url of [
        '',
        'nonsense',
        'https://',
        '/a',
        'https://user:pass@api.example.com/',
        'https://api.example.com@/',
      ])
        expect(await refusalOf({ url }), url).to.equal('invalid_request');
    });

    it('a text body is sent as it is, other values as JSON with a default content-type', async () => {
      for (const [body, headers, text, type] of [
        ['plain', {}, 'plain', undefined],
        [{ a: [1] }, {}, '{"a":[1]}', 'application/json'],
        [false, {}, 'false', 'application/json'],
        [{}, { 'Content-Type': 'application/ld+json' }, '{}', 'application/ld+json'],
        [null, {}, undefined, undefined],
        [undefined, {}, undefined, undefined],
      ] as const) {
        const { seen } = await answered({ url: URL_OF, method: 'POST', body, headers });
        expect([seen.body, seen.headers?.['content-type']]).to.deep.equal([text, type]);
      }
    });

    it('reserved headers are left out', async () => {
      const names = [
        'Host',
        'connection',
        'Keep-Alive',
        'te',
        'Trailer',
        'Transfer-Encoding',
        'upgrade',
        'Content-Length',
      ];
      const dropped = [...names, 'Forwarded', 'X-Forwarded-Host', 'proxy-connection', 'bad name', 'bäd', ''];
      const headers = {
        ...Object.fromEntries(dropped.map((name) => [name, 'x'])),
        'x-number': 1,
        'x-null': null,
        'x-list': ['a'],
        'x-lines': 'a\r\nb: c',
        'X-Kept': 'yes',
      };
      expect((await answered({ url: URL_OF, headers })).seen.headers).to.deep.equal({ 'x-kept': 'yes' });
    });

    it('the timeout is ten seconds by default and thirty at most', async () => {
      const timeouts = [undefined, 5, 30_000, 60_000].map(
        async (timeoutMs) => (await answered({ url: URL_OF, ...(timeoutMs ? { timeoutMs } : {}) })).seen.timeout,
      );
      expect(await Promise.all(timeouts)).to.deep.equal([10_000, 5, 30_000, 30_000]);
    });

    it('any status is an answer, and a body is parsed where its type says JSON and it is valid', async () => {
      const body = Buffer.from('{"a":"ü"}');
      for (const [type, expected] of [
        ['application/json', { a: 'ü' }],
        ['application/problem+json; charset=utf-8', { a: 'ü' }],
        ['text/plain', '{"a":"ü"}'],
        ['application/jsonp', '{"a":"ü"}'],
      ] as const) {
        const headers = { 'content-type': type };
        const { value } = await answered({ url: URL_OF }, { answer: { status: 503, headers, body } });
        expect(value).to.deep.equal({ status: 503, headers, body: expected });
      }
      const headers = { 'content-type': 'application/json' };
      const { value } = await answered({ url: URL_OF }, { answer: { headers, body: Buffer.from('{oops') } });
      expect(value.body).to.equal('{oops');
      const deep = '['.repeat(100_000) + ']'.repeat(100_000);
      expect((await answered({ url: URL_OF }, { answer: { headers, body: Buffer.from(deep) } })).value.body).to.equal(
        deep,
      );
    });

    it('a request or an answer over 2 MiB as JSON is invalid_request', async () => {
      const long = 'x'.repeat(2 * 1024 * 1024);
      expect(await refusalOf({ url: URL_OF, method: 'POST', body: long })).to.equal('invalid_request');
      expect(await refusalOf({ url: URL_OF, headers: { a: long } })).to.equal('invalid_request');
      expect(await refusalOf({ url: URL_OF }, { answer: { body: Buffer.from(long) } })).to.equal('invalid_request');
      const escaped = Buffer.from('"'.repeat(1_200_000));
      expect(await refusalOf({ url: URL_OF }, { answer: { body: escaped } })).to.equal('invalid_request');
    });

    it('network failures are reported with the codes of the conventions only', async () => {
      const tooLong = Object.assign(await captureError(Promise.reject(new OutboundFailure('denied'))));
      expect(tooLong).to.include({ code: 'SERVICE_UNAVAILABLE' });
      for (const [error, code] of [
        [new OutboundFailure('denied'), 'denied'],
        [new OutboundFailure('timeout'), 'timeout'],
        [new OutboundFailure('unreachable'), 'internal'],
        [new Error('ECONNREFUSED 10.0.0.1'), 'internal'],
      ] as const) {
        const refusal = await captureError<BrokerRefusal>(answered({ url: URL_OF }, { answer: error }));
        expect([refusal.code, /\d/.test(refusal.message)]).to.deep.equal([code, false]);
      }
    });

    it('answers to one package may hold at most 8 MiB at a time over all its entries', async () => {
      const open: (() => void)[] = [];
      const body = Buffer.alloc(2 * 1024 * 1024 - 1000, 'x');
      const outbound: Pick<OutboundService, 'send'> = {
        async send({ canBuffer }) {
          if (!canBuffer?.(body.length)) throw fail('REQUESTS_EXCEEDED', 'too much');
          await new Promise<void>((resolve) => void open.push(resolve));
          return { status: 200, headers: {}, body };
        },
      };
      const capability = createRequestCapability(outbound);
      const parts = [capability.bind(GRANT, subject), capability.bind({ ...GRANT }, subject)];
      const ask = (at: number) =>
        parts[at % 2]?.send({ url: URL_OF }, invocationWith()).then(
          ({ status }) => status,
          ({ code }: BrokerRefusal) => code,
        );
      const all = Array.from({ length: 6 }, (_, at) => ask(at));
      expect(await Promise.all(all.slice(4))).to.deep.equal(['rate_limited', 'rate_limited']);
      const other = capability.bind(GRANT, { ...subject, name: 'another' });
      const theirs = other.send({ url: URL_OF }, invocationWith());
      for (let at = 0; at < 5; at++) {
        while (open.length === 0) await new Promise((resolve) => setImmediate(resolve));
        open.shift()?.();
      }
      expect([...(await Promise.all(all.slice(0, 4))), (await theirs).status]).to.deep.equal([200, 200, 200, 200, 200]);
      await new Promise((resolve) => setImmediate(resolve));
      const again = ask(0);
      open.shift()?.();
      expect(await again).to.equal(200);
    });

    describe('secrets in host.request.send', () => {
      const concealSecret = (value = 'hunter2') => {
        const secrets = new InvocationSecrets();
        return { secrets, secret: secrets.conceal(value) };
      };

      it('a secret is put into the header that auth names', async () => {
        const { secrets, secret } = concealSecret();
        const bearer = await answered({ url: URL_OF, auth: { bearer: secret } }, { secrets });
        expect(bearer.seen.headers).to.deep.equal({ authorization: 'Bearer hunter2' });
        const own = await answered({ url: URL_OF, auth: { header: 'X-Api-Key', secret } }, { secrets });
        expect(own.seen.headers).to.deep.equal({ 'x-api-key': 'hunter2' });
      });

      it('a secret outside of auth is denied before other checks', async () => {
        const { secrets, secret } = concealSecret();
        for (const options of [
          { url: `https://evil.example/${secret.ref}` },
          { url: URL_OF, headers: { 'x-a': `a ${secret.ref}` } },
          { url: URL_OF, headers: { 'x-a': secret } },
          { url: URL_OF, method: 'POST', body: `a ${secret.ref}` },
          { url: URL_OF, method: 'POST', body: { deep: [{ [secret.ref]: 1 }] } },
          { url: URL_OF, method: 'POST', body: { kind: 'secret-reference', ref: 'of another run' } },
          { url: 'nonsense', body: secret },
        ])
          expect(await refusalOf(options, { secrets }), JSON.stringify(options)).to.equal('denied');
      });

      it('references of another invocation and unknown ones are denied', async () => {
        const { secret } = concealSecret();
        const { secrets } = concealSecret();
        for (const reference of [secret, { kind: 'secret-reference', ref: '' }, 'hunter2', null, 7, {}])
          expect(await refusalOf({ url: URL_OF, auth: { bearer: reference } }, { secrets })).to.equal('denied');
      });

      it('auth in a header that is already set or reserved is denied', async () => {
        const { secrets, secret } = concealSecret();
        for (const [header, headers] of [
          ['Host', {}],
          ['X-Forwarded-For', {}],
          ['proxy-authorization', {}],
          ['bad name', {}],
          ['X-Api-Key', { 'x-api-key': 'mine' }],
        ] as const)
          expect(await refusalOf({ url: URL_OF, headers, auth: { header, secret } }, { secrets }), header).to.equal(
            'denied',
          );
        const headers = { Authorization: 'Basic x' };
        expect(await refusalOf({ url: URL_OF, headers, auth: { bearer: secret } }, { secrets })).to.equal('denied');
      });

      it('auth must have exactly one form', async () => {
        const { secrets, secret } = concealSecret();
        const forms: unknown[] = [{}, [], 'x', 7, { header: 'x' }, { secret }, { bearer: secret, header: 'x', secret }];
        for (const auth of [...forms, { bearer: secret, more: 1 }, { header: 7, secret }])
          expect(await refusalOf({ url: URL_OF, auth }, { secrets }), JSON.stringify(auth)).to.equal('invalid_request');
      });

      it('a secret with characters outside of a header value is invalid_request', async () => {
        const { secrets, secret } = concealSecret('a\r\nX-Injected: 1');
        expect(await refusalOf({ url: URL_OF, auth: { bearer: secret } }, { secrets })).to.equal('invalid_request');
      });

      it('scrubbing an answer does not take longer for a secret that was requested many times', async () => {
        const headers = { 'content-type': 'application/json' };
        const texts = Array.from({ length: 60_000 }, (_, at) => `${at} is a text of no interest`);
        const body = Buffer.from(JSON.stringify(texts));
        const scrub = async (times: number): Promise<number> => {
          const { secrets, secret } = concealSecret('correct horse battery staple');
          for (let at = 1; at < times; at++) secrets.conceal('correct horse battery staple');
          const since = processorTime();
          const { value } = await answered(
            { url: URL_OF, auth: { bearer: secret } },
            { secrets, answer: { headers, body } },
          );
          expect(value.body).to.deep.equal(texts);
          return processorTime() - since;
        };
        // The first one also compiles the code.
        await scrub(1);
        const once = await scrub(1);
        // Once for each request of the secret it would take hundreds of times as long.
        expect(await scrub(980)).to.be.below(10 * once + 100);
      });

      it('secrets are removed from the answer in every notation', async () => {
        const { secrets, secret } = concealSecret('pa"ss/12');
        const number = secrets.conceal('424242');
        const headers = { 'content-type': 'application/json', 'x-echo': 'Bearer pa"ss/12', 'x-ref': number.ref };
        const body = Buffer.from('{"a":["pa\\"ss\\/12","p\\u0061\\"ss/12",424242],"x 424242":true,"b":[null,4242421]}');
        const options = { url: URL_OF, auth: { bearer: secret } };
        const { value } = await answered(options, { secrets, answer: { headers, body } });
        expect(value.headers).to.include({ 'x-echo': 'Bearer --redact--', 'x-ref': '--redact--' });
        expect(value.body).to.deep.equal({
          a: ['--redact--', '--redact--', '--redact--'],
          'x --redact--': true,
          b: [null, '--redact--1'],
        });
        const text = Buffer.from('you sent pa"ss/12');
        expect((await answered(options, { secrets, answer: { body: text } })).value.body).to.equal(
          'you sent --redact--',
        );
      });
    });
  });

  it('packages send requests through the broker, and the ledger shows method and origin alone', async () => {
    const inside = await startRecordingServer((_request, response) =>
      response.setHeader('content-type', 'application/json').end('{"ok":1}'),
    );
    const origin = `http://127.0.0.1:${inside.port}`;
    let subjects: PackageGrantBroker | undefined;
    const register = (host: Host) => void (subjects = host.use({ broker }).broker);
    try {
      await withBootedTestPlugins(
        [{ name: 'runner', manifest: { uses: { broker: '^1.0.0' } }, register }],
        async () => {
          const grants = { request: { origins: [origin] } };
          expect(subjects?.findProblems(grants)).to.deep.equal([]);
          expect(subjects?.findProblems({ request: { origins: ['nonsense'] } })).to.deep.equal([
            '/capabilities/request/origins/0 must be an origin such as https://api.example.com, without a path',
          ]);
          expect(subjects?.findProblems({ request: {} })).to.deep.equal([
            '/capabilities/request must be an object with a list of "origins" (or "urls", which is the same)',
          ]);
          const brokerAccess = subjects?.register({ name: 'ext', version: '1.0.0', runtime: 'confined', grants });
          const call = (...args: unknown[]) =>
            brokerAccess?.call('request.send', args, invocationWith()) as Promise<unknown>;
          expect(await call({ url: `${origin}/private?token=x` })).to.deep.include({ status: 200, body: { ok: 1 } });
          for (const [args, code] of [
            [[{ url: 'https://evil.example/secret' }], 'denied'],
            [[{ url: origin, method: 'POST' }], 'denied'],
            [[{ url: 'nonsense' }], 'invalid_request'],
            [[], 'invalid_request'],
            [[{}], 'invalid_request'],
            [[{ url: 7 }], 'invalid_request'],
            [[{ url: origin, more: 1 }], 'invalid_request'],
            [[{ url: origin, timeoutMs: 0 }], 'invalid_request'],
            [[{ url: origin }, 1], 'invalid_request'],
          ] as const)
            expect(await captureError(call(...args)), JSON.stringify(args)).to.include({ code });
          const did = subjects
            ?.account()
            .did.filter(({ plugin }) => plugin === 'ext')
            .map(({ kind, what }) => [kind, what]);
          expect(did).to.deep.equal([
            ['remote', `request.send GET ${origin}`],
            ['denied', 'request.send GET https://evil.example'],
            ['denied', `request.send POST ${origin}`],
            ['remote', 'request.send GET an invalid address'],
          ]);
        },
        { product: ['broker', 'outbound'], environment: { IMPORT_IP_ALLOW_LIST: '127.0.0.1' } },
      );
      expect(inside.received).to.have.length(1);
    } finally {
      await inside.close();
    }
  });
});
