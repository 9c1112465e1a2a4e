import { definePlugin, fail } from '#kernel';
import { activity } from '../activity/contract.ts';
import { authDrivers, linkTokens, reauthentication } from '../auth/contract.ts';
import '../database/contract.ts';
import { routes } from '../http/contract.ts';
import { mail } from '../mail/contract.ts';
import { systemCollections } from '../schema/contract.ts';
import { settings } from '../settings/contract.ts';
import { adminPasskeyRoutes, signInOptionsRoute } from './admin-and-sign-in-routes.ts';
import { createPasskeyChallenges } from './challenges.ts';
import { createPasskeyChangeRecorder } from './change-recorder.ts';
import { passkeysCollection, spentChallengesCollection } from './collections.ts';
import { deletePasskeysOfMovedUsers } from './moved-users.ts';
import { createPasskeyNotices } from './notices.ts';
import { ownPasskeyRoutes } from './own-routes.ts';
import manifest from './package.json' with { type: 'json' };
import { createPasskeyStore } from './passkey-store.ts';
import { createPasskeyRegistration } from './registration.ts';
import { parseRelyingParty, type RelyingPartySettings } from './relying-party.ts';
import { createPasskeyDriver } from './sign-in-driver.ts';
import { createWebAuthn } from './webauthn.ts';

type Shared = Pick<RelyingPartySettings, 'PORT' | 'PUBLIC_URL'>;

interface Config extends Omit<RelyingPartySettings, keyof Shared> {
  readonly PASSKEYS_ENABLED: boolean;
}

export default definePlugin<Config, Shared>({
  manifest,
  register(host) {
    const { config, db, events, log } = host;
    const used = host.use({ activity, linkTokens, mail, reauthentication, settings });
    // The tables stay where passkeys are off, so that they are there when passkeys are on again.
    host.contribute(systemCollections, passkeysCollection);
    host.contribute(systemCollections, spentChallengesCollection);
    deletePasskeysOfMovedUsers({ db, events });
    if (!config.PASSKEYS_ENABLED) return;

    const notices = createPasskeyNotices({ ...used, db, log });
    const recordChange = createPasskeyChangeRecorder({ ...used, notices });
    const store = createPasskeyStore({ db, log, recordChange });
    const challenges = createPasskeyChallenges(used.linkTokens);
    const { party, problem } = parseRelyingParty(config);
    const working = party && createWebAuthn(party);
    const webauthn = () => {
      if (!working) throw fail('INVALID_CONFIG', `Passkeys do not work here: ${problem}.`);
      return working;
    };
    if (working) host.contribute(authDrivers, createPasskeyDriver({ challenges, store, webauthn: working }));
    else host.onStart(() => log.info({ problem }, 'passkeys do not work: see PUBLIC_URL, PASSKEYS_RP_ID'));
    const registration = createPasskeyRegistration({ ...used, challenges, store, webauthn });
    for (const route of [
      ...ownPasskeyRoutes({ store, registration }),
      ...adminPasskeyRoutes(store),
      signInOptionsRoute({ challenges, webauthn }),
    ])
      host.contribute(routes, route);
  },
});
