import { GraphQLObjectType, GraphQLSchema, specifiedScalarTypes } from 'graphql';
import type { Access, PermissionSet } from '../../access/contract.ts';
import type { Overview } from '../../schema/contract.ts';
import type { GraphqlScope } from '../contract.ts';
import { bound } from './binding.ts';
import { type Contributed, contributedFields, contributedTypeNames } from './contributed.ts';
import { modelOf } from './model.ts';
import { writeFields } from './mutations.ts';
import { namesOf, type Warn } from './names.ts';
import { type RootFields, readFields } from './roots.ts';
import { VoidScalar } from './scalars.ts';
import { createTypes } from './types.ts';

export interface SchemaInput {
  readonly overview: Overview;
  readonly permissions: PermissionSet;
  readonly listed: Access['listed'];
  readonly scope: GraphqlScope;
  readonly contributed: Contributed;
  /** Told of what is left out; what has to do with names once for each overview. */
  readonly warn: Warn;
}

/**
 * The schema of callers with these permissions: what they may not do is not in it. It holds on to no part of the overview
 * once it is made.
 */
export function buildSchema({ overview, permissions, listed, scope, contributed, warn }: SchemaInput): GraphQLSchema {
  const names = namesOf(overview, scope, contributedTypeNames(contributed, scope), warn);
  const types = createTypes(modelOf(names, permissions, listed));
  const more = contributedFields(types, contributed, scope, warn);
  const query = together(readFields(types), more.query, warn);
  const mutation = together(writeFields(types), more.mutation, warn);
  return new GraphQLSchema({
    query: object('Query', query.length > 0 ? query : NOTHING),
    ...(mutation.length > 0 ? { mutation: object('Mutation', mutation) } : {}),
    // Variables inside JSON may be of these, whether or not a field is.
    types: specifiedScalarTypes,
    // Checking it all at run time would take longer than making it; tests do.
    assumeValid: true,
  });
}

const object = (name: string, fields: RootFields) =>
  new GraphQLObjectType({ name, fields: Object.fromEntries(fields) });

const NOTHING: RootFields = [['_empty', { type: VoidScalar, extensions: bound({ kind: 'nothing' }) }]];

/** Fields of collections stay where another plugin calls its own the same. */
function together(own: RootFields, more: RootFields, warn: Warn): RootFields {
  const taken = new Set(own.map(([name]) => name));
  return [
    ...own,
    ...more.filter(([name]) => {
      const isFree = !taken.has(name);
      if (!isFree) warn('a field is left out of GraphQL: another one is called the same', { field: name });
      taken.add(name);
      return isFree;
    }),
  ];
}
