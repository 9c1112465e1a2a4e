import type { Caller } from '#kernel';
import type { AccessControl } from '../../access/contract.ts';
import type { Payload } from '../../items/contract.ts';
import { FILES_COLLECTION_NAME } from '../contract.ts';

/** The presets of the caller's create permissions; they win over the platform's own defaults. */
export async function readFileCreatePresets(
  access: Pick<AccessControl, 'permissions'>,
  caller: Caller,
): Promise<Payload> {
  const set = await access.permissions(caller);
  if (set.admin) return {};
  return Object.assign(
    {},
    ...[...set.of(FILES_COLLECTION_NAME, 'create')].reverse().map(({ presets }) => presets ?? {}),
  );
}
