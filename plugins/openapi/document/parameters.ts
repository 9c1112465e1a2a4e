import type { ComponentReference, JsonSchema, ParameterDescription, RouteDescription } from '../../http/contract.ts';
import { parameterRef } from '../../http/library.ts';
import { toPascalCase } from './names.ts';

const PREFIX = '#/components/parameters/';

/** The parameters of an operation: of its path, and of its query string. */
export const renderParameters = ({ params = {}, query = {} }: RouteDescription): readonly JsonSchema[] => [
  ...Object.entries(params).map(([name, one]) => ({
    name,
    in: 'path',
    required: true,
    description: one.description,
    schema: one.schema,
  })),
  ...Object.entries(query).map(([name, one]) =>
    isReference(one)
      ? { ...parameterRef(componentNameOf(one.$ref.slice(PREFIX.length))) }
      : renderQueryParameter(name, one),
  ),
];

/** The components of parameters: `Fields` for `fields`. */
export const renderParameterComponents = (
  parameters: Readonly<Record<string, ParameterDescription>>,
): Readonly<Record<string, JsonSchema>> =>
  Object.fromEntries(
    Object.entries(parameters).map(([name, one]) => [componentNameOf(name), renderQueryParameter(name, one)]),
  );

const componentNameOf = toPascalCase;
const isReference = (one: ParameterDescription | ComponentReference): one is ComponentReference => '$ref' in one;

function renderQueryParameter(name: string, { description, required, schema }: ParameterDescription): JsonSchema {
  const base = { name, in: 'query', description, ...(required ? { required } : {}) };
  const kinds = Array.isArray(schema.anyOf) ? (schema.anyOf as readonly JsonSchema[]) : [schema];
  // Objects are sent as JSON. Brackets work as well, but OpenAPI has no form for nested ones.
  if (kinds.some(({ type }) => type === 'object'))
    return { ...base, content: { 'application/json': { schema: { type: 'object' } } } };
  const list = kinds.find(({ type }) => type === 'array');
  // A list is sent as one text with commas.
  return list ? { ...base, style: 'form', explode: false, schema: list } : { ...base, schema };
}
