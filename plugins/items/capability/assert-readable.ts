import { type Caller, fail } from '#kernel';
import type { RawQuery, Read, Pick as Shown } from '../../query/contract.ts';
import { isUnknownField, unknownField } from '../../query/library.ts';
import { findCollection } from '../collection-target.ts';
import type { Deps } from '../deps.ts';
import type { BoundedQuery } from './bounded-query.ts';
import { collectReadCollections } from './read-collections.ts';

type ReadableDeps = Pick<Deps, 'access' | 'query' | 'schema'>;

/**
 * FORBIDDEN unless all that the query names can be read: what a request would leave out of its answer in silence is refused
 * here (conventions, "items"). `within` are the collections it may tell of, if not any.
 */
export async function assertReadable(
  { access, query, schema }: ReadableDeps,
  caller: Caller,
  name: string,
  boundedQuery: BoundedQuery,
  grantedCollections: ReadonlySet<string> | undefined,
): Promise<void> {
  const set = await access.permissions(caller);
  if (set.of(name, 'read').length === 0) throw fail('FORBIDDEN', `no read permission on ${name}`);

  async function check(): Promise<string> {
    const { schemaSnapshot, collection } = await findCollection(schema, name);
    const visible = access.visible(set);
    const parse = async (raw: RawQuery): Promise<readonly [requested: Read, permitted: Read]> => {
      let isUnknown = false;
      const read = query.parse(collection, raw, {
        overview: schemaSnapshot,
        visible,
        onUnknown() {
          isUnknown = true;
        },
      });
      if (isUnknown) throw unknownField('in fields', name);
      return [read, await access.restrict(read, caller, schemaSnapshot)];
    };
    const [requestedRead] = await parse(boundedQuery);
    if (grantedCollections) {
      for (const one of collectReadCollections(requestedRead)) {
        if (!grantedCollections.has(one)) throw fail('FORBIDDEN', `the query tells of ${one}, which is not granted`);
      }
    }
    for (const path of boundedQuery.fields.filter((one) => one !== '*')) {
      // One at a time: of one path it can be told whether any of it is gone.
      if (!(await parse({ fields: [path] })).every(isFullyReadable))
        throw fail('FORBIDDEN', `${path} of ${name} may not be read`);
    }
    return schemaSnapshot.version;
  }

  try {
    await check();
  } catch (error) {
    if (!isUnknownField(error)) throw error;
    // It may be that of a column made a moment ago.
    const { version } = await schema.overview();
    if ((await schema.refresh()).version === version) throw error;
    await check();
  }
}

/** Does the one path asked for lead somewhere, all the way? */
const isFullyReadable = ({ pick: [only] }: Read): boolean => only !== undefined && isProjectionReadable(only);

function isProjectionReadable(pick: Shown): boolean {
  if (pick.kind === 'one' || pick.kind === 'many') return isFullyReadable(pick.read);
  return pick.kind !== 'any' || pick.reads.some(isFullyReadable);
}
