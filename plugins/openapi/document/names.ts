import { createHash } from 'node:crypto';
import { SYSTEM_COLLECTION_PREFIX } from '../../schema/contract.ts';

/** Names that `toPascalCase` maps to different names. */
const PLAIN = /^[a-z][a-z0-9]*(?:_[a-z][a-z0-9]*)*$/;

/**
 * A name for components and operations, which depends on no other name. Names that are not of lower-case words get a hash, because
 * others may be written alike: `track_list` is `TrackList`, and `TrackList` is `TrackList_1ab5a2ff`.
 */
export const toComponentName = (name: string): string =>
  PLAIN.test(name) ? toPascalCase(name) : `${toPascalCase(name)}_${hashName(name)}`;

/** The schema of a collection's rows: `ItemsTrack` for `track`, `PlatformUsers` for `platform_users`. */
export const rowSchemaName = (collection: string): string =>
  collection.startsWith(SYSTEM_COLLECTION_PREFIX) ? toComponentName(collection) : `Items${toComponentName(collection)}`;

/** Hexadecimal digits of a hash, for names that must differ. */
export const hashName = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 8);

/** Words with a capital letter each; characters that component names may not have only separate words. */
export const toPascalCase = (text: string): string =>
  text
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

/** `/users/:id/tfa/disable` as `/users/{id}/tfa/disable`. */
export const toPathTemplate = (path: string): string => path.replace(/:(\w+)/g, '{$1}');

/** The id of an operation: `getUsersById` for `GET /users/{id}`. */
export const toOperationId = (method: string, template: string): string =>
  method.toLowerCase() +
  template
    .split('/')
    .map((segment) => (segment.startsWith('{') ? `By${toPascalCase(segment.slice(1, -1))}` : toPascalCase(segment)))
    .join('');
