import { type GraphQLInputType, getNamedType, isInputObjectType, isLeafType, isListType, isNonNullType } from 'graphql';
import type { Random } from '../../support/random.ts';

/** Says values in GraphQL, some of them, and parts of some, as variables, which it declares. */
export function createValueWriter(random: Random) {
  const variables: Record<string, unknown> = {};
  const declared: string[] = [];

  const variable = (type: string, value: unknown, mayBeLeftOut = false): string => {
    const name = `v${declared.length}`;
    const isDefault = random.chance(0.2) && value !== null;
    declared.push(`$${name}: ${type}${isDefault ? ` = ${renderLiteral(value)}` : ''}`);
    if (!isDefault && !(mayBeLeftOut && random.chance(0.15))) variables[name] = value;
    return `$${name}`;
  };

  /** A value as a literal, parts of it as variables. Of an object those may be left out, and then say nothing. */
  function said(value: unknown, type: GraphQLInputType, isElement = false): string {
    const inner = isNonNullType(type) ? type.ofType : type;
    if (random.chance(0.15)) return variable(String(type), value, inner === type && !isElement);
    if (value === null || isLeafType(getNamedType(inner))) {
      if (Array.isArray(value) && isListType(inner) && random.chance(0.7))
        return `[${value.map((one) => said(one, inner.ofType as GraphQLInputType, true)).join(', ')}]`;
      return renderLiteral(value);
    }
    if (isListType(inner))
      return `[${(value as readonly unknown[]).map((one) => said(one, inner.ofType as GraphQLInputType, true)).join(', ')}]`;
    if (!isInputObjectType(inner)) return renderLiteral(value);
    const fields = inner.getFields();
    const entries = Object.entries(value as object).map(
      ([name, one]) => `${name}: ${said(one, (fields[name] as { type: GraphQLInputType }).type)}`,
    );
    return `{ ${entries.join(', ')} }`;
  }

  return { variables, declared, variable, said };
}

/** A value in GraphQL. */
function renderLiteral(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(renderLiteral).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([name, one]) => `${name}: ${renderLiteral(one)}`)
    .join(', ')} }`;
}
