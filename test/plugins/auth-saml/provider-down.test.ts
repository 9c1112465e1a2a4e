import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { createCookieBrowser } from '../../support/cookie-browser.ts';
import { type SamlIdentityProvider, startSamlIdentityProvider } from '../../support/saml-identity-provider.ts';
import type { InProcessService } from '../../support/service.ts';
import { signInAt, startSamlService } from './saml-fixture.ts';

/** Milliseconds of AUTH_CORP_TIMEOUT, and what a busy machine may add to it. */
const LIMIT = 1500;
const SLACK = 15_000;

interface MetadataServer {
  readonly url: string;
  answer: (response: ServerResponse) => void;
  requests: number;
  stop(): Promise<void>;
}

async function startMetadataServer(): Promise<MetadataServer> {
  const server = createServer((_request, response) => {
    self.requests++;
    self.answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const self: MetadataServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/metadata`,
    answer: () => {},
    requests: 0,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return self;
}

describe('an identity provider of the driver saml that does not answer as it should', () => {
  let idp: SamlIdentityProvider;
  let metadata: MetadataServer;
  let service: InProcessService;

  before(async function () {
    this.timeout(120_000);
    [idp, metadata] = await Promise.all([startSamlIdentityProvider(), startMetadataServer()]);
    service = await startSamlService(idp, {
      IDP_metadata: '',
      IDP_METADATA_URL: metadata.url,
      TIMEOUT: String(LIMIT),
    });
  });
  after(async () => {
    await service?.stop();
    await metadata?.stop();
    await idp?.stop();
  });

  async function begin(query = ''): Promise<string> {
    const response = await fetch(`${service.url}/auth/login/corp${query}`, { redirect: 'manual' });
    const text = await response.text();
    const location = response.headers.get('location');
    const code = text === '' ? '' : JSON.parse(text).errors[0].extensions.code;
    return location === null ? `${response.status} ${code}` : `${response.status} ${location}`;
  }

  const answers: Readonly<Record<string, readonly [answer: (response: ServerResponse) => void, refusal: string]>> = {
    'answers nothing': [() => {}, '503 SERVICE_UNAVAILABLE'],
    'breaks the connection': [(response) => void response.destroy(), '503 SERVICE_UNAVAILABLE'],
    'answers 500': [(response) => void response.writeHead(500).end(), '503 SERVICE_UNAVAILABLE'],
    'redirects elsewhere': [
      (response) => void response.writeHead(302, { location: 'https://evil.example.com/' }).end(),
      '503 SERVICE_UNAVAILABLE',
    ],
    'answers ten megabytes': [
      (response) => void response.end(Buffer.alloc(10 * 1024 * 1024, 'a')),
      '503 SERVICE_UNAVAILABLE',
    ],
    'sends a byte now and then': [
      (response) => {
        const timer = setInterval(() => response.write('<'), 100);
        response.on('close', () => clearInterval(timer));
      },
      '503 SERVICE_UNAVAILABLE',
    ],
    'answers no XML': [(response) => void response.end('it works!'), '503 SERVICE_UNAVAILABLE'],
    'answers XML with entities': [
      (response) => void response.end(`<!DOCTYPE a [<!ENTITY b "c">]>${idp.metadata}`),
      '503 SERVICE_UNAVAILABLE',
    ],
    'answers metadata that are expired': [
      (response) =>
        void response.end(
          idp.metadata.replace('<EntityDescriptor', '<EntityDescriptor validUntil="2020-01-01T00:00:00Z"'),
        ),
      '503 SERVICE_UNAVAILABLE',
    ],
    'answers metadata without a certificate': [
      (response) => void response.end(idp.metadata.replace(/<KeyDescriptor.*?<\/KeyDescriptor>/s, '')),
      '503 SERVICE_UNAVAILABLE',
    ],
  };
  for (const [what, [answer, refusal]] of Object.entries(answers)) {
    it(`fails the begin of a sign-in with ${refusal} within its limit where it ${what}`, async () => {
      metadata.answer = answer;
      const started = performance.now();
      expect(await begin()).to.equal(refusal);
      expect(performance.now() - started).to.be.lessThan(LIMIT + SLACK);
    });
  }

  it('ends a sign-in with a redirect there, with the code as reason', async () => {
    metadata.answer = (response) => void response.destroy();
    expect(await begin('?redirect=/welcome')).to.equal(`302 ${service.url}/welcome?reason=SERVICE_UNAVAILABLE`);
  });

  it('delays no plain read while a hundred sign-ins wait for it', async () => {
    metadata.answer = () => {};
    let ended = 0;
    const waiting = Array.from({ length: 100 }, async () => {
      const refusal = await begin();
      ended++;
      return refusal;
    });
    for (let i = 0; i < 20; i++)
      expect((await service.request('GET', '/users/me', { token: service.admin.token })).status).to.equal(200);
    expect(ended, 'the reads were answered before the sign-ins ended').to.be.lessThan(100);
    expect(new Set(await Promise.all(waiting))).to.deep.equal(new Set(['503 SERVICE_UNAVAILABLE']));
  });

  it('signs in as soon as it answers its metadata, and is asked for them once', async () => {
    metadata.answer = (response) => void response.end(idp.metadata);
    metadata.requests = 0;
    for (const name of ['ann', 'bob'])
      expect((await signInAt(service.url, idp, { name }, { browser: createCookieBrowser() })).status).to.equal(200);
    expect(metadata.requests).to.equal(1);
    metadata.answer = () => {};
    expect((await signInAt(service.url, idp, { name: 'cid' })).status).to.equal(200);
  });
});
