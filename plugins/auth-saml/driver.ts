import { randomBytes } from 'node:crypto';
import { Failure, fail } from '#kernel';
import type {
  ProviderCall,
  ProviderSettings,
  RedirectProviderDriver,
  SignInCallback,
  SignInRedirect,
} from '../auth-providers/contract.ts';
import { type ProvenAssertion, readProvenAssertion, type SamlName } from './assertion.ts';
import { checkSamlProvider } from './check.ts';
import { type IdentityProviderSource, openIdentityProviderSource } from './idp-metadata-source.ts';
import { createSamlClient, toSignedAddress } from './library-client.ts';
import { assertAddressedTo, assertSuccess, screenMessage } from './message.ts';
import { profileOfAssertion } from './profile.ts';
import { openServiceProvider, type ServiceProvider } from './service-provider.ts';

/** A provider with the driver `saml` that is open. */
export interface SamlProvider {
  readonly settings: ProviderSettings;
  readonly sp: ServiceProvider;
  readonly idps: IdentityProviderSource;
  /** Milliseconds that the clocks may differ. */
  readonly tolerance: number;
}

/** Called with the name and the identifier of each user whom an assertion has proven; `parameters` are those of the callback. */
export type ProvenNameListener = (name: SamlName, identifier: string, parameters: URLSearchParams) => Promise<void>;

export async function openSamlProvider(settings: ProviderSettings): Promise<SamlProvider> {
  return {
    settings,
    sp: await openServiceProvider(settings),
    idps: await openIdentityProviderSource(settings),
    tolerance: settings.value<number>('CLOCK_TOLERANCE'),
  };
}

export function createSamlDriver(provider: SamlProvider, onProvenName: ProvenNameListener): RedirectProviderDriver {
  const { settings, sp, idps, tolerance } = provider;

  async function begin(call: ProviderCall, state: string, prompt?: string): Promise<SignInRedirect> {
    const requestId = `_${randomBytes(20).toString('hex')}`;
    const client = await createSamlClient(await idps.current(call), sp, {
      tolerance,
      requestId,
      options: { forceAuthn: prompt === 'login', passive: prompt === 'none' },
    });
    const location = toSignedAddress(await client.getAuthorizeUrlAsync(state, undefined, {}));
    return { location, keep: { requestId } };
  }

  return {
    begin: ({ state, prompt, ...call }) => begin(call, state, prompt),

    check: (call) =>
      checkSamlProvider(
        {
          settings,
          sp,
          currentIdp: (one) => idps.current(one),
          beginSignIn: async (one) => (await begin(one, randomBytes(20).toString('hex'))).location,
        },
        call,
      ),

    async finish(callback) {
      const assertion = await proveAssertion(provider, callback);
      // Milliseconds; rows of a minute at least, so that clocks of processes do not matter.
      const lifetime = Math.max(assertion.expires - Date.now(), 60_000);
      if (!(await settings.useOnce(`assertion ${assertion.id}`, lifetime)))
        throw fail('INVALID_CREDENTIALS', 'the assertion was used before');
      const profile = profileOfAssertion(settings, assertion);
      if (assertion.name) await onProvenName(assertion.name, profile.identifier, callback.parameters);
      return profile;
    },
  };
}

/** @throws INVALID_CREDENTIALS for everything that proves no sign-in */
async function proveAssertion(
  { sp, idps, tolerance }: SamlProvider,
  { parameters, keep, ...call }: SignInCallback,
): Promise<ProvenAssertion> {
  const idp = await idps.current(call);
  const requestId = keep.requestId as string;
  try {
    const message = screenMessage(parameters.get('SAMLResponse') ?? '', 'Response');
    assertSuccess(message.root);
    assertAddressedTo(message.root, sp.acsUrl, idp.entityId);
    // Otherwise answers to changed texts would tell, byte by byte, what an encrypted assertion says.
    const needsRootSignature = sp.wantResponsesSigned || message.hasUnauthenticatedEncryption;
    const client = await createSamlClient(idp, sp, {
      tolerance,
      requestId,
      options: { wantAuthnResponseSigned: needsRootSignature },
    });
    const { profile } = await client.validatePostResponseAsync({ SAMLResponse: message.base64 });
    const xml = profile?.getAssertionXml?.();
    if (xml === undefined) throw new Error('the response has no assertion');
    return readProvenAssertion(xml, {
      issuer: idp.entityId,
      recipient: sp.acsUrl,
      requestId,
      tolerance,
      now: Date.now(),
    });
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw fail('INVALID_CREDENTIALS', `the response proves no sign-in: ${(error as Error)?.message ?? error}`);
  }
}
