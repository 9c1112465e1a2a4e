import { type ContributionTo, definePlugin, middleware } from '#kernel';
import { access } from '../access/contract.ts';
import { activity } from '../activity/contract.ts';
import { bus } from '../cluster/contract.ts';
import { migrations } from '../database/contract.ts';
import type { doctorChecks } from '../doctor/contract.ts';
import type { ServiceClass } from '../extensions-full/contract.ts';
import type { ContributedGraphqlField } from '../graphql/contract.ts';
import { routes, routing } from '../http/contract.ts';
import { passwords } from '../passwords/contract.ts';
import type { SharedSetting } from '../processes/contract.ts';
import { systemCollections } from '../schema/contract.ts';
import { settings } from '../settings/contract.ts';
import { createAccessTokenCodec } from './access-tokens.ts';
import { createAccountLookup } from './accounts.ts';
import { createAgreedSecrets } from './agreed-secrets.ts';
import { createLoginAttemptCounter } from './attempts.ts';
import { createAuthRequestHandlers } from './auth-requests.ts';
import * as collections from './collections.ts';
import * as contract from './contract.ts';
import { createCookieClaims } from './cookie-claims.ts';
import { createCoreSignInSteps } from './core-sign-in-steps.ts';
import { createAuthDoctorCheck } from './doctor-check.ts';
import { authGraphqlFields } from './graphql.ts';
import { createIdentifyMiddleware } from './identify-middleware.ts';
import { createCallerFactory } from './identity-service.ts';
import { createLinkTokens } from './link-tokens.ts';
import { createLocalAuthDriver } from './local-driver.ts';
import manifest from './package.json' with { type: 'json' };
import { createReauthentication } from './reauthentication.ts';
import { createRefreshCookie, type RefreshCookieConfig } from './refresh-cookie.ts';
import { authRoutes } from './routes.ts';
import { createSealedValues } from './sealed-values.ts';
import { authenticationServiceClass } from './service-class.ts';
import { createSessionDirectory } from './session-directory.ts';
import { createSessionStore } from './sessions.ts';
import { createSessionService } from './sessions-service.ts';
import { createShareSessions } from './share-sessions.ts';
import { createSharedAuthSettings } from './shared-settings.ts';
import { createSignInHandler } from './sign-in.ts';
import { createSignInAttempts } from './sign-in-attempts.ts';
import { createSignInProviders } from './sign-in-providers.ts';
import { createStaticTokenVerifier } from './static-tokens.ts';
import { listenToUserChanges } from './user-changes.ts';
import { createActiveUserCheck, userStatusTriggers } from './user-status.ts';

interface Shared {
  DATA_PATH: string;
}

interface Config extends RefreshCookieConfig, Shared {
  SECRET: string | undefined;
  SECRET_PREVIOUS: string | undefined;
  ACCESS_TOKEN_TTL: number;
  REFRESH_TOKEN_REUSE: 'reject' | 'revoke';
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
    for (const one of Object.values(collections)) host.contribute(systemCollections, one);
    host.contribute(migrations, userStatusTriggers(db));

    host.contribute<ContributionTo<typeof doctorChecks>>('doctor.checks', createAuthDoctorCheck(config.SECRET));
    const secrets = createAgreedSecrets({ db, log, config });
    const tokens = createAccessTokenCodec({ secrets: secrets.read, lifetime: config.ACCESS_TOKEN_TTL });
    const sessions = createSessionStore(db, {
      lifetime: config.REFRESH_TOKEN_TTL,
      revokesOnReuse: config.REFRESH_TOKEN_REUSE === 'revoke',
    });
    const shareSessions = createShareSessions({ db, access: used.access, tokens, lifetime: config.REFRESH_TOKEN_TTL });
    const userStatus = createActiveUserCheck(db, used.bus);
    const statics = createStaticTokenVerifier({ db, bus: used.bus, access: used.access });
    const cookie = createRefreshCookie(config);
    const cookieClaims = createCookieClaims({ access: used.access, cookie, sessions, shareSessions });
    const callerParts = { identity, events, db, access: used.access, tokens, userStatus, statics, cookieClaims };
    const callers = createCallerFactory(callerParts);
    host.define(contract.ownTokenPaths);
    host.contribute(
      middleware,
      createIdentifyMiddleware({
        callers,
        identity,
        byCookie: cookieClaims.ofAssetRequest,
        ownTokenPaths: () => host.read(contract.ownTokenPaths),
      }),
    );

    const accounts = createAccountLookup(db);
    const attempts = createLoginAttemptCounter(db, used.settings);
    const local = createLocalAuthDriver({ accounts, passwords: used.passwords, attempts });
    host.define(contract.authDrivers);
    host.define(contract.authSteps);
    host.contribute(contract.authDrivers, local);
    for (const step of createCoreSignInSteps(used.access)) host.contribute(contract.authSteps, step);
    const drivers = () => host.read(contract.authDrivers);
    const steps = () => host.read(contract.authSteps);
    const shared = { ...used, accounts, attempts, events, identity, sessions, shareSessions, tokens };
    const signIn = createSignInHandler({ ...shared, drivers, steps });
    const accessLifetime = config.ACCESS_TOKEN_TTL;
    const stallTime = config.LOGIN_STALL_TIME;
    const entry = createAuthRequestHandlers({ signIn, local, sessions, cookie, accessLifetime, stallTime });
    host.provide(contract.identity, callers.service);
    host.provide(contract.authProviderVariables, {
      providers: config.AUTH_PROVIDERS,
      variables: config['AUTH_*'],
    });
    host.provide(contract.linkTokens, createLinkTokens(secrets.read));
    host.provide(contract.sessionDirectory, createSessionDirectory({ ...used, db, sessions, tokens }));
    const signInAttempts = createSignInAttempts(shared);
    host.provide(contract.signInAttempts, signInAttempts);
    host.provide(
      contract.reauthentication,
      createReauthentication({ accounts, attempts: signInAttempts, tokens, stallTime }),
    );
    const service = createSessionService({
      ...{ signIn, sessions, shareSessions, cookie, accessLifetime, stallTime },
      local: config.AUTH_DISABLE_DEFAULT ? undefined : local,
    });
    host.provide(contract.sessions, service);
    host.contribute<ServiceClass>(
      'extensions.services',
      authenticationServiceClass({ signIn, local, sessions: service, attempts: signInAttempts, accessLifetime }),
    );
    host.provide(contract.sealedValues, createSealedValues(secrets.read));
    host.provide(contract.signInProviders, createSignInProviders(drivers, config.AUTH_DISABLE_DEFAULT));

    const requests = { entry, disableDefault: config.AUTH_DISABLE_DEFAULT };
    for (const route of authRoutes({ ...requests, routing: used.routing, drivers })) host.contribute(routes, route);
    for (const field of authGraphqlFields(requests)) host.contribute<ContributedGraphqlField>('graphql.fields', field);

    listenToUserChanges({ db, bus: used.bus, events, sessions, attempts, userStatus, statics });
    for (const setting of createSharedAuthSettings(secrets.read, config))
      host.contribute<SharedSetting>('processes.settings', setting);
    host.onStart(secrets.agree);
  },
});
