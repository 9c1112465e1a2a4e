import { authorities, type Caller, facet } from '#kernel';
import type { HttpContext } from '../http/contract.ts';
import { type DistinctFields, fieldNameOf, keepFirstByName } from './fields/distinct-fields.ts';

/** `items` is `/graphql`, with the collections of users; `system` is `/graphql/system`, with the service's own. */
export type GraphqlScope = 'items' | 'system';

/** The request a field is resolved in. */
export interface GraphqlCall {
  readonly caller: Caller;
  /** The request itself: for cookies, and for the client before a user is known. */
  readonly ctx: HttpContext;
}

/** A field of the root that is not made from a collection: signing in, the state of the service, the user's own row. */
export interface GraphqlField {
  readonly scope: GraphqlScope;
  readonly operation: 'query' | 'mutation';
  /**
   * In the schema language: `auth_logout(refresh_token: String): Boolean`. It may name the types of collections
   * (`platform_users`, `update_platform_users_input`), and is left out where the caller has no such type.
   */
  readonly definition: string;
  /** Types that the definition names, in the schema language. The same name in two fields means the same text. */
  readonly types?: string;
  /** The callers whose schema has it; by default all. */
  readonly offeredTo?: 'admins' | { readonly collection: string; readonly action: string };
  /** At most one field marked so in a request, which would otherwise be a way to try many secrets at once. */
  readonly once?: true;
  /**
   * Answers the value of the field: plain data in the form of its type (a `BigInt` is a text; what is missing is null), or
   * with `row` a key, null for no row. `args` were checked against the definition; those that the document leaves out are absent.
   * @throws Failures, which the answer carries under `errors`.
   */
  resolve(args: Readonly<Record<string, unknown>>, call: GraphqlCall): unknown;
  /**
   * The answer is the row of this collection whose key `resolve` gave, read with what the document asks of it under the
   * caller's permissions. A query for one that is not there or may not be read is FORBIDDEN, like `<c>_by_id`.
   */
  readonly row?: string;
}

/**
 * Fields beside those of collections. Plugins of lower floors name it by its id, and say `"optional": true` in their manifest:
 * `host.contribute<GraphqlField>('graphql.fields', field)`. Of several fields with one name in one root the first is kept.
 */
export const graphqlFields = facet<GraphqlField, DistinctFields>('graphql.fields', {
  combine: keepFirstByName,
  manifest: {
    type: 'object',
    additionalProperties: false,
    required: ['names'],
    properties: { names: { type: 'array', minItems: 1, items: { type: 'string', pattern: '^[a-z][a-z0-9_]*$' } } },
  },
  admit: ({ definition }, declared) =>
    declared.names.includes(fieldNameOf(definition)) || `${fieldNameOf(definition)} is not declared`,
  describe: (declared) => authorities('answers', declared.names, 'by GraphQL'),
});
