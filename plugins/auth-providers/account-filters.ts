import type { AccountDeps } from './account-rules.ts';
import type { CheckedProfile } from './profile.ts';

type Payload = Readonly<Record<string, unknown>>;

/** Decides who the user is and what the user may do: of the settings of the provider, and not of filters. */
const DECIDED = [
  'id',
  'role',
  'status',
  'provider',
  'external_identifier',
  'password',
  'token',
  'tfa_secret',
  'auth_data',
] as const;

/** What filters of `auth.create` or `auth.update` make of names, address and preferences. */
export async function filterAccountPayload(
  { events, systemCaller }: Pick<AccountDeps, 'events' | 'systemCaller'>,
  event: 'auth.create' | 'auth.update',
  payload: Payload,
  { provider, profile }: { readonly provider: string; readonly profile: CheckedProfile },
): Promise<Payload> {
  const about = { caller: systemCaller(), provider, identifier: profile.identifier, providerPayload: profile.claims };
  const filtered: Payload = await events.filter([event], payload, about);
  return Object.fromEntries(Object.entries(filtered).filter(([field]) => !DECIDED.some((one) => one === field)));
}
