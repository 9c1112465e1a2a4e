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
import type { GraphqlField } from '../contract.ts';

/** Kinds of types that a field may bring along. */
export type OwnType = ObjectTypeDefinitionNode | InputObjectTypeDefinitionNode | EnumTypeDefinitionNode;

/** What a contributed field says in the schema language. */
export interface Definition {
  readonly field: FieldDefinitionNode;
  readonly types: readonly { readonly name: string; readonly node: OwnType; readonly text: string }[];
}

const known = new WeakMap<GraphqlField, Definition | string>();

/** Read once for all callers; a text says what is wrong with it. */
export function definitionOf(field: GraphqlField): Definition | string {
  const found = known.get(field) ?? read(field);
  known.set(field, found);
  return found;
}

function read({ definition, types = '' }: GraphqlField): Definition | string {
  try {
    const [root, ...rest] = parse(`type Root { ${definition} }`, { noLocation: true }).definitions;
    const [field, ...others] = root?.kind === Kind.OBJECT_TYPE_DEFINITION ? (root.fields ?? []) : [];
    if (!field || others.length > 0 || rest.length > 0) return 'it defines something else than one field';
    const own: Definition['types'][number][] = [];
    for (const node of types.trim() === '' ? [] : parse(types, { noLocation: true }).definitions) {
      if (!isOwnType(node)) return `it may not define a ${node.kind}`;
      own.push({ name: node.name.value, node, text: print(node) });
    }
    const reserved = [field, ...own.map(({ node }) => node)].flatMap(reservedIn)[0];
    return reserved === undefined ? { field, types: own } : `only GraphQL itself may call something ${reserved}`;
  } catch (error) {
    return (error as Error).message;
  }
}

/** A second type called `__Type` would leave nobody a schema. */
function reservedIn(node: ASTNode): readonly string[] {
  const found: string[] = [];
  visit(node, {
    Name({ value }) {
      if (value.startsWith('__')) found.push(value);
    },
  });
  return found;
}

const isOwnType = (node: { readonly kind: string }): node is OwnType =>
  node.kind === Kind.OBJECT_TYPE_DEFINITION ||
  node.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION ||
  node.kind === Kind.ENUM_TYPE_DEFINITION;
