/** Keywords of JSON Schema that a manifest may use, with what their values are. */
const KEYWORDS: Readonly<Record<string, 'schema' | 'schemas' | 'named' | 'values' | 'plain'>> = {
  type: 'plain',
  title: 'plain',
  description: 'plain',
  default: 'plain',
  examples: 'plain',
  format: 'plain',
  const: 'plain',
  minimum: 'plain',
  maximum: 'plain',
  exclusiveMinimum: 'plain',
  exclusiveMaximum: 'plain',
  minLength: 'plain',
  maxLength: 'plain',
  minItems: 'plain',
  maxItems: 'plain',
  minProperties: 'plain',
  maxProperties: 'plain',
  required: 'plain',
  enum: 'values',
  properties: 'named',
  additionalProperties: 'schema',
  items: 'schema',
  anyOf: 'schemas',
};

/** Members of what an endpoint receives and answers. */
const MEMBERS = { input: ['method', 'path', 'query', 'body'], output: ['status', 'body'] } as const;

/**
 * Bounds of a schema. It is checked in the process of the service, for bodies of a megabyte: without references and patterns, and with
 * few alternatives, a check takes milliseconds.
 */
const LIMITS = { schemas: 200, values: 100, alternatives: 16, depth: 10 };

interface Counts {
  schemas: number;
  values: number;
  alternatives: number;
}

/** Problems of the members `input` and `output` of a confined endpoint in a manifest; each begins with its place. */
export const findEndpointSchemaProblems = (
  declared: { readonly input?: unknown; readonly output?: unknown },
  where: string,
): readonly string[] =>
  (['input', 'output'] as const).flatMap((name) => {
    const schema = declared[name];
    if (schema === undefined) return [];
    const at = `${where}/${name}`;
    const { type, properties = {} } = schema as { readonly type?: unknown; readonly properties?: object };
    if (type !== 'object') return [`${at}/type must be "object"`];
    const unknown = Object.keys(properties).filter((one) => !(MEMBERS[name] as readonly string[]).includes(one));
    if (unknown.length > 0) return [`${at}/properties must have no member but ${MEMBERS[name].join(', ')}`];
    return findSchemaProblems(schema, at, 0, { schemas: 0, values: 0, alternatives: 0 });
  });

function findSchemaProblems(schema: unknown, at: string, depth: number, counts: Counts): readonly string[] {
  if (depth > LIMITS.depth) return [`${at} must not be nested deeper than ${LIMITS.depth} levels`];
  if (++counts.schemas > LIMITS.schemas) return [`${at} must not be one of more than ${LIMITS.schemas} schemas`];
  if (!isObject(schema)) return [`${at} must be a schema, an object`];
  return Object.entries(schema).flatMap(([keyword, value]): readonly string[] => {
    const place = `${at}/${keyword}`;
    const kind = Object.hasOwn(KEYWORDS, keyword) ? KEYWORDS[keyword] : undefined;
    if (!kind) return [`${place} must be one of the keywords ${Object.keys(KEYWORDS).join(', ')}`];
    if (kind === 'named') return findNamedProblems(value, place, depth, counts);
    if (kind === 'schemas') return findAlternativeProblems(value, place, depth, counts);
    if (kind === 'values') return findValueProblems(value, place, counts);
    if (kind === 'plain') return findPlainProblems(keyword, value, place);
    return typeof value === 'boolean' ? [] : findSchemaProblems(value, place, depth + 1, counts);
  });
}

function findNamedProblems(value: unknown, at: string, depth: number, counts: Counts): readonly string[] {
  if (!isObject(value)) return [`${at} must be an object`];
  return Object.entries(value).flatMap(([name, one]) =>
    name === '__proto__'
      ? [`${at} must not have a member of this name`]
      : findSchemaProblems(one, `${at}/${name}`, depth + 1, counts),
  );
}

function findAlternativeProblems(value: unknown, at: string, depth: number, counts: Counts): readonly string[] {
  if (!Array.isArray(value) || value.length === 0) return [`${at} must be a list of schemas`];
  counts.alternatives += value.length;
  if (counts.alternatives > LIMITS.alternatives) return [`${at} must not be over ${LIMITS.alternatives} alternatives`];
  return value.flatMap((one, index) => findSchemaProblems(one, `${at}/${index}`, depth + 1, counts));
}

function findValueProblems(value: unknown, at: string, counts: Counts): readonly string[] {
  if (!Array.isArray(value) || value.length === 0 || !value.every(isScalar))
    return [`${at} must be a list of texts, numbers, booleans or null`];
  counts.values += value.length;
  return counts.values > LIMITS.values ? [`${at} must not be over ${LIMITS.values} values in all`] : [];
}

const TYPES: readonly unknown[] = ['null', 'boolean', 'object', 'array', 'number', 'integer', 'string'];
const TEXTS: readonly string[] = ['title', 'description', 'format'];

/** Keywords with a value of one kind: what the compiler of schemas does not take must not reach it. */
function findPlainProblems(keyword: string, value: unknown, at: string): readonly string[] {
  if (keyword === 'default' || keyword === 'examples') return [];
  if (keyword === 'const') return isScalar(value) ? [] : [`${at} must be a text, a number, a boolean or null`];
  if (keyword === 'type') {
    const types = Array.isArray(value) ? value : [value];
    const isValid =
      types.length > 0 && types.every((one) => TYPES.includes(one)) && new Set(types).size === types.length;
    return isValid ? [] : [`${at} must be a type of JSON Schema or a list of them`];
  }
  if (keyword === 'required') {
    const isValid = Array.isArray(value) && value.every((one) => typeof one === 'string' && one !== '__proto__');
    return isValid && value.length <= LIMITS.values ? [] : [`${at} must be a list of at most ${LIMITS.values} names`];
  }
  if (TEXTS.includes(keyword)) return typeof value === 'string' ? [] : [`${at} must be a text`];
  const isSize = !/minimum|maximum/i.test(keyword);
  const isNumber = typeof value === 'number' && Number.isFinite(value);
  return isNumber && (!isSize || (Number.isInteger(value) && value >= 0)) ? [] : [`${at} must be a number`];
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isScalar = (value: unknown): boolean =>
  value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
