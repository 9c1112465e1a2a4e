import { commands, definePlugin } from '#kernel';
import { sessionDirectory } from '../auth/contract.ts';
import { items } from '../items/contract.ts';
import { createAccountCommand } from './account-command.ts';
import { createRolesCreateCommand } from './create-role.ts';
import { createUsersCreateCommand } from './create-user.ts';
import { createSessionsEndCommand } from './end-sessions.ts';
import { createUsersListCommand } from './list-users.ts';
import manifest from './package.json' with { type: 'json' };
import { createUsersPasswdCommand } from './set-password.ts';

export default definePlugin({
  manifest,
  register(host) {
    const { items: rows, 'session-directory': sessions } = host.use({ items, 'session-directory': sessionDirectory });
    const deps = { items: rows, sessions, system: () => host.asSystem('an admin of the machine runs a command') };
    for (const create of [
      createUsersCreateCommand,
      createUsersPasswdCommand,
      createUsersListCommand,
      createRolesCreateCommand,
      createSessionsEndCommand,
    ])
      host.contribute(commands, createAccountCommand(create(deps)));
  },
});
