import { type GraphQLInputType, getNamedType, isInputObjectType, isLeafType, isListType, isNonNullType } from 'graphql';
import type { SeededRandom } from '../../support/random.ts';

/** Creates a writer of argument values, which renders some of them, or parts of them, as variables and the others as literals. */
export function createArgumentValueWriter(random: SeededRandom) {
  const variables: Record<string, unknown> = {};
  const declared: string[] = [];

  const variable = (type: string, value: unknown, mayBeLeftOut = false): string => {
    const name = `v${declared.length}`;
    const isDefault = random.chance(0.2) && value !== null;
    declared.push(`$${name}: ${type}${isDefault ? ` = ${renderLiteral(value)}` : ''}`);
    if (!isDefault && !(mayBeLeftOut && random.chance(0.15))) variables[name] = value;
    return `$${name}`;
  };

  /** Renders a value as a literal, parts of it as variables. Variables of object members may be missing. */
  function writeValue(value: unknown, type: GraphQLInputType, isElement = false): string {
    const inner = isNonNullType(type) ? type.ofType : type;
    if (random.chance(0.15)) return variable(String(type), value, inner === type && !isElement);
    if (value === null || isLeafType(getNamedType(inner))) {
      if (Array.isArray(value) && isListType(inner) && random.chance(0.7))
        return `[${value.map((one) => writeValue(one, inner.ofType as GraphQLInputType, true)).join(', ')}]`;
      return renderLiteral(value);
    }
    if (isListType(inner))
      return `[${(value as readonly unknown[]).map((one) => writeValue(one, inner.ofType as GraphQLInputType, true)).join(', ')}]`;
    if (!isInputObjectType(inner)) return renderLiteral(value);
    const fields = inner.getFields();
    const entries = Object.entries(value as object).map(
      ([name, one]) => `${name}: ${writeValue(one, (fields[name] as { type: GraphQLInputType }).type)}`,
    );
    return `{ ${entries.join(', ')} }`;
  }

  return { variables, declared, variable, writeValue };
}

/** Renders a value as a GraphQL literal. */
function renderLiteral(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(renderLiteral).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([name, one]) => `${name}: ${renderLiteral(one)}`)
    .join(', ')} }`;
}
