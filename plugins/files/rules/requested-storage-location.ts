import { fail } from '#kernel';
import type { StorageService } from '../../storage/contract.ts';

/** The requested location; undefined without one. @throws INVALID_PAYLOAD for an unknown location. */
export function requireConfiguredStorageLocationName(
  { locations }: Pick<StorageService, 'locations'>,
  value: unknown,
): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string' && locations.includes(value)) return value;
  throw fail('INVALID_PAYLOAD', `There is no storage location ${JSON.stringify(value)?.slice(0, 100)}.`, {
    field: 'storage',
    path: ['storage'],
  });
}

export const createLocationChangeFailure = () =>
  fail('INVALID_PAYLOAD', 'storage cannot change: the bytes of a file stay where they are.', {
    field: 'storage',
    path: ['storage'],
  });
