import {
  type FieldDefinitionNode,
  GraphQLEnumType,
  type GraphQLFieldConfig,
  type GraphQLInputFieldConfig,
  GraphQLInputObjectType,
  GraphQLList,
  type GraphQLNamedType,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLType,
  type InputValueDefinitionNode,
  isInputType,
  isOutputType,
  Kind,
  type TypeNode,
} from 'graphql';
import type { ContributedTypeDefinitionNode } from './contributed-definition.ts';

/** Finds a type by name; undefined when the caller does not have it. */
export type FindType = (name: string) => GraphQLNamedType | undefined;

/** Why a field cannot be in a schema: an unknown type, or an input type in place of an output type or the reverse. */
export interface TypeProblem {
  readonly kind: 'absent' | 'misplaced';
  readonly name: string;
}

export interface ContributedDefinitionConverter {
  /** Returns the first problem among all types that the definition reaches. */
  findObstacle(field: FieldDefinitionNode): TypeProblem | undefined;
  /** Converts a definition for which `findObstacle` finds no problem. */
  toFieldConfig(field: FieldDefinitionNode): GraphQLFieldConfig<unknown, unknown>;
}

/** Creates types from definitions, which may name each other and the types that `findOther` finds. */
export function createContributedDefinitionConverter(
  declared: ReadonlyMap<string, ContributedTypeDefinitionNode>,
  findOther: FindType,
): ContributedDefinitionConverter {
  const types = new Map<string, GraphQLNamedType>();
  const findType: FindType = (name) => {
    const node = declared.get(name);
    if (!node) return findOther(name);
    const type = types.get(name) ?? createType(node);
    types.set(name, type);
    return type;
  };

  function createType(node: ContributedTypeDefinitionNode): GraphQLNamedType {
    const common = { name: node.name.value, description: node.description?.value };
    if (node.kind === Kind.ENUM_TYPE_DEFINITION)
      return new GraphQLEnumType({
        ...common,
        values: mapByName(node.values, ({ description }) => ({ description: description?.value })),
      });
    return node.kind === Kind.OBJECT_TYPE_DEFINITION
      ? new GraphQLObjectType({ ...common, fields: () => mapByName(node.fields, toFieldConfig) })
      : new GraphQLInputObjectType({ ...common, fields: () => mapByName(node.fields, toInputConfig) });
  }

  const toFieldConfig = ({ type, description, arguments: args }: FieldDefinitionNode) =>
    ({
      type: resolveType(type, findType),
      description: description?.value,
      args: mapByName(args, toInputConfig),
    }) as GraphQLFieldConfig<unknown, unknown>;

  const toInputConfig = ({ type, description, defaultValue }: InputValueDefinitionNode) =>
    ({
      type: resolveType(type, findType),
      description: description?.value,
      ...(defaultValue ? { default: { literal: defaultValue } } : {}),
    }) as GraphQLInputFieldConfig;

  function typeObstacle(
    node: TypeNode,
    fits: (type: GraphQLType) => boolean,
    visited: Set<string>,
  ): TypeProblem | undefined {
    const name = namedTypeOf(node);
    const type = findType(name);
    if (!type) return { kind: 'absent', name };
    if (!fits(type)) return { kind: 'misplaced', name };
    const definition = declared.get(name);
    if (!definition || definition.kind === Kind.ENUM_TYPE_DEFINITION || visited.has(name)) return undefined;
    visited.add(name);
    return definition.kind === Kind.OBJECT_TYPE_DEFINITION
      ? findFirst(definition.fields, (field) => fieldObstacle(field, visited))
      : findFirst(definition.fields, (field) => typeObstacle(field.type, isInputType, visited));
  }

  const fieldObstacle = (field: FieldDefinitionNode, visited: Set<string>): TypeProblem | undefined =>
    typeObstacle(field.type, isOutputType, visited) ??
    findFirst(field.arguments, ({ type }) => typeObstacle(type, isInputType, visited));

  return { findObstacle: (field) => fieldObstacle(field, new Set()), toFieldConfig };
}

const namedTypeOf = (node: TypeNode): string =>
  node.kind === Kind.NAMED_TYPE ? node.name.value : namedTypeOf(node.type);

function resolveType(node: TypeNode, lookup: FindType): GraphQLType {
  if (node.kind === Kind.LIST_TYPE) return new GraphQLList(resolveType(node.type, lookup));
  if (node.kind === Kind.NON_NULL_TYPE) return new GraphQLNonNull(resolveType(node.type, lookup) as GraphQLNamedType);
  return lookup(node.name.value) as GraphQLNamedType;
}

function mapByName<N extends { readonly name: { readonly value: string } }, C>(
  nodes: readonly N[] | undefined,
  each: (node: N) => C,
): Record<string, C> {
  return Object.fromEntries((nodes ?? []).map((node) => [node.name.value, each(node)]));
}

function findFirst<N, T>(nodes: readonly N[] | undefined, each: (node: N) => T | undefined): T | undefined {
  for (const node of nodes ?? []) {
    const result = each(node);
    if (result !== undefined) return result;
  }
  return undefined;
}
