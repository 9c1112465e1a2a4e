import type { Caller } from '#kernel';
import type { Access } from '../../access/contract.ts';
import type { Payload } from '../../items/contract.ts';
import { FILES } from '../contract.ts';

/** What the caller's permission puts into a new file by itself, where the platform need not. */
export async function presetsOf(access: Pick<Access, 'permissions'>, caller: Caller): Promise<Payload> {
  const set = await access.permissions(caller);
  if (set.admin) return {};
  return Object.assign({}, ...[...set.of(FILES, 'create')].reverse().map(({ presets }) => presets ?? {}));
}
