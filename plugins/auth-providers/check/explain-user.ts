import { Failure } from '#kernel';
import type { ProviderFinding, ProviderProfile } from '../contract.ts';
import { type CheckedProfile, checkProfile } from '../profile.ts';
import type { OpenProvider } from '../providers.ts';
import { reasonOf } from '../unavailable.ts';
import type { CheckedUser, CheckStatements } from './check-statements.ts';
import { explainRole } from './explain-role.ts';

/** The user whom the operator asks about, as the provider names it, or by e-mail address. */
export interface UserQuestion {
  readonly user: string;
  /** Groups to assume; undefined: those that the provider says. */
  readonly groups: readonly string[] | undefined;
}

/** Which account and which role the user would have after a sign-in, and why. Nothing is changed. */
export async function* explainUser(
  statements: CheckStatements,
  provider: OpenProvider,
  { user, groups }: UserQuestion,
): AsyncIterable<ProviderFinding> {
  const stored = await statements.findUser(provider.settings.name, user);
  let profile: CheckedProfile | undefined;
  try {
    const raw = await readProfile(provider, user, stored);
    profile = raw && checkProfile(groups ? { ...raw, groups } : raw, provider.rules.requireVerifiedEmail);
  } catch (error) {
    const code = error instanceof Failure ? `${error.code}: ` : '';
    const remedy = 'correct the entry of the user at the provider, or the setting that is named';
    yield { check: 'user', status: 'fail', text: `${code}${reasonOf(error)}`, remedy };
    return;
  }
  if (!profile) {
    const remedy = 'look for the user with the filter and the base of the settings';
    yield { check: 'user', status: 'fail', text: `the provider knows no user ${user}`, remedy };
    return;
  }
  yield describeProfile(profile, provider.driver.lookUp !== undefined);
  const account = await statements.findUser(provider.settings.name, profile.identifier);
  const known = account?.external_identifier === profile.identifier ? account : undefined;
  const finding = known ? describeAccount(known) : await describeUnknown(statements, provider, profile);
  yield finding;
  if (finding.status === 'fail') return;
  yield explainRole(provider, profile.groups, known, await statements.readRoleNames(rolesOf(provider, known)));
  if (known?.has_second_factor) yield describeSecondFactor(provider);
}

/** What the provider says of the user; of a provider that cannot be asked, what is known here. */
async function readProfile(
  { driver, settings }: OpenProvider,
  user: string,
  stored: CheckedUser | undefined,
): Promise<ProviderProfile | undefined> {
  if (driver.lookUp) return settings.boundedCall(async (call) => driver.lookUp?.(user, call));
  const email = stored?.email ?? (user.includes('@') ? user : undefined);
  return {
    identifier: stored?.external_identifier ?? user,
    email,
    emailVerified: email === undefined ? undefined : true,
  };
}

function describeProfile(
  { identifier, email, emailVerified, groups }: CheckedProfile,
  isLookedUp: boolean,
): ProviderFinding {
  const verified = emailVerified === true ? ', verified' : emailVerified === false ? ', not verified' : '';
  const text = [
    `identifier ${identifier}`,
    email === undefined ? 'no e-mail address' : `e-mail address ${email}${isLookedUp ? verified : ''}`,
    groups.length === 0 ? 'no groups' : `groups ${groups.join(', ')}`,
  ].join('; ');
  if (isLookedUp) return { check: 'user', status: 'ok', text: `the provider says: ${text}` };
  return {
    check: 'user',
    status: 'ok',
    text: `the provider says who a user is at a sign-in only, so this is assumed: ${text}; name groups by --group`,
  };
}

function describeAccount({ id, email, status }: CheckedUser): ProviderFinding {
  const text = `the user ${id}${email === null ? '' : ` (${email})`}, found by its identifier`;
  if (status === 'active') return { check: 'account', status: 'ok', text };
  const remedy = 'an admin sets the status to active';
  return { check: 'account', status: 'fail', text: `USER_SUSPENDED: ${text}, is ${status}`, remedy };
}

async function describeUnknown(
  statements: CheckStatements,
  { settings, rules }: OpenProvider,
  { email, emailVerified }: CheckedProfile,
): Promise<ProviderFinding> {
  const check = 'account';
  const prepared = email === undefined ? undefined : await statements.findPrepared(settings.name, email);
  if (prepared && emailVerified === true)
    return { check, status: 'ok', text: `the first sign-in links the user ${prepared.id}, whom an admin has prepared` };
  if (prepared) {
    const text = `RECORD_NOT_UNIQUE: an admin has prepared the user ${prepared.id}, but the provider does not say that the address is verified`;
    const remedy = 'have the provider verify the address, or set external_identifier of the user';
    return { check, status: 'fail', text, remedy };
  }
  const owner = email === undefined ? undefined : await statements.findProviderOfEmail(email);
  if (owner !== undefined) {
    const text = `${owner === settings.name ? 'RECORD_NOT_UNIQUE' : 'INVALID_PROVIDER'}: the address ${email} is that of another user, of the provider ${owner}`;
    const remedy = 'an admin gives that user this provider and identifier, or another address';
    return { check, status: 'fail', text, remedy };
  }
  if (rules.allowRegistration)
    return { check, status: 'ok', text: 'no account yet: the first sign-in registers the user' };
  const remedy = `an admin creates a user with the provider ${settings.name}, or set ${settings.variableOf('ALLOW_PUBLIC_REGISTRATION')}`;
  return { check, status: 'fail', text: 'INVALID_CREDENTIALS: the user has no account here', remedy };
}

const rolesOf = ({ rules: { roles } }: OpenProvider, user: CheckedUser | undefined): readonly string[] => [
  ...(roles.byDefault === null ? [] : [roles.byDefault]),
  ...(roles.mapping ?? []).map(([, role]) => role),
  ...(user?.role ? [user.role] : []),
];

const describeSecondFactor = ({ rules }: OpenProvider): ProviderFinding => ({
  check: 'second factor',
  status: 'ok',
  text: rules.trustsSecondFactor
    ? 'the user has one, and is not asked: TRUST_SECOND_FACTOR is on'
    : 'the user has one, and is asked for a code',
});
