import { authorities, facet } from '#kernel';
import {
  type DistinctGraphqlFields,
  parseGraphqlFieldName,
  separateDuplicateGraphqlFields,
} from './fields/unique-contributed-fields.ts';
import type { GraphqlResolverContext } from './operations-contract.ts';

/**
 * `items` is `/graphql`, with user collections; `system` is `/graphql/system`, with system collections (specification,
 * "Items endpoints").
 */
export type GraphqlScope = 'items' | 'system';

/** Documents that come by other ways than HTTP requests, and subscriptions; for core plugins alone. */
export {
  type GraphqlOperations,
  type GraphqlRequest,
  type GraphqlResolverContext,
  type GraphqlSubscription,
  graphqlOperations,
  graphqlSubscriptions,
  type PreparedGraphqlOperation,
  type RowChangeEvent,
  type SubscriptionSource,
} from './operations-contract.ts';

/** A root field that is not derived from a collection: sign-in, the state of the service, the row of the own user. */
export interface ContributedGraphqlField {
  readonly scope: GraphqlScope;
  readonly operation: 'query' | 'mutation';
  /**
   * The field in the schema language: `auth_logout(refresh_token: String): Boolean`. It may name types of collections
   * (`platform_users`, `update_platform_users_input`). A caller without such a type does not have the field.
   */
  readonly definition: string;
  /**
   * Types that the definition names, in the schema language. Two fields that define one name must use the same text.
   */
  readonly types?: string;
  /** The callers whose schema has the field: admins, or callers with an action on a collection. Default: all. */
  readonly offeredTo?: 'admins' | { readonly collection: string; readonly action: string };
  /** A request may have one field with `once`, so that no request can try many secrets. */
  readonly once?: true;
  /**
   * Returns the value of the field: plain data in the form of its type (a `BigInt` is a text; a missing member is
   * null). With `row` it returns a key, or null for no row. `args` match the definition; arguments that the document
   * omits are absent.
   * @throws Failures, which the response carries under `errors`.
   */
  resolve(args: Readonly<Record<string, unknown>>, call: GraphqlResolverContext): unknown;
  /**
   * The field answers the row of this collection with the key that `resolve` returns. It is read with the selection of
   * the document under the caller's permissions. A missing or unreadable row is FORBIDDEN in a query, as with
   * `<c>_by_id`.
   */
  readonly row?: string;
}

/**
 * The facet of further root fields. Plugins of lower floors contribute by its id, with `"optional": true` in their
 * manifest: `host.contribute<ContributedGraphqlField>('graphql.fields', field)`. Of several fields with one name in one root the
 * first is kept.
 */
export const graphqlFields = facet<ContributedGraphqlField, DistinctGraphqlFields>('graphql.fields', {
  combine: separateDuplicateGraphqlFields,
  manifest: {
    type: 'object',
    additionalProperties: false,
    required: ['names'],
    properties: { names: { type: 'array', minItems: 1, items: { type: 'string', pattern: '^[a-z][a-z0-9_]*$' } } },
  },
  validate: ({ definition }, declared) =>
    declared.names.includes(parseGraphqlFieldName(definition)) ||
    `${parseGraphqlFieldName(definition)} is not declared`,
  describe: (declared) => authorities('answers', declared.names, 'by GraphQL'),
});
