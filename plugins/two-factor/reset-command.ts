import type { Caller, KernelCommand } from '#kernel';
import type { SecondFactorChanges } from './changes.ts';
import type { SecondFactorStore } from './second-factors.ts';

interface Deps {
  readonly store: Pick<SecondFactorStore, 'userOfEmail'>;
  readonly changes: Pick<SecondFactorChanges, 'turnOff'>;
  readonly systemCaller: () => Caller;
}

/** `users:tfa-reset <email>`: turns the second factor of a user off, for operators without an admin who can sign in. */
export const createResetCommand = ({ store, changes, systemCaller }: Deps): KernelCommand => ({
  name: 'users:tfa-reset',
  about: 'turns the second factor of a user off: users:tfa-reset <email>',
  needs: 'start',
  check: (args) => (args.length === 1 ? undefined : print('Usage: users:tfa-reset <email>', 2)),
  async run([email = '']) {
    const user = await store.userOfEmail(email);
    if (user === undefined) return print(`No user has the address ${email}.`, 1);
    const wasOn = await changes.turnOff(systemCaller(), user);
    return print(wasOn ? `The second factor of ${email} is off.` : `${email} had no second factor.`, 0);
  },
});

function print(line: string, code: number): number {
  (code === 0 ? process.stdout : process.stderr).write(`${line}\n`);
  return code;
}
