import { type AccountCommand, type AccountCommandDeps, printResult, requireOption } from './account-command.ts';
import { findRole } from './find-rows.ts';
import { readPassword } from './read-password.ts';

/** `users:create`: creates a user by the rules of `POST /users`, and prints the id. */
export const createUsersCreateCommand = (deps: AccountCommandDeps): AccountCommand => ({
  name: 'users:create',
  about: 'creates a user; the password is read from standard input or a file',
  usage:
    '--email <address> [--role <id, key or name>] [--password-file <path> | --no-password] [--first-name <text>] [--last-name <text>] [--status <status>] [--json]',
  options: {
    email: { type: 'string' },
    role: { type: 'string' },
    'password-file': { type: 'string' },
    'no-password': { type: 'boolean' },
    'first-name': { type: 'string' },
    'last-name': { type: 'string' },
    status: { type: 'string' },
    json: { type: 'boolean' },
  },
  required: ['email'],
  exclusive: ['no-password', 'password-file'],
  async run(values) {
    const { role, status, 'password-file': file, 'first-name': firstName, 'last-name': lastName } = values;
    const email = requireOption(values, 'email');
    const payload = {
      email,
      ...(role === undefined ? {} : { role: await findRole(deps, role as string) }),
      ...(values['no-password'] ? {} : { password: await readPassword(file as string | undefined) }),
      ...(firstName === undefined ? {} : { first_name: firstName }),
      ...(lastName === undefined ? {} : { last_name: lastName }),
      ...(status === undefined ? {} : { status }),
    };
    const id = await deps.items.createOne(deps.system(), 'platform_users', payload);
    printResult(values, { id, email, role: payload.role ?? null }, String(id));
  },
});
