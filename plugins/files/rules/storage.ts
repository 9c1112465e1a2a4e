import { fail } from '#kernel';
import type { Storage } from '../../storage/contract.ts';

/** The location that is asked for; undefined where none is. INVALID_PAYLOAD for one there is not. */
export function knownLocation({ locations }: Pick<Storage, 'locations'>, asked: unknown): string | undefined {
  if (asked === undefined || asked === null || asked === '') return undefined;
  if (typeof asked === 'string' && locations.includes(asked)) return asked;
  throw fail('INVALID_PAYLOAD', `There is no storage location ${JSON.stringify(asked)?.slice(0, 100)}.`, {
    field: 'storage',
    path: ['storage'],
  });
}

export const staysWhereItIs = () =>
  fail('INVALID_PAYLOAD', 'storage cannot change: the bytes of a file stay where they are.', {
    field: 'storage',
    path: ['storage'],
  });
