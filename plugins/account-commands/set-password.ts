import { type AccountCommand, type AccountCommandDeps, printResult, requireOption } from './account-command.ts';
import { findUserByEmail } from './find-rows.ts';
import { readPassword } from './read-password.ts';

/** `users:passwd`: sets a password by the rules of `PATCH /users/<id>`, which ends the user's sessions, and prints the id. */
export const createUsersPasswdCommand = (deps: AccountCommandDeps): AccountCommand => ({
  name: 'users:passwd',
  about: 'sets the password of a user, which is read from standard input or a file, and ends the sessions of the user',
  usage: '--email <address> [--password-file <path>] [--activate] [--json]',
  options: {
    email: { type: 'string' },
    'password-file': { type: 'string' },
    activate: { type: 'boolean' },
    json: { type: 'boolean' },
  },
  required: ['email'],
  async run(values) {
    const email = requireOption(values, 'email');
    const id = await findUserByEmail(deps, email);
    const payload = {
      password: await readPassword(values['password-file'] as string | undefined),
      ...(values.activate ? { status: 'active' } : {}),
    };
    await deps.items.updateOne(deps.system(), 'platform_users', id, payload);
    printResult(values, { id, email }, id);
  },
});
