import { createHash } from 'node:crypto';

/** A UUID computed from the location of a package: the same at each start and in each process. */
export function hashPackageLocationToId(location: string): string {
  const hex = createHash('sha256').update(`extension:${location}`).digest('hex');
  const variant = ((Number.parseInt(hex.slice(16, 18), 16) & 0x3f) | 0x80).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(18, 20)}-${hex.slice(20, 32)}`;
}
