import { generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';

/** A real OpenID provider in this process, which asks for a name and believes it. */
export interface RealOpenIdProvider {
  readonly issuer: string;
  /** Claims of the users, by the name with which they sign in. */
  readonly users: Map<string, Record<string, unknown>>;
  stop(): Promise<void>;
}

export const REAL_PROVIDER_CLIENT = { id: 'content-service', secret: 'a secret of forty characters and some more' };

/** `service`: address of the service, which is the only client. */
export async function startOidcProvider(service: string, name: string): Promise<RealOpenIdProvider> {
  const users = new Map<string, Record<string, unknown>>();
  const http = createServer();
  http.listen(0, '127.0.0.1');
  await new Promise((resolve) => http.once('listening', resolve));
  // Another host than that of the service, so that browsers take it for another site.
  const issuer = `http://localhost:${(http.address() as AddressInfo).port}`;
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: REAL_PROVIDER_CLIENT.id,
        client_secret: REAL_PROVIDER_CLIENT.secret,
        redirect_uris: [`${service}/auth/login/${name}/callback`],
        post_logout_redirect_uris: [`${service}/server/ping`],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        backchannel_logout_uri: `${service}/auth/login/${name}/backchannel-logout`,
        backchannel_logout_session_required: true,
      },
    ],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' }] },
    cookies: { keys: ['a key for cookies'] },
    claims: { openid: ['sub', 'groups'], email: ['email', 'email_verified'], profile: ['given_name', 'family_name'] },
    features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true } },
    // Its own requests reach no address of this machine.
    fetch: (url, options) => fetch(url, { ...options, dispatcher: undefined } as RequestInit),
    pkce: { required: () => true },
    findAccount: (_ctx, id) => ({
      accountId: id,
      claims: () => ({ sub: id, ...users.get(id) }) as never,
    }),
    issueRefreshToken: async () => true,
    interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
    ttl: { AccessToken: 3600, AuthorizationCode: 60, IdToken: 3600, Interaction: 600, Session: 3600, Grant: 3600 },
  });
  const serve = provider.callback();
  http.on('request', (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return void serve(request, response);
    void interact(provider, request, response).catch((error) => response.writeHead(500).end(String(error)));
  });

  return {
    issuer,
    users,
    async stop() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

/** Shows a form for the name, and consents to everything afterwards. */
async function interact(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login' && request.method === 'GET') {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end('<form method="post"><input name="login"><button>Sign in</button></form>');
    return;
  }
  if (prompt.name === 'login') {
    let text = '';
    for await (const part of request.setEncoding('utf8')) text += part;
    const login = new URLSearchParams(text).get('login') as string;
    await provider.interactionFinished(request, response, { login: { accountId: login } });
    return;
  }
  const grant =
    (grantId && (await provider.Grant.find(grantId))) ||
    new provider.Grant({ accountId: session?.accountId as string, clientId: params.client_id as string });
  grant.addOIDCScope(String(params.scope));
  await provider.interactionFinished(
    request,
    response,
    { consent: { grantId: await grant.save() } },
    { mergeWithLastSubmission: true },
  );
}
