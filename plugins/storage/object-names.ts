import { fail } from '#kernel';

const MAX_LENGTH = 255;

/** Whether the name is one path segment that is not hidden and leads to no other folder. */
export const isStorageObjectName = (name: string): boolean =>
  name.length <= MAX_LENGTH && /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(name) && !name.includes('..');

/** Names of objects come from rows, which may have been changed by SQL: no driver gets a name that leads to another folder. */
export function assertStorageObjectName(name: string): void {
  if (isStorageObjectName(name)) return;
  throw fail('INTERNAL_SERVER_ERROR', `no object in storage can be called ${JSON.stringify(name.slice(0, 300))}`);
}

/** Checks the beginning of an object name; it may be empty. */
export function assertStorageObjectNamePrefix(prefix: string): void {
  if (prefix !== '') assertStorageObjectName(prefix);
}
