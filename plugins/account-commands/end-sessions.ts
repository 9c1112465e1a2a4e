import {
  type AccountCommand,
  type AccountCommandDeps,
  CommandError,
  printResult,
  requireOption,
} from './account-command.ts';
import { findUserByEmail } from './find-rows.ts';

/** `sessions:end`: ends one session or all sessions of a user, and prints how many there were. */
export const createSessionsEndCommand = (deps: AccountCommandDeps): AccountCommand => ({
  name: 'sessions:end',
  about: 'ends the sessions of a user; access tokens stay valid until they expire',
  usage: '--email <address> [--session <id>] [--json]',
  options: { email: { type: 'string' }, session: { type: 'string' }, json: { type: 'boolean' } },
  required: ['email'],
  async run(values) {
    const { session } = values;
    const user = await findUserByEmail(deps, requireOption(values, 'email'));
    if (session === undefined) {
      const ended = await deps.sessions.endOthers(deps.system(), user);
      return printResult(values, { user, ended }, String(ended));
    }
    const isEnded = await deps.sessions.end(deps.system(), user, session as string);
    if (!isEnded) throw new CommandError('The user has no such session.');
    printResult(values, { user, ended: 1 }, '1');
  },
});
