import { LRUCache } from 'lru-cache';
import type { Caller } from '#kernel';
import type { AccessControl } from '../access/contract.ts';
import type { SchemaService } from '../schema/contract.ts';
import { hasReadableRows, type ReadableFields, typedSchemaOf } from './model/from-schema.ts';
import { renderTypes } from './render/render-types.ts';

/** Files in the cache: one for each set of permissions of the current schema. */
const CACHED_FILES = 20;

interface Deps {
  readonly access: Pick<AccessControl, 'permissions' | 'isAllowed' | 'readableFields'>;
  readonly schema: Pick<SchemaService, 'snapshot'>;
}

/** Renders the types of what a caller may read. The same permissions on the same schema are rendered once. */
export function createTypesOfCaller({ access, schema }: Deps): (caller: Caller) => Promise<string> {
  const files = new LRUCache<string, string>({ max: CACHED_FILES });
  return async (caller) => {
    const [schemaSnapshot, permissions] = [await schema.snapshot(), await access.permissions(caller)];
    const key = `${schemaSnapshot.version} ${permissions.admin} ${permissions.digest}`;
    const known = files.get(key);
    if (known !== undefined) return known;
    const readable = new Map<string, ReadonlySet<string>>();
    for (const collection of schemaSnapshot.collections.values()) {
      if (!hasReadableRows(collection) || !(await access.isAllowed(caller, 'read', collection.name))) continue;
      readable.set(collection.name, await access.readableFields(collection, caller));
    }
    const text = renderTypes(typedSchemaOf(schemaSnapshot, readable as ReadableFields));
    files.set(key, text);
    return text;
  };
}
