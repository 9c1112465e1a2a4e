import type { GraphQLError } from 'graphql';

/** The value of a root field as JSON text; null where it failed. `errors` of its parts, with paths of their own. */
export interface RootResult {
  readonly text: string | null;
  readonly errors?: readonly GraphQLError[];
}
