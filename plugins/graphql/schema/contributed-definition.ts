import {
  type ASTNode,
  type EnumTypeDefinitionNode,
  type FieldDefinitionNode,
  type InputObjectTypeDefinitionNode,
  Kind,
  type ObjectTypeDefinitionNode,
  parse,
  print,
  visit,
} from 'graphql';
import type { ContributedGraphqlField } from '../contract.ts';

/** Kinds of types that a contributed field may define. */
export type ContributedTypeDefinitionNode =
  | ObjectTypeDefinitionNode
  | InputObjectTypeDefinitionNode
  | EnumTypeDefinitionNode;

/** The parsed definition of a contributed field. */
export interface ContributedFieldDefinition {
  readonly field: FieldDefinitionNode;
  readonly types: readonly {
    readonly name: string;
    readonly node: ContributedTypeDefinitionNode;
    readonly text: string;
  }[];
}

const definitions = new WeakMap<ContributedGraphqlField, ContributedFieldDefinition | string>();

/** Parses a definition once for all callers; a string is the reason why it is invalid. */
export function parseContributedField(field: ContributedGraphqlField): ContributedFieldDefinition | string {
  const found = definitions.get(field) ?? parseField(field);
  definitions.set(field, found);
  return found;
}

function parseField({ definition, types = '' }: ContributedGraphqlField): ContributedFieldDefinition | string {
  try {
    const [root, ...rest] = parse(`type Root { ${definition} }`, { noLocation: true }).definitions;
    const [field, ...others] = root?.kind === Kind.OBJECT_TYPE_DEFINITION ? (root.fields ?? []) : [];
    if (!field || others.length > 0 || rest.length > 0) return 'the definition is not exactly one field';
    const definedTypes: ContributedFieldDefinition['types'][number][] = [];
    for (const node of types.trim() === '' ? [] : parse(types, { noLocation: true }).definitions) {
      if (!isDefinedType(node)) return `it may not define a ${node.kind}`;
      definedTypes.push({ name: node.name.value, node, text: print(node) });
    }
    const reserved = [field, ...definedTypes.map(({ node }) => node)].flatMap(findReservedNames)[0];
    return reserved === undefined ? { field, types: definedTypes } : `GraphQL reserves the name ${reserved}`;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Names that GraphQL reserves: a second type `__Type` would make every schema invalid. */
function findReservedNames(node: ASTNode): readonly string[] {
  const found: string[] = [];
  visit(node, {
    Name({ value }) {
      if (value.startsWith('__')) found.push(value);
    },
  });
  return found;
}

const isDefinedType = (node: { readonly kind: string }): node is ContributedTypeDefinitionNode =>
  node.kind === Kind.OBJECT_TYPE_DEFINITION ||
  node.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION ||
  node.kind === Kind.ENUM_TYPE_DEFINITION;
