import { isUuid } from '../database/library.ts';
import { type AccountCommandDeps, CommandError } from './account-command.ts';

/** The key of the user with this e-mail address, whatever its case. @throws CommandError where there is none */
export async function findUserByEmail({ items, system }: AccountCommandDeps, email: string): Promise<string> {
  const filter = { email: { _ieq: email } };
  const [user] = await items.rows<{ id: string }>(system(), 'platform_users', { fields: ['id'], filter, limit: 1 });
  if (!user) throw new CommandError(`No user has the e-mail address ${email}.`);
  return user.id;
}

/** The key of the role with this id, key or name. @throws CommandError where there is none, or several have the name */
export async function findRole({ items, system }: AccountCommandDeps, role: string): Promise<string> {
  const names = [{ key: { _eq: role } }, { name: { _eq: role } }, ...(isUuid(role) ? [{ id: { _eq: role } }] : [])];
  const query = { fields: ['id', 'key'], filter: { _or: names }, limit: 3 };
  const found = await items.rows<{ id: string; key: string }>(system(), 'platform_roles', query);
  const exact = found.find(({ id, key }) => key === role || id === role.toLowerCase());
  const [only, ...others] = exact ? [exact] : found;
  if (!only) throw new CommandError(`No role has the id, key or name ${role}.`);
  if (others.length > 0) throw new CommandError(`Several roles have the name ${role}: give the key or the id.`);
  return only.id;
}
