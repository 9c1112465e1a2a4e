import type { RegistrationResponseJSON } from '@simplewebauthn/server';
import { fail } from '#kernel';
import type { Reauthentication } from '../auth/contract.ts';
import type { HttpContext } from '../http/contract.ts';
import type { SettingsService } from '../settings/contract.ts';
import type { PasskeyChallenges } from './challenges.ts';
import { knownTransportsOf } from './credential-schemas.ts';
import type { ListedPasskey, PasskeyStore } from './passkey-store.ts';
import { refuseWith } from './refusal.ts';
import { challengeOf } from './verification.ts';
import type { WebAuthn } from './webauthn.ts';

interface Deps {
  readonly challenges: PasskeyChallenges;
  readonly reauthentication: Reauthentication;
  readonly settings: SettingsService;
  readonly store: PasskeyStore;
  /** @throws INVALID_CONFIG where passkeys cannot work. */
  readonly webauthn: () => WebAuthn;
}

/** The two requests of a registration. */
export interface PasskeyRegistration {
  /** Confirms the user and answers the options for the browser. @throws what `Reauthentication.confirm` throws */
  begin(ctx: HttpContext, password: unknown): ReturnType<WebAuthn['createRegistrationOptions']>;
  /** @throws INVALID_PAYLOAD for a response that is not valid, and what `PasskeyStore.add` throws */
  finish(ctx: HttpContext, user: string, credential: RegistrationResponseJSON, name: string): Promise<ListedPasskey>;
}

export function createPasskeyRegistration(deps: Deps): PasskeyRegistration {
  const { challenges, reauthentication, settings, store, webauthn } = deps;
  return {
    async begin(ctx, password) {
      const { createRegistrationOptions } = webauthn();
      const proof = await reauthentication.confirm(ctx, password);
      const user = await store.findUser(proof.user);
      if (!user) throw fail('INVALID_CREDENTIALS', 'the user does not exist');
      const { project_name: projectName } = await settings.current();
      const context = { projectName, existing: await store.list(user.id) };
      return createRegistrationOptions(user, challenges.createForRegistration(proof), context);
    },

    async finish(ctx, user, credential, name) {
      const { verifyRegistration } = webauthn();
      const verified = await refuseWith('INVALID_PAYLOAD', async () => {
        const challenge = challenges.verifyForRegistration(challengeOf(credential.response));
        if (challenge.user !== user) throw new Error('The challenge is of another user.');
        return { challenge, passkey: await verifyRegistration(credential) };
      });
      const transports = knownTransportsOf(credential.response.transports);
      return store.add(ctx.state.caller, verified.challenge, { ...verified.passkey, name, transports });
    },
  };
}
