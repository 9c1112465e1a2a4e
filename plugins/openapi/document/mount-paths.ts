import type { DescribedMount, JsonSchema, RouteDescription } from '../../http/contract.ts';
import { describeParameter } from '../../http/library.ts';
import type { DocumentedRoute } from './documented-route.ts';
import { toComponentName } from './names.ts';
import { EXTENSIONS_TAG } from './tags.ts';

/** Methods of a mount that does not say which it answers. */
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

const ALL_METHODS = /^(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)$/;
/** Paths without parameters, as they are sent. */
const PLAIN_PATH = /^(?:\/|(?:\/[\w.~@-]+)+)$/;
const STATUS = /^[2-5]\d\d$/;

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
  const methods = valuesOf(members.method, ALL_METHODS) ?? METHODS;
  const below = valuesOf(members.path, PLAIN_PATH);
  return (below ?? ['/']).flatMap((rest) =>
    methods.map((method): MountRoute => {
      const full = encodeMount(path) + (rest === '/' ? '' : rest);
      return {
        operationId: `call${toComponentName(path.slice(1))}${rest === '/' ? '' : `_${toComponentName(rest.slice(1))}`}_${method.toLowerCase()}`,
        route: {
          method,
          path: full,
          description: {
            tag: EXTENSIONS_TAG,
            access,
            summary: `Calls the extension ${name}${below ? '' : ', which also answers under paths below this one'}.`,
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
  const statuses = valuesOf(status, STATUS) ?? ['200'];
  return Object.fromEntries(statuses.map((one) => [one, { 'application/json': body }]));
}

/** The values that `const` or `enum` of a schema names, as far as a document can have them; undefined without any. */
function valuesOf(schema: JsonSchema | undefined, allowed: RegExp): readonly string[] | undefined {
  const named = Array.isArray(schema?.enum) ? schema.enum : schema?.const === undefined ? [] : [schema.const];
  const values = named.map(String).filter((one) => allowed.test(one));
  return values.length > 0 ? [...new Set(values)] : undefined;
}

/** Endpoints with full authority may have signs in their path that mean something in OpenAPI. */
const encodeMount = (path: string): string =>
  path
    .split('/')
    .map((segment) => encodeURIComponent(segment).replace('%40', '@'))
    .join('/');
