import { createHash, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import jwt from 'jsonwebtoken';

type Claims = Record<string, unknown>;

/** How the server differs from an honest one. Each function gets what an honest server sends. */
export interface OpenIdServerFaults {
  /** Changes the parameters with which the browser returns. */
  callback?: (parameters: URLSearchParams) => void;
  /** Changes the claims of the ID token before it is signed. */
  claims?: (claims: Claims) => void;
  /** Signs, in place of the server, or changes the signed token. */
  sign?: (claims: Claims, honest: string, server: OpenIdServer) => string;
  discovery?: (document: Claims) => void;
  /** Answers a request in place of the server, by its path. */
  answer?: Readonly<Record<string, (response: ServerResponse) => void>>;
}

/** An authorization server for tests, of OAuth2 and OpenID Connect: it shows no page, and issues what the test says. */
export interface OpenIdServer {
  readonly issuer: string;
  /** What the server says of the user who signs in next. */
  user: Claims;
  /** Users by `login_hint` of the authorization request, in place of `user`. */
  readonly users: Map<string, Claims>;
  faults: OpenIdServerFaults;
  /** The secret of the client. */
  secret: string;
  /** Seconds of access tokens. */
  expiresIn: number;
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
  /** A logout token of the client `service`; `claims` are added, or replace others. */
  signLogoutToken(claims: Claims): string;
  /** Signs by a new key from now on, and publishes that one only. */
  rotateKeys(): void;
  /** Requests so far, as `POST /token`. */
  readonly requests: string[];
  /** Refresh tokens that the server accepts, each once. */
  readonly refreshTokens: Set<string>;
  stop(): Promise<void>;
}

interface IssuedCode {
  readonly challenge: string | null;
  readonly nonce: string | null;
  readonly redirectUri: string | null;
  readonly clientId: string | null;
  readonly user: Claims;
}

const generateKeyPair = () => generateKeyPairSync('rsa', { modulusLength: 2048 });
/** The first key of each server of this process: making one takes up to half a second. */
let firstKeyPair: ReturnType<typeof generateKeyPair> | undefined;

export async function startOpenIdServer(): Promise<OpenIdServer> {
  let keyNumber = 1;
  firstKeyPair ??= generateKeyPair();
  let pair = firstKeyPair;
  const codes = new Map<string, IssuedCode>();
  /** What the server says of the user of an access token. */
  const profiles = new Map<string, Claims>();
  const http = createServer((request, response) => {
    void handle(request, response).catch((error) => response.writeHead(500).end(String(error)));
  });
  http.listen(0, '127.0.0.1');
  await new Promise((resolve) => http.once('listening', resolve));
  // Another host than that of the service, so that browsers take it for another site.
  const issuer = `http://localhost:${(http.address() as AddressInfo).port}`;
  const server: OpenIdServer = {
    issuer,
    user: {},
    users: new Map(),
    faults: {},
    secret: 'the secret of the client',
    expiresIn: 3600,
    get publicKey() {
      return pair.publicKey;
    },
    get privateKey() {
      return pair.privateKey;
    },
    signLogoutToken(claims) {
      const now = Math.floor(Date.now() / 1000);
      const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
      const all = { iss: issuer, aud: 'service', iat: now, exp: now + 120, jti: randomUUID(), events, ...claims };
      return jwt.sign(all, pair.privateKey, { algorithm: 'RS256', keyid: keyIdOf(keyNumber) });
    },
    rotateKeys() {
      pair = generateKeyPair();
      keyNumber++;
    },
    requests: [],
    refreshTokens: new Set(),
    async stop() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', issuer);
    server.requests.push(`${request.method} ${url.pathname}`);
    const fault = server.faults.answer?.[url.pathname];
    if (fault) return fault(response);
    if (url.pathname === '/.well-known/openid-configuration') return sendJson(response, discoveryDocument());
    if (url.pathname === '/jwks') return sendJson(response, { keys: [keyOf(pair.publicKey, keyIdOf(keyNumber))] });
    if (url.pathname === '/authorize') return authorize(url, response);
    if (url.pathname === '/token') return token(request, response);
    if (url.pathname === '/userinfo') {
      const user = profiles.get(request.headers.authorization?.replace('Bearer ', '') ?? '');
      return user ? sendJson(response, user) : sendJson(response, { error: 'invalid_token' }, 401);
    }
    sendJson(response, {}, 404);
  }

  function discoveryDocument(): Claims {
    const document: Claims = {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      userinfo_endpoint: `${issuer}/userinfo`,
      jwks_uri: `${issuer}/jwks`,
      end_session_endpoint: `${issuer}/logout`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
    };
    server.faults.discovery?.(document);
    return document;
  }

  function authorize(url: URL, response: ServerResponse): void {
    const query = url.searchParams;
    const code = randomUUID();
    codes.set(code, {
      challenge: query.get('code_challenge'),
      nonce: query.get('nonce'),
      redirectUri: query.get('redirect_uri'),
      clientId: query.get('client_id'),
      user: { ...(server.users.get(query.get('login_hint') ?? '') ?? server.user) },
    });
    const parameters = new URLSearchParams({ code, state: query.get('state') ?? '' });
    server.faults.callback?.(parameters);
    if (query.get('response_mode') === 'form_post') {
      const fields = [...parameters].map(([name, value]) => `<input type="hidden" name="${name}" value="${value}">`);
      const form = `<form method="post" action="${query.get('redirect_uri')}">${fields.join('')}</form>`;
      response.writeHead(200, { 'content-type': 'text/html' });
      return void response.end(`<body onload="document.forms[0].submit()">${form}</body>`);
    }
    response.writeHead(302, { location: `${query.get('redirect_uri')}?${parameters}` }).end();
  }

  async function token(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = new URLSearchParams(await textOf(request));
    if (!isClient(request, form)) return sendJson(response, { error: 'invalid_client' }, 401);
    if (form.get('grant_type') === 'refresh_token') {
      if (!server.refreshTokens.delete(form.get('refresh_token') ?? ''))
        return sendJson(response, { error: 'invalid_grant' }, 400);
      return sendJson(response, issue(server.user));
    }
    const issued = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (!issued || issued.challenge !== challenge || issued.redirectUri !== form.get('redirect_uri'))
      return sendJson(response, { error: 'invalid_grant' }, 400);
    const now = Math.floor(Date.now() / 1000);
    const claims: Claims = { iss: issuer, aud: issued.clientId, iat: now, exp: now + 300, ...issued.user };
    if (issued.nonce) claims.nonce = issued.nonce;
    server.faults.claims?.(claims);
    const honest = jwt.sign(claims, pair.privateKey, { algorithm: 'RS256', keyid: keyIdOf(keyNumber) });
    const idToken = server.faults.sign?.(claims, honest, server) ?? honest;
    sendJson(response, { ...issue(issued.user), ...(issued.nonce ? { id_token: idToken } : {}) });
  }

  function isClient({ headers }: IncomingMessage, form: URLSearchParams): boolean {
    const [, password] = Buffer.from(headers.authorization?.replace('Basic ', '') ?? '', 'base64')
      .toString()
      .split(':');
    return (form.get('client_secret') ?? decodeURIComponent((password ?? '').replaceAll('+', ' '))) === server.secret;
  }

  function issue(user: Claims): Claims {
    const access = randomUUID();
    const refresh = randomUUID();
    profiles.set(access, user);
    server.refreshTokens.add(refresh);
    return { access_token: access, token_type: 'Bearer', expires_in: server.expiresIn, refresh_token: refresh };
  }

  return server;
}

const keyIdOf = (number: number): string => (number === 1 ? 'one' : `key ${number}`);
const keyOf = (key: KeyObject, kid: string) => ({ ...key.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' });

function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of request.setEncoding('utf8')) text += part;
  return text;
}
