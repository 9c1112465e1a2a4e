import { definePlugin, middleware } from '#kernel';
import { access } from '../access/contract.ts';
import { activity } from '../activity/contract.ts';
import { bus } from '../cluster/contract.ts';
import { migrations } from '../database/contract.ts';
import { graphqlFields } from '../graphql-fields/contract.ts';
import { routes } from '../http/contract.ts';
import { passwords } from '../passwords/contract.ts';
import { systemCollections } from '../schema/contract.ts';
import { createAccessTokens } from './access-tokens.ts';
import { findByCookie } from './asset-cookie.ts';
import * as collections from './collections.ts';
import { createEntry } from './entry.ts';
import { authFields } from './graphql.ts';
import { identify } from './identify.ts';
import manifest from './package.json' with { type: 'json' };
import { type CookieConfig, refreshCookie } from './refresh-cookie.ts';
import { authRoutes } from './routes.ts';
import { keptSecret } from './secret.ts';
import { createSessions } from './sessions.ts';
import { createSignIn } from './sign-in.ts';
import { announceStanding, createStanding } from './standing.ts';

interface Config extends CookieConfig {
  SECRET: string | undefined;
  DATA_PATH: string;
  ACCESS_TOKEN_TTL: number;
  LOGIN_STALL_TIME: number;
  AUTH_DISABLE_DEFAULT: boolean;
}

export default definePlugin<Config>({
  manifest,
  register(host) {
    const { config, db, events, log } = host;
    const used = host.use({ access, activity, bus, passwords });
    host.contribute(systemCollections, collections.sessions);
    host.contribute(migrations, announceStanding);

    let secret = config.SECRET;
    const tokens = createAccessTokens({
      secret: () => {
        if (secret === undefined) throw new Error('the secret is not there before the start');
        return secret;
      },
      lifetime: config.ACCESS_TOKEN_TTL,
    });
    const sessions = createSessions(db, config.REFRESH_TOKEN_TTL);
    const standing = createStanding(db, used.bus);
    const cookie = refreshCookie(config);
    const byCookie = findByCookie({ cookie, sessions });
    host.contribute(middleware, identify({ db, access: used.access, tokens, standing, byCookie }));
    const entry = createEntry({
      signIn: createSignIn({ ...used, db, events, sessions, tokens }),
      sessions,
      cookie,
      accessLifetime: config.ACCESS_TOKEN_TTL,
      stallTime: config.LOGIN_STALL_TIME,
    });
    const ways = { entry, disableDefault: config.AUTH_DISABLE_DEFAULT };
    for (const route of authRoutes(ways)) host.contribute(routes, route);
    for (const field of authFields(ways)) host.contribute(graphqlFields, field);

    events.onFilter('users.update', async (payload, { keys }) => {
      await sessions.closeChanged(keys as string[], payload as Record<string, unknown>);
    });
    // The next request of this process must see the change, so nobody waits for the message from the database.
    for (const event of ['users.update', 'users.delete', 'roles.delete']) events.onAction(event, standing.forget);
    host.onStart(async () => {
      if (secret !== undefined && secret.length < 32)
        log.warn('SECRET is short: 32 characters or more are hard to guess');
      secret ??= await keptSecret(config.DATA_PATH);
    });
  },
});
