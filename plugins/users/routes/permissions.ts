import type { Caller } from '#kernel';
import { type AccessControl, type Permission, PUBLIC_ROLE_ID } from '../../access/contract.ts';
import { matchesFilter } from '../../access/library.ts';
import type { HttpContext, Route } from '../../http/contract.ts';
import { bodyOf, parsedQueryStringOf, sendJsonTextInEnvelope } from '../../http/library.ts';
import type { ItemsEngine } from '../../items/contract.ts';
import { collectionRoutes } from '../../items/library.ts';
import type { RawQuery } from '../../query/contract.ts';

const PERMISSIONS = 'platform_permissions';

/** The routes `/permissions`: as of any collection, but lists are never paged and include what app access implies. */
export function permissionRoutes(items: ItemsEngine, access: Pick<AccessControl, 'permissions'>): readonly Route[] {
  const all = collectionRoutes(items, '/permissions', PERMISSIONS);
  const rest = all.filter(({ method, path }) => path !== '/permissions' || (method !== 'GET' && method !== 'SEARCH'));
  const ordinary = (method: Route['method']): Route => all.find((one) => one.method === method) as Route;
  const search = ordinary('SEARCH');

  async function list(ctx: HttpContext, requested: RawQuery): Promise<void> {
    const { caller } = ctx.state;
    const query = { ...requested, filter: replaceNullRoleInFilter(parseFilter(requested.filter)) };
    const { limit, page, offset, meta, ...whole } = query;
    // The paged read checks limit and page, and counts; the rows are answered without paging.
    const paged = [limit, page, offset, meta].some((one) => one !== undefined);
    const counts = paged
      ? (await items.readMany(caller, PERMISSIONS, { ...query, sort: undefined, fields: ['id'] })).meta
      : null;
    const rows: unknown[] = await items.rows(caller, PERMISSIONS, whole);
    const plain = requested.aggregate === undefined && requested.groupBy === undefined;
    const builtIn = plain ? minimumRecords(caller, (await access.permissions(caller)).minimum, query.filter) : [];
    sendJsonTextInEnvelope(ctx, JSON.stringify([...rows, ...builtIn]), counts ?? undefined);
  }

  return [
    { ...ordinary('GET'), handle: (ctx) => list(ctx, parsedQueryStringOf(ctx)) },
    {
      ...search,
      async handle(ctx) {
        const body = bodyOf(ctx);
        const { query, keys } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
        // A read by keys is a list like any other, and the route of items reports a wrong body.
        if (keys === undefined && typeof query === 'object' && query !== null) return list(ctx, query as RawQuery);
        return search.handle(ctx);
      },
    },
    ...rest,
  ];
}

/** The permissions that app access implies and the filter matches, as records without `id`, with `system: true`. */
function minimumRecords({ app, role }: Caller, rows: readonly Permission[], filter: unknown): readonly unknown[] {
  if (!app) return [];
  const condition = JSON.parse(JSON.stringify(filter ?? {}), (_, value) => (value === '$CURRENT_ROLE' ? role : value));
  return rows
    .map(({ collection, action, rule, validation, presets, fields }) => ({
      role,
      collection,
      action,
      permissions: rule ?? {},
      validation,
      presets,
      fields,
      system: true,
    }))
    .filter((record) => matchesFilter(condition, { id: null, ...record }));
}

function parseFilter(filter: unknown): unknown {
  if (typeof filter !== 'string') return filter;
  try {
    return JSON.parse(filter);
  } catch {
    // The query parser reports the error.
    return filter;
  }
}

/** Replaces `role: null` in a filter by the key of the Public role, which null stands for in payloads too. */
export function replaceNullRoleInFilter(filter: unknown, level = 0): unknown {
  // The query parser refuses deeper nesting.
  if (level > 200) return filter;
  if (Array.isArray(filter)) return filter.map((one) => replaceNullRoleInFilter(one, level + 1));
  if (typeof filter !== 'object' || filter === null) return filter;
  return Object.fromEntries(
    Object.entries(filter).map(([key, value]) => {
      if (key === '_and' || key === '_or') return [key, replaceNullRoleInFilter(value, level + 1)];
      return [key, key === 'role' ? toPublicRoleRule(value) : value];
    }),
  );
}

function toPublicRoleRule(rule: unknown): unknown {
  if (rule === null) return { _eq: PUBLIC_ROLE_ID };
  if (typeof rule !== 'object' || Array.isArray(rule)) return rule;
  const { _null: none, _nnull: some, ...others } = rule as Record<string, unknown>;
  const isNull = none !== undefined ? none !== false && none !== 'false' : some === false || some === 'false';
  if (none === undefined && some === undefined) return rule;
  return { ...others, [isNull ? '_eq' : '_neq']: PUBLIC_ROLE_ID };
}
