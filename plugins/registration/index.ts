import { definePlugin } from '#kernel';
import { access } from '../access/contract.ts';
import { linkTokens } from '../auth/contract.ts';
import { createUserLinks } from '../auth/library.ts';
import '../database/contract.ts';
import type { ContributedGraphqlField } from '../graphql/contract.ts';
import { routes } from '../http/contract.ts';
import { items } from '../items/contract.ts';
import { mail } from '../mail/contract.ts';
import { createLinkPages, parsePublicUrl } from '../mail/library.ts';
import { passwords } from '../passwords/contract.ts';
import { clientLimits } from '../rate-limit/contract.ts';
import { type ScheduledJobHandle, schedule } from '../schedule/contract.ts';
import { systemCollections } from '../schema/contract.ts';
import { settings } from '../settings/contract.ts';
import { passwordPolicy } from '../users/contract.ts';
import { registrationsCollection } from './collections.ts';
import { limitOf, type RegistrationConfig, type SharedConfig } from './config.ts';
import { createRemoveExpiredRegistrations } from './expired-registrations.ts';
import { registrationGraphqlFields } from './graphql.ts';
import manifest from './package.json' with { type: 'json' };
import { createRegisterUser } from './register-user.ts';
import { createReadRegistrationTerms, registerSettingRules } from './registration-terms.ts';
import { type RegistrationRequests, registrationRoutes } from './routes.ts';
import { type RegisteredUser, registrationStatements } from './statements.ts';
import { createVerifyEmail } from './verify-email.ts';

/** Milliseconds between two removals of expired registrations. */
const CLEANUP_INTERVAL = 3_600_000;

export default definePlugin<RegistrationConfig, SharedConfig>({
  manifest,
  register(host) {
    const { config, db, events, log } = host;
    const used = host.use({
      access,
      clientLimits,
      items,
      linkTokens,
      mail,
      passwords,
      policy: passwordPolicy,
      schedule,
      settings,
    });
    host.contribute(systemCollections, registrationsCollection);
    registerSettingRules(used, events);
    const statements = registrationStatements(db);
    const lifetime = config.EMAIL_VERIFICATION_TOKEN_TTL;
    const links = createUserLinks<RegisteredUser>({
      tokens: used.linkTokens,
      purpose: 'registration',
      lifetime,
      valuesOf: ({ email, password }) => [email, password],
    });
    const pages = createLinkPages({
      publicUrl: config.PUBLIC_URL,
      path: '/admin/verify-email',
      allowList: {
        setting: 'USER_REGISTER_URL_ALLOW_LIST',
        urls: config.USER_REGISTER_URL_ALLOW_LIST,
        field: 'verification_url',
      },
    });
    const systemCaller = () => host.asSystem('registrations begin, are confirmed, and expire');
    const deps = { ...used, db, statements, links, systemCaller };
    const requests: RegistrationRequests = {
      register: createRegisterUser({
        ...deps,
        pages,
        lifetime,
        limit: limitOf(config, used.clientLimits),
        readTerms: createReadRegistrationTerms({ ...used, isPasswordSignInOff: config.AUTH_DISABLE_DEFAULT }),
        stallTime: config.REGISTER_STALL_TIME,
      }),
      verify: createVerifyEmail({
        ...deps,
        stallTime: config.LOGIN_STALL_TIME,
      }),
    };
    const signInPage = `${parsePublicUrl(config.PUBLIC_URL) ?? config.PUBLIC_URL.replace(/\/+$/, '')}/admin/login`;
    for (const route of registrationRoutes({ ...requests, signInPage })) host.contribute(routes, route);
    for (const field of registrationGraphqlFields(requests))
      host.contribute<ContributedGraphqlField>('graphql.fields', field);

    const removeExpired = createRemoveExpiredRegistrations(deps);
    let cleanup: ScheduledJobHandle | undefined;
    // Also where registration is off: those from before expire. Commands start no server, and leave this to processes that do.
    events.onAction('server.start', () => {
      cleanup = used.schedule.start({
        name: 'removal of expired registrations',
        at: { every: CLEANUP_INTERVAL },
        missed: 'once',
        log,
        run: ({ signal }) => removeExpired(signal),
      });
    });
    host.onStop(() => cleanup?.stop());
  },
});
