import { pipeline } from 'node:stream/promises';
import type { AccountCommand, AccountCommandDeps } from './account-command.ts';
import { findRole } from './find-rows.ts';

const FIELDS = ['id', 'email', 'first_name', 'last_name', 'status', 'role.id', 'role.name', 'provider', 'last_access'];

/** `users:list`: prints users as CSV or JSON while they are read, sorted by e-mail address. */
export const createUsersListCommand = (deps: AccountCommandDeps): AccountCommand => ({
  name: 'users:list',
  about: 'prints the users as CSV, or as JSON',
  usage: '[--role <id, key or name>] [--status <status>] [--json]',
  options: { role: { type: 'string' }, status: { type: 'string' }, json: { type: 'boolean' } },
  async run({ role, status, json }) {
    const conditions = [
      ...(role === undefined ? [] : [{ role: { _eq: await findRole(deps, role as string) } }]),
      ...(status === undefined ? [] : [{ status: { _eq: status } }]),
    ];
    const query = { fields: FIELDS, sort: ['email', 'id'], limit: -1, filter: { _and: conditions } };
    const { parts } = await deps.items.export(deps.system(), 'platform_users', json ? 'json' : 'csv', query);
    await pipeline(parts, process.stdout, { end: false }).catch((error: NodeJS.ErrnoException) => {
      // The reader of the output, such as `head`, has enough.
      if (error.code !== 'EPIPE') throw error;
    });
    process.stdout.write('\n');
  },
});
