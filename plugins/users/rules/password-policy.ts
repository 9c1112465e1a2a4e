import { type EventsApi, Failures, fail } from '#kernel';
import { parsePattern, testPattern } from '../../access/library.ts';
import type { Settings } from '../../settings/contract.ts';

const SETTING = 'auth_password_policy';

/** Texts for which patterns with nested repetitions take years, of each kind of character. */
const PROBES = ['a', 'A', '1', '!', ' ', 'aA1!'].map((part) => part.repeat(64 / part.length));

/** @throws Failures of FAILED_VALIDATION, which do not repeat the password */
export type CheckPassword = (password: string) => Promise<void>;

/** Holds passwords to the setting `auth_password_policy`, and that to be a pattern which can be read and does not take long. */
export function passwordPolicy(settings: Settings, events: EventsApi): CheckPassword {
  for (const event of ['settings.create', 'settings.update'])
    events.onFilter(event, (payload) => checkPolicy((payload as Record<string, unknown>)[SETTING]));

  return async (password) => {
    const policy = (await settings.current())[SETTING];
    if (policy && !keeps(password, policy)) {
      throw new Failures([
        fail('FAILED_VALIDATION', `Validation failed for field "password": it does not match ${SETTING}.`, {
          field: 'password',
          path: [],
          type: 'regex',
        }),
      ]);
    }
  };
}

/** No password keeps a policy that was written by hand and cannot be read: it must not read as none. */
function keeps(password: string, policy: string): boolean {
  try {
    return testPattern(parsePattern(policy), password) === true;
  } catch {
    return false;
  }
}

const refused = (reason: string) =>
  fail('INVALID_PAYLOAD', `"${SETTING}" ${reason}`, { field: SETTING, path: [SETTING] });

function checkPolicy(policy: unknown): undefined {
  if (policy === undefined || policy === null || policy === '') return;
  if (typeof policy !== 'string') throw refused('must be a text: a regular expression.');
  let pattern: RegExp;
  try {
    pattern = parsePattern(policy);
  } catch (error) {
    throw refused(`is no regular expression: ${(error as Error).message}.`);
  }
  // The end makes the pattern try all ways to match what comes before it.
  const isSlow = PROBES.some((text) => testPattern(pattern, `${text}\0`) === 'timeout');
  if (isSlow) throw refused('takes too long: a repetition inside of a repetition, such as (a+)+, has to go.');
}
