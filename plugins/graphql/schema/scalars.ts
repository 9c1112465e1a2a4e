import {
  type ConstValueNode,
  GraphQLError,
  type GraphQLScalarLiteralParser,
  GraphQLScalarType,
  Kind,
  type ValueNode,
} from 'graphql';

// Output values are JSON of PostgreSQL, so scalars mainly coerce inputs. `coerceOutputValue` is only used for
// contributed fields.

const DIGITS = /^-?\d+$/;

const createScalarError = (name: string, what: string, node?: ValueNode) =>
  new GraphQLError(`${name} cannot represent ${what}`, node ? { nodes: node } : undefined);

/** Converts to a text, so that no digit is lost. A text that begins with `$` is a dynamic value of a filter. */
function toBigIntText(value: unknown): string {
  if (typeof value === 'string' && (DIGITS.test(value) || value.startsWith('$'))) return value;
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return String(value);
  throw createScalarError(
    'BigInt',
    'a value that is not an integer, or an integer too large for a JSON number: send it as a text',
  );
}

export const BigIntScalar = new GraphQLScalarType({
  name: 'BigInt',
  description: 'A whole number of up to 64 bits, as a text.',
  coerceOutputValue: String,
  coerceInputValue: toBigIntText,
  coerceInputLiteral(node) {
    if (node.kind === Kind.INT || node.kind === Kind.STRING) return toBigIntText(node.value);
    throw createScalarError('BigInt', 'a value that is not an integer', node);
  },
});

/** A scalar that accepts texts; the engine checks their content. */
const createTextScalar = (name: string, description: string) => {
  const text = (value: unknown) => {
    if (typeof value === 'string') return value;
    throw createScalarError(name, 'a value that is not a text');
  };
  return new GraphQLScalarType({
    name,
    description,
    coerceOutputValue: (value) => (value instanceof Date ? value.toISOString() : text(value)),
    coerceInputValue: text,
    coerceInputLiteral(node) {
      if (node.kind === Kind.STRING) return node.value;
      throw createScalarError(name, 'a value that is not a text', node);
    },
  });
};

export const DateScalar = createTextScalar('Date', 'A date, a time or both, as a text: `2026-01-31T13:30:00Z`.');
export const HashScalar = createTextScalar('Hash', 'A concealed value: it is always answered as a mask.');

/** The number of a literal if JavaScript can represent it exactly, else its digits. */
const toExactNumber = (text: string): number | string => (String(Number(text)) === text ? Number(text) : text);

export const StringOrFloatScalar = new GraphQLScalarType({
  name: 'StringOrFloat',
  description: 'A number, or a text that stands for one.',
  coerceInputValue(value) {
    if (typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value))) return value;
    throw createScalarError('StringOrFloat', 'a value that is neither a number nor a text');
  },
  coerceInputLiteral(node) {
    if (node.kind === Kind.STRING) return node.value;
    if (node.kind === Kind.INT || node.kind === Kind.FLOAT) return toExactNumber(node.value);
    throw createScalarError('StringOrFloat', 'a value that is neither a number nor a text', node);
  },
});

type Variables = Parameters<GraphQLScalarLiteralParser<unknown>>[1];

/** Converts a literal to a JSON value. Variables are replaced by their values; missing ones are left out. */
function toJsonValue(node: ValueNode, variables: Variables): unknown {
  switch (node.kind) {
    case Kind.VARIABLE:
      return variables?.[node.name.value];
    case Kind.NULL:
      return null;
    case Kind.INT:
    case Kind.FLOAT:
      return Number(node.value);
    case Kind.LIST:
      return node.values.map((one) => toJsonValue(one, variables) ?? null);
    case Kind.OBJECT: {
      // No prototype, so that the name `__proto__` is an ordinary one.
      const object: Record<string, unknown> = Object.create(null);
      for (const { name, value } of node.fields) {
        const inner = toJsonValue(value, variables);
        if (inner !== undefined) object[name.value] = inner;
      }
      return object;
    }
    default:
      return node.value;
  }
}

const identity = (value: unknown) => value;

/**
 * Uses `parseLiteral` and not `coerceInputLiteral`, which gets variables inside a literal as literals: an `ID` of
 * digits would become a number.
 */
export const JsonScalar = new GraphQLScalarType({
  name: 'JSON',
  description: 'Any JSON value.',
  serialize: identity,
  parseValue: identity,
  parseLiteral: toJsonValue,
});

function assertGeometry(value: unknown): unknown {
  if (typeof value === 'object' && value !== null && 'type' in value) return value;
  throw createScalarError('GeoJSON', 'a value that is not an object with "type"');
}

export const GeoJsonScalar = new GraphQLScalarType({
  name: 'GeoJSON',
  description: 'A GeoJSON geometry: an object with `type` and `coordinates`.',
  serialize: identity,
  parseValue: assertGeometry,
  parseLiteral: (node, variables) => assertGeometry(toJsonValue(node, variables)),
});

const refuseValue = (_node: ConstValueNode | unknown): never => {
  throw createScalarError('Void', 'any value');
};

export const VoidScalar = new GraphQLScalarType({
  name: 'Void',
  description: 'Nothing: always null.',
  coerceOutputValue: () => null,
  coerceInputValue: refuseValue,
  coerceInputLiteral: refuseValue,
});

export const SCALARS = [
  BigIntScalar,
  DateScalar,
  GeoJsonScalar,
  HashScalar,
  JsonScalar,
  StringOrFloatScalar,
  VoidScalar,
] as const;
