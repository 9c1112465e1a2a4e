import type { DescribedMount, JsonSchema, RouteDescription } from '../../http/contract.ts';
import { describeParameter } from '../../http/library.ts';
import type { DocumentedRoute } from './documented-route.ts';
import { toComponentName } from './names.ts';
import { EXTENSIONS_TAG } from './tags.ts';

/** Methods of a mount that does not say which it answers. */
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** An operation below a mount, as a route. */
export interface MountRoute {
  readonly route: DocumentedRoute;
  readonly operationId: string;
}

/** Members of the schema of a request, as far as it has them. */
interface RequestMembers {
  readonly method?: JsonSchema;
  readonly path?: JsonSchema;
  readonly query?: {
    readonly properties?: Readonly<Record<string, JsonSchema>>;
    readonly required?: readonly string[];
  };
  readonly body?: JsonSchema;
}

/**
 * The operations of an extension. Its declared input says which methods, paths and parameters it takes; without one the document has its
 * path, and says that those below it are its own.
 */
export function renderMountRoutes({ path, description }: DescribedMount): readonly MountRoute[] {
  const { package: name, access = 'public', input, output } = description;
  const members = (input?.properties ?? {}) as RequestMembers;
  const methods = valuesOf(members.method) ?? METHODS;
  const paths = valuesOf(members.path) ?? ['/'];
  const isOpen = !valuesOf(members.path);
  return paths.flatMap((below) =>
    methods.map((method): MountRoute => {
      const full = below === '/' ? path : path + below;
      return {
        operationId: `call${toComponentName(path.slice(1))}${below === '/' ? '' : `_${toComponentName(below.slice(1))}`}_${method.toLowerCase()}`,
        route: {
          method,
          path: full,
          description: {
            tag: EXTENSIONS_TAG,
            access,
            summary: `Calls the extension ${name}${isOpen ? ', which also answers under paths below this one' : ''}.`,
            ...renderQuery(members.query),
            ...renderBody(method, members, input),
            answers: renderAnswers(output),
          },
        },
      };
    }),
  );
}

function renderQuery(query: RequestMembers['query']): Pick<RouteDescription, 'query'> {
  const properties = Object.entries(query?.properties ?? {});
  if (properties.length === 0) return {};
  const entries = properties.map(([name, schema]) => {
    const { description, ...rest } = schema;
    const text = typeof description === 'string' ? description : 'A parameter of the extension.';
    return [name, { ...describeParameter(text, rest), required: query?.required?.includes(name) ?? false }];
  });
  return { query: Object.fromEntries(entries) };
}

function renderBody(
  method: string,
  { body }: RequestMembers,
  input: JsonSchema | undefined,
): Pick<RouteDescription, 'body'> {
  if (method === 'GET' || method === 'HEAD' || (input && !body)) return {};
  const required = Array.isArray(input?.required) && input.required.includes('body');
  return { body: { content: { 'application/json': body ?? {} }, required } };
}

/** The answer of any status without a declaration; else by the statuses that it names. */
function renderAnswers(output: JsonSchema | undefined): RouteDescription['answers'] {
  const { status, body = {} } = (output?.properties ?? {}) as {
    readonly status?: JsonSchema;
    readonly body?: JsonSchema;
  };
  if (!output) return { 200: { '*/*': {} } };
  const statuses = valuesOf(status) ?? ['200'];
  return Object.fromEntries(statuses.map((one) => [one, { 'application/json': body }]));
}

/** The values that `const` or `enum` of a schema names. */
function valuesOf(schema: JsonSchema | undefined): readonly string[] | undefined {
  if (schema?.const !== undefined) return [String(schema.const)];
  return Array.isArray(schema?.enum) ? schema.enum.map(String) : undefined;
}
