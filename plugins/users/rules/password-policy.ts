import { type EventsApi, Failures, fail } from '#kernel';
import { CONCEALED_VALUE_MASK } from '../../access/contract.ts';
import { matchRegularExpressionWithTimeout, parseRegularExpression } from '../../access/library.ts';
import type { SettingsService } from '../../settings/contract.ts';
import type { PasswordPolicy } from '../contract.ts';

const SETTING = 'auth_password_policy';

/** Texts on which patterns with nested repetitions backtrack without end, of each kind of character. */
const SLOW_TEXTS = ['a', 'A', '1', '!', ' ', 'aA1!'].map((part) => part.repeat(64 / part.length));

/** @throws Failures of FAILED_VALIDATION, which do not repeat the password */
export type PasswordPolicyAssertion = (password: string) => Promise<void>;

/** Asserts passwords against `auth_password_policy`, and validates that setting: a readable pattern that matches fast. */
export function createPasswordPolicy(settings: SettingsService, events: EventsApi): PasswordPolicyAssertion {
  for (const event of ['settings.create', 'settings.update'])
    events.onFilter(event, (payload) => assertPolicy((payload as Record<string, unknown>)[SETTING]));

  return async (password) => {
    const policy = (await settings.current())[SETTING];
    if (policy && !matchesPolicy(password, policy)) {
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

/** The service `password-policy`. Writes of users take the mask for a form that sends back what it has read, so it sets no password. */
export const createPasswordPolicyService = (checkPassword: PasswordPolicyAssertion): PasswordPolicy => ({
  async assert(password) {
    if (password === '' || password === CONCEALED_VALUE_MASK)
      throw fail('INVALID_PAYLOAD', '"password" must be a text that is not empty and no mask.', {
        field: 'password',
        path: ['password'],
      });
    await checkPassword(password);
  },
});

/** An unreadable policy, written by SQL, matches no password: it must not count as no policy. */
function matchesPolicy(password: string, policy: string): boolean {
  try {
    return matchRegularExpressionWithTimeout(parseRegularExpression(policy), password) === true;
  } catch {
    return false;
  }
}

const invalidPolicy = (reason: string) =>
  fail('INVALID_PAYLOAD', `"${SETTING}" ${reason}`, { field: SETTING, path: [SETTING] });

function assertPolicy(policy: unknown): undefined {
  if (policy === undefined || policy === null || policy === '') return;
  if (typeof policy !== 'string') throw invalidPolicy('must be a text: a regular expression.');
  let pattern: RegExp;
  try {
    pattern = parseRegularExpression(policy);
  } catch (error) {
    throw invalidPolicy(`is no regular expression: ${(error as Error).message}.`);
  }
  // The NUL at the end makes the pattern try every way to match the text before it.
  const isSlow = SLOW_TEXTS.some((text) => matchRegularExpressionWithTimeout(pattern, `${text}\0`) === 'timeout');
  if (isSlow) throw invalidPolicy('takes too long: a repetition inside of a repetition, such as (a+)+, has to go.');
}
