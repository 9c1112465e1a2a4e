import type { GraphQLError } from 'graphql';

/** The value of a root field as JSON text, null when it failed, and the errors of its subfields with their paths. */
export interface RootFieldResult {
  readonly text: string | null;
  readonly errors?: readonly GraphQLError[];
}
