import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { findFreePort } from '../../support/free-port.ts';
import {
  oauth2Settings,
  openIdSettings,
  type ProviderFixture,
  signInBy,
  startProviderFixture,
} from './provider-fixture.ts';

const TIMEOUT = 1500;

/** Answers in ways that no honest server does. */
const FAULTS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  'hangs before its headers': () => {},
  'hangs in the middle of its answer': (response) => void response.writeHead(200, JSON_TYPE).write('{'),
  'answers 10 MiB': (response) => {
    response.writeHead(200, JSON_TYPE);
    response.on('error', () => {});
    response.end(`{"a":"${'x'.repeat(10 * 1024 * 1024)}"}`);
  },
  'answers garbage': (response) => void response.writeHead(200, JSON_TYPE).end('\0\u0001<html>'),
  'answers JSON that is no object': (response) => void response.writeHead(200, JSON_TYPE).end('[1]'),
  'answers a page': (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>hello</p>'),
  'answers 500': (response) => void response.writeHead(500).end(),
  redirects: (response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
  'closes the connection': (response) => void response.socket?.destroy(),
};
const JSON_TYPE = { 'content-type': 'application/json' };

const PLACES = [
  ['fresh', '/.well-known/openid-configuration'],
  ['oidc', '/token'],
  ['oidc', '/userinfo'],
  ['fresh', '/jwks'],
  ['plain', '/token'],
  ['plain', '/userinfo'],
] as const;

describe('a provider that does not answer as it should', function () {
  this.timeout(120_000);
  let fixture: ProviderFixture;
  before(async () => {
    const limit = { TIMEOUT: `${TIMEOUT}ms` };
    const port = await findFreePort();
    fixture = await startProviderFixture({
      providers: (server) => ({
        ...openIdSettings('oidc', server, limit),
        ...oauth2Settings('plain', server, limit),
        // Each sign-in by a new one fetches documents and keys that others have in memory.
        ...Object.assign(
          {},
          ...Array.from({ length: 20 }, (_none, at) =>
            openIdSettings(`fresh${at}`, server, { ...limit, LABEL: 'Fresh' }),
          ),
        ),
        ...openIdSettings('away', server, { ISSUER_URL: `http://127.0.0.1:${port}` }),
      }),
    });
    fixture.server.user = { sub: 'unknown-user', email: 'unknown@example.com' };
    // The first sign-in fetches what later ones have in memory.
    expect((await fixture.signIn('oidc')).status).to.equal(200);
  });
  after(() => fixture?.stop());

  let fresh = 0;
  for (const [kind, path] of PLACES) {
    for (const [what, answer] of Object.entries(FAULTS)) {
      it(`fails its own sign-in with a code within its limit where ${kind} ${what} at ${path}`, async () => {
        const provider = kind === 'fresh' ? `fresh${fresh++}` : kind;
        fixture.server.faults = { answer: { [path]: answer } };
        const begun = performance.now();
        try {
          const { code, status } = await fixture.signIn(provider);
          expect([code, status]).to.deep.be.oneOf([
            ['SERVICE_UNAVAILABLE', 503],
            // An answer of the right form that proves nothing.
            ['INVALID_CREDENTIALS', 401],
          ]);
          if (!what.includes('object')) expect(code).to.equal('SERVICE_UNAVAILABLE');
          expect(performance.now() - begun).to.be.below(TIMEOUT * 2 + 10_000);
        } finally {
          fixture.server.faults = {};
        }
      });
    }
  }

  it('that is not there fails its own sign-in with SERVICE_UNAVAILABLE, and the start does not need it', async () => {
    const { code, status, body } = await fixture.signIn('away');
    expect([code, status]).to.deep.equal(['SERVICE_UNAVAILABLE', 503]);
    expect(body.errors[0].message, 'without host and port').to.equal('The sign-in provider away cannot be used.');
    const { location } = await fixture.signIn('away', { query: '?redirect=/sign-in' });
    expect(location).to.equal(`${fixture.service.url}/sign-in?reason=SERVICE_UNAVAILABLE`);
  });

  it('keeps neither other providers nor other requests waiting, and bounds the sign-ins that wait', async () => {
    let waiting = 0;
    fixture.server.faults = { answer: { '/userinfo': () => void waiting++ } };
    const hanging = Array.from({ length: 150 }, () => signInBy(fixture.service.url, 'oidc'));
    try {
      const other = await fixture.signIn('away');
      expect(other.code).to.equal('SERVICE_UNAVAILABLE');
      expect((await fixture.service.request('GET', '/server/ping')).status).to.equal(200);
      const all = await Promise.all(hanging);
      expect(new Set(all.map(({ code }) => code))).to.deep.equal(new Set(['SERVICE_UNAVAILABLE']));
    } finally {
      fixture.server.faults = {};
      await Promise.allSettled(hanging);
    }
    // 20 at a time, each until its limit; the others are refused.
    expect(waiting).to.be.within(1, 60);
    expect((await fixture.signIn('oidc')).status).to.equal(200);
  });
});
