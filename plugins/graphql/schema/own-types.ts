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
import type { OwnType } from './definition.ts';

/** Types by name; undefined for those the caller does not have. */
export type Lookup = (name: string) => GraphQLNamedType | undefined;

/** Why a field cannot be in a schema: a name that is not there, or a type that does not fit where it stands. */
export interface Obstacle {
  readonly kind: 'absent' | 'misplaced';
  readonly name: string;
}

export interface OwnTypes {
  /** Looks at everything that the definition leads to. */
  obstacle(field: FieldDefinitionNode): Obstacle | undefined;
  /** Of a definition without obstacle. */
  config(field: FieldDefinitionNode): GraphQLFieldConfig<unknown, unknown>;
}

/** Types said in the schema language, which name each other and those that `others` finds. */
export function ownTypes(declared: ReadonlyMap<string, OwnType>, others: Lookup): OwnTypes {
  const made = new Map<string, GraphQLNamedType>();
  const lookup: Lookup = (name) => {
    const node = declared.get(name);
    if (!node) return others(name);
    const type = made.get(name) ?? typeOf(node);
    made.set(name, type);
    return type;
  };

  function typeOf(node: OwnType): GraphQLNamedType {
    const about = { name: node.name.value, description: node.description?.value };
    if (node.kind === Kind.ENUM_TYPE_DEFINITION)
      return new GraphQLEnumType({
        ...about,
        values: entries(node.values, ({ description }) => ({ description: description?.value })),
      });
    return node.kind === Kind.OBJECT_TYPE_DEFINITION
      ? new GraphQLObjectType({ ...about, fields: () => entries(node.fields, config) })
      : new GraphQLInputObjectType({ ...about, fields: () => entries(node.fields, inputConfig) });
  }

  const config = ({ type, description, arguments: args }: FieldDefinitionNode) =>
    ({
      type: resolved(type, lookup),
      description: description?.value,
      args: entries(args, inputConfig),
    }) as GraphQLFieldConfig<unknown, unknown>;

  const inputConfig = ({ type, description, defaultValue }: InputValueDefinitionNode) =>
    ({
      type: resolved(type, lookup),
      description: description?.value,
      ...(defaultValue ? { default: { literal: defaultValue } } : {}),
    }) as GraphQLInputFieldConfig;

  function obstacleOf(node: TypeNode, fits: (type: GraphQLType) => boolean, seen: Set<string>): Obstacle | undefined {
    const name = nameIn(node);
    const type = lookup(name);
    if (!type) return { kind: 'absent', name };
    if (!fits(type)) return { kind: 'misplaced', name };
    const own = declared.get(name);
    if (!own || own.kind === Kind.ENUM_TYPE_DEFINITION || seen.has(name)) return undefined;
    seen.add(name);
    return own.kind === Kind.OBJECT_TYPE_DEFINITION
      ? first(own.fields, (field) => obstacleOfField(field, seen))
      : first(own.fields, (field) => obstacleOf(field.type, isInputType, seen));
  }

  const obstacleOfField = (field: FieldDefinitionNode, seen: Set<string>): Obstacle | undefined =>
    obstacleOf(field.type, isOutputType, seen) ??
    first(field.arguments, ({ type }) => obstacleOf(type, isInputType, seen));

  return { obstacle: (field) => obstacleOfField(field, new Set()), config };
}

const nameIn = (node: TypeNode): string => (node.kind === Kind.NAMED_TYPE ? node.name.value : nameIn(node.type));

function resolved(node: TypeNode, lookup: Lookup): GraphQLType {
  if (node.kind === Kind.LIST_TYPE) return new GraphQLList(resolved(node.type, lookup));
  if (node.kind === Kind.NON_NULL_TYPE) return new GraphQLNonNull(resolved(node.type, lookup) as GraphQLNamedType);
  return lookup(node.name.value) as GraphQLNamedType;
}

function entries<N extends { readonly name: { readonly value: string } }, C>(
  nodes: readonly N[] | undefined,
  each: (node: N) => C,
): Record<string, C> {
  return Object.fromEntries((nodes ?? []).map((node) => [node.name.value, each(node)]));
}

function first<N, T>(nodes: readonly N[] | undefined, each: (node: N) => T | undefined): T | undefined {
  for (const node of nodes ?? []) {
    const found = each(node);
    if (found !== undefined) return found;
  }
  return undefined;
}
