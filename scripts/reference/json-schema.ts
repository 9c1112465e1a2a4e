/** The part of JSON Schema that manifests use. */
export interface ManifestSchema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, ManifestSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | ManifestSchema;
  readonly items?: ManifestSchema;
  readonly then?: ManifestSchema;
  readonly else?: ManifestSchema;
}

/** Renders a schema in the notation of TypeScript's types: `{ origins?: string[]; methods?: ("GET" | "POST")[] }`. */
export function renderSchemaAsTypeScript(schema: ManifestSchema): string {
  const { type } = schema;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.then && schema.else) return [schema.then, schema.else].map(renderSchemaAsTypeScript).join(' | ');
  if (Array.isArray(type)) return type.map((one) => renderSchemaAsTypeScript({ ...schema, type: one })).join(' | ');
  if (type === 'array') return `${inBrackets(renderSchemaAsTypeScript(schema.items ?? {}))}[]`;
  if (type === 'object' || schema.properties) return renderObject(schema);
  if (type === 'integer') return 'number';
  return typeof type === 'string' ? type : 'any';
}

function renderObject({ properties = {}, required = [], additionalProperties }: ManifestSchema): string {
  const members = Object.entries(properties).map(
    ([name, value]) => `${renderKey(name)}${required.includes(name) ? '' : '?'}: ${renderSchemaAsTypeScript(value)}`,
  );
  if (typeof additionalProperties === 'object')
    members.push(`[name: string]: ${renderSchemaAsTypeScript(additionalProperties)}`);
  return members.length === 0 ? 'object' : `{ ${members.join('; ')} }`;
}

const renderKey = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));

const inBrackets = (type: string): string => (type.includes('|') && !type.startsWith('{') ? `(${type})` : type);
