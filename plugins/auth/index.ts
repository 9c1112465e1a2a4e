import { definePlugin, middleware } from '#kernel';
import { access } from '../access/contract.ts';
import { activity } from '../activity/contract.ts';
import { bus } from '../cluster/contract.ts';
import { migrations } from '../database/contract.ts';
import type { ContributedGraphqlField } from '../graphql/contract.ts';
import { routes, routing } from '../http/contract.ts';
import { passwords } from '../passwords/contract.ts';
import { systemCollections } from '../schema/contract.ts';
import { settings } from '../settings/contract.ts';
import { createAccessTokenCodec } from './access-tokens.ts';
import { createAccountLookup } from './accounts.ts';
import { createLoginAttemptCounter } from './attempts.ts';
import { createAuthRequestHandlers } from './auth-requests.ts';
import * as collections from './collections.ts';
import * as contract from './contract.ts';
import { createFindClaimsByCookie } from './cookie-claims.ts';
import { createCoreSignInSteps } from './core-sign-in-steps.ts';
import { authGraphqlFields } from './graphql.ts';
import { createIdentifyMiddleware } from './identify-middleware.ts';
import { createCallerFactory } from './identity-service.ts';
import { createLinkTokens } from './link-tokens.ts';
import { createLocalAuthDriver } from './local-driver.ts';
import manifest from './package.json' with { type: 'json' };
import { createRefreshCookie, type RefreshCookieConfig } from './refresh-cookie.ts';
import { authRoutes } from './routes.ts';
import { createSessionStore } from './sessions.ts';
import { createSessionService } from './sessions-service.ts';
import { createSignInHandler } from './sign-in.ts';
import { createStaticTokenVerifier } from './static-tokens.ts';
import { parsePreviousSecrets, type TokenSecrets } from './token-secrets.ts';
import { createTokenSecretSource } from './token-signing-secret.ts';
import { createActiveUserCheck, userStatusTriggers } from './user-status.ts';

/** Fields of a user that decide whose a static token is, and whether it is valid. */
const TOKEN_OWNER_FIELDS = ['status', 'token', 'role'] as const;

interface Shared {
  DATA_PATH: string;
}

interface Config extends RefreshCookieConfig, Shared {
  SECRET: string | undefined;
  SECRET_PREVIOUS: string | undefined;
  ACCESS_TOKEN_TTL: number;
  LOGIN_STALL_TIME: number;
  AUTH_DISABLE_DEFAULT: boolean;
  AUTH_PROVIDERS: readonly string[] | undefined;
  'AUTH_*': Readonly<Record<string, string>>;
}

export default definePlugin<Omit<Config, keyof Shared>, Shared>({
  manifest,
  register(host) {
    const { config, db, events, identity, log } = host;
    const used = host.use({ access, activity, bus, passwords, routing, settings });
    host.contribute(systemCollections, collections.sessionsCollection);
    host.contribute(systemCollections, collections.sharedSecretsCollection);
    host.contribute(systemCollections, collections.signInAttemptsCollection);
    host.contribute(migrations, userStatusTriggers(db));

    const secrets = createTokenSecretSource({ db, log });
    let tokenSecrets: TokenSecrets | undefined;
    const readTokenSecrets = (): TokenSecrets => {
      if (!tokenSecrets) throw new Error('tokens need the secret, which is read when the service starts');
      return tokenSecrets;
    };
    const tokens = createAccessTokenCodec({ secrets: readTokenSecrets, lifetime: config.ACCESS_TOKEN_TTL });
    const sessions = createSessionStore(db, config.REFRESH_TOKEN_TTL);
    const userStatus = createActiveUserCheck(db, used.bus);
    const statics = createStaticTokenVerifier({ db, bus: used.bus, access: used.access });
    const cookie = createRefreshCookie(config);
    const byCookie = createFindClaimsByCookie({ access: used.access, cookie, sessions });
    const callers = createCallerFactory({ identity, db, access: used.access, tokens, userStatus, statics });
    host.contribute(middleware, createIdentifyMiddleware({ callers, identity, byCookie }));

    const accounts = createAccountLookup(db);
    const attempts = createLoginAttemptCounter(db, used.settings);
    const local = createLocalAuthDriver({ accounts, passwords: used.passwords, attempts });
    host.define(contract.authDrivers);
    host.define(contract.authSteps);
    host.contribute(contract.authDrivers, local);
    for (const step of createCoreSignInSteps(used.access)) host.contribute(contract.authSteps, step);
    const drivers = () => host.read(contract.authDrivers);
    const steps = () => host.read(contract.authSteps);
    const signIn = createSignInHandler({ ...used, identity, accounts, events, sessions, tokens, drivers, steps });
    const accessLifetime = config.ACCESS_TOKEN_TTL;
    const entry = createAuthRequestHandlers({
      signIn,
      local,
      sessions,
      cookie,
      accessLifetime,
      stallTime: config.LOGIN_STALL_TIME,
    });
    host.provide(contract.identity, callers.service);
    host.provide(contract.authProviderVariables, {
      providers: config.AUTH_PROVIDERS,
      variables: config['AUTH_*'],
    });
    host.provide(contract.linkTokens, createLinkTokens(readTokenSecrets));
    host.provide(contract.sessions, createSessionService({ signIn, sessions, cookie, accessLifetime }));

    const requests = { entry, disableDefault: config.AUTH_DISABLE_DEFAULT };
    for (const route of authRoutes({ ...requests, routing: used.routing, drivers })) host.contribute(routes, route);
    for (const field of authGraphqlFields(requests)) host.contribute<ContributedGraphqlField>('graphql.fields', field);

    events.onFilter('users.update', async (payload, { keys }) => {
      await sessions.closeChanged(keys as string[], payload as Record<string, unknown>);
      await attempts.forgetChanged(keys as string[], payload as Record<string, unknown>);
      if (TOKEN_OWNER_FIELDS.some((field) => Object.hasOwn(payload as object, field)))
        db.answerAfter(used.bus.waitForConfirmation);
    });
    events.onFilter('users.delete', () => db.answerAfter(used.bus.waitForConfirmation));
    // The next request of this process must see the change before the message from the database arrives.
    for (const event of ['users.update', 'users.delete', 'roles.delete'])
      events.onAction(event, () => {
        userStatus.forget();
        statics.forget();
      });
    host.onStart(async () => {
      if (config.SECRET !== undefined && config.SECRET.length < 32)
        log.warn('SECRET is short: 32 characters or more are hard to guess');
      const current = await secrets.agree(config.SECRET, config.DATA_PATH);
      tokenSecrets = { current, previous: parsePreviousSecrets(config.SECRET_PREVIOUS) };
    });
  },
});
