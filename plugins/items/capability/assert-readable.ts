import { type Caller, fail } from '#kernel';
import type { RawQuery, ReadNode, Projection as Shown } from '../../query/contract.ts';
import { createUnknownFieldFailure, isUnknownFieldFailure } from '../../query/library.ts';
import type { ItemsEngineDeps } from '../deps.ts';
import { requireServedCollection } from '../find-collection-and-key.ts';
import type { BoundedQuery } from './bounded-query.ts';
import { collectReadCollections } from './collections-used-by-read.ts';

type ReadableDeps = Pick<ItemsEngineDeps, 'access' | 'query' | 'schema'>;

/**
 * Asserts that the caller may read everything that the query names; an HTTP request would only omit unreadable fields
 * from its answer (conventions, "items"). `grantedCollections` are the collections that the query may use, undefined
 * for all.
 * @throws FORBIDDEN
 */
export async function assertQueryReadable(
  { access, query, schema }: ReadableDeps,
  caller: Caller,
  name: string,
  boundedQuery: BoundedQuery,
  grantedCollections: ReadonlySet<string> | undefined,
): Promise<void> {
  const set = await access.permissions(caller);
  if (set.of(name, 'read').length === 0) throw fail('FORBIDDEN', `no read permission on ${name}`);

  async function check(): Promise<string> {
    const { schemaSnapshot, collection } = await requireServedCollection(schema, name);
    const visible = access.fieldVisibility(set);
    const parse = async (raw: RawQuery): Promise<readonly [requested: ReadNode, permitted: ReadNode]> => {
      let isUnknown = false;
      const read = query.parse(collection, raw, {
        schema: schemaSnapshot,
        isVisible: visible,
        onUnknownField() {
          isUnknown = true;
        },
      });
      if (isUnknown) throw createUnknownFieldFailure('in fields', name);
      return [read, await access.restrict(read, caller, schemaSnapshot)];
    };
    const [requestedRead] = await parse(boundedQuery);
    if (grantedCollections) {
      for (const one of collectReadCollections(requestedRead)) {
        if (!grantedCollections.has(one)) throw fail('FORBIDDEN', `the query uses ${one}, which is not granted`);
      }
    }
    for (const path of boundedQuery.fields.filter((one) => one !== '*')) {
      // Each path is checked by itself: only then does an empty result show that permissions removed a part of it.
      if (!(await parse({ fields: [path] })).every(isFullyReadable))
        throw fail('FORBIDDEN', `${path} of ${name} may not be read`);
    }
    return schemaSnapshot.version;
  }

  try {
    await check();
  } catch (error) {
    if (!isUnknownFieldFailure(error)) throw error;
    // The unknown field may be a column that was created a moment ago.
    const { version } = await schema.snapshot();
    if ((await schema.refresh()).version === version) throw error;
    await check();
  }
}

/** Whether each step of the one requested path is readable. */
const isFullyReadable = ({ projections: [only] }: ReadNode): boolean =>
  only !== undefined && isProjectionReadable(only);

function isProjectionReadable(pick: Shown): boolean {
  if (pick.kind === 'one' || pick.kind === 'many') return isFullyReadable(pick.read);
  return pick.kind !== 'any' || pick.reads.some(isFullyReadable);
}
