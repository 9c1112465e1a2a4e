import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { boot } from '#kernel/boot';
import { listCorePlugins } from '../../plugins/core-plugins.ts';
import { type DescribedRoute, type JsonSchema, type RouteDescription, routing } from '../../plugins/http/contract.ts';
import { createRouteFinder } from '../../plugins/http/router.ts';
import type { OpenApiOperation, OpenApiPathItem } from '../../plugins/openapi/contract.ts';
import { documentRoutes } from '../../plugins/openapi/library.ts';
import { silentSettings, writeTestPluginPackages } from './test-plugins.ts';

/** A valid description for routes of test plugins. */
export const TEST_ROUTE_DESCRIPTION: RouteDescription = {
  summary: 'Answers what a test needs.',
  access: 'public',
  answers: { 200: { 'application/json': {} } },
};

/** Settings of core plugins that add or remove routes. */
const SETTINGS = /^(?:TUS_ENABLED|GRAPHQL_INTROSPECTION|AUTH_DISABLE_DEFAULT|OPENAPI_ENABLED|AUTH_\w+_SCIM_TOKEN)$/;
type Environment = Readonly<Record<string, string>>;

const known = new Map<string, Promise<RouteDescriptionValidator>>();

/** The route descriptions of the core plugins under these settings, cached in the process. */
export function loadCoreRouteDescriptionValidator(environment: Environment = {}): Promise<RouteDescriptionValidator> {
  const relevant = Object.entries(environment).filter(([name]) => SETTINGS.test(name));
  const key = JSON.stringify(relevant);
  const api =
    known.get(key) ?? readCorePluginRoutes(Object.fromEntries(relevant)).then(createRouteDescriptionValidator);
  known.set(key, api);
  return api;
}

/** Reads the routes of the core plugins from the service `routing`. Boots a kernel for that and does not start it. */
export async function readCorePluginRoutes(environment: Environment = {}): Promise<readonly DescribedRoute[]> {
  let described: (() => readonly DescribedRoute[]) | undefined;
  const { composition: reader, remove } = await writeTestPluginPackages([
    {
      name: 'route-reader',
      manifest: { uses: { routing: '^1.0.0' } },
      register(host) {
        described = host.use({ routing }).routing.describeRoutes;
      },
    },
  ]);
  try {
    const kernel = await boot(
      { plugins: [...listCorePlugins().plugins, ...reader.plugins] },
      { environment: { ...silentSettings, EXTENSIONS_PATH: '/dev/null', ...environment } },
    );
    const routes = described?.() ?? [];
    await kernel.stop();
    return routes;
  } finally {
    await remove();
  }
}

export interface RouteDescriptionValidator {
  readonly routes: readonly DescribedRoute[];
  /** Finds the route of a request; undefined where no route matches. */
  find(method: string, path: string): DescribedRoute | undefined;
  /** The operation of a route in the OpenAPI document, its response references resolved; undefined for a route that only refuses. */
  operationOf(route: DescribedRoute): OpenApiOperation | undefined;
  /** Validates a value: undefined where it fits the schema, else the validation errors as text. */
  mismatch(schema: JsonSchema, value: unknown): string | undefined;
}

const DOCUMENT = 'service:api';

export function createRouteDescriptionValidator(routes: readonly DescribedRoute[]): RouteDescriptionValidator {
  const ajv = createAjv();
  const { paths, components } = documentRoutes(routes);
  ajv.addSchema(absolute({ $id: DOCUMENT, $defs: components.schemas }) as JsonSchema);
  const router = createRouteFinder(routes.map((route) => ({ ...route, handle() {} })));
  const compiled = new WeakMap<JsonSchema, ValidateFunction>();
  const operations = new Map<DescribedRoute, OpenApiOperation | undefined>();
  const resolveOperation = ({ method, path }: DescribedRoute): OpenApiOperation | undefined => {
    const operation = findOperation(paths[path.replace(/:(\w+)/g, '{$1}')], method === '*' ? 'OPTIONS' : method);
    if (!operation) return undefined;
    const responses = Object.entries(operation.responses).map(([status, response]) => [
      status,
      typeof response.$ref === 'string'
        ? components.responses?.[response.$ref.replace('#/components/responses/', '')]
        : response,
    ]);
    return { ...operation, responses: Object.fromEntries(responses) };
  };
  return {
    routes,
    operationOf(route) {
      if (!operations.has(route)) operations.set(route, resolveOperation(route));
      return operations.get(route);
    },
    find(method, path) {
      try {
        return router(method, path)?.route as unknown as DescribedRoute | undefined;
      } catch {
        // The path has parameters that cannot be decoded.
        return undefined;
      }
    },
    mismatch(schema, value) {
      const validate = compiled.get(schema) ?? ajv.compile(absolute(schema) as JsonSchema);
      compiled.set(schema, validate);
      return validate(value) ? undefined : ajv.errorsText(validate.errors, { dataVar: 'body' });
    },
  };
}

/** Creates a validator of JSON Schema 2020-12 that rejects unknown keywords. */
export function createAjv(): Ajv2020 {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allowUnionTypes: true });
  ajv.addVocabulary(['x-collection']);
  ajv.addFormat('date-time', (text) => !Number.isNaN(Date.parse(text)));
  ajv.addFormat('uri', (text) => URL.canParse(text));
  ajv.addFormat('uuid', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  return ajv;
}

/** The operation of a method in a path item of OpenAPI 3.1. */
export const findOperation = (item: OpenApiPathItem | undefined, method: string): OpenApiOperation | undefined =>
  (item?.[method.toLowerCase()] ?? (item?.['x-oai-additionalOperations'] as OpenApiPathItem | undefined)?.[method]) as
    | OpenApiOperation
    | undefined;

/** Rewrites the references in a schema so that they lead into one document with the components of all routes. */
const absolute = (schema: unknown): unknown =>
  JSON.parse(JSON.stringify(schema), (key, value) =>
    key === '$ref' && typeof value === 'string' ? value.replace('#/components/schemas/', `${DOCUMENT}#/$defs/`) : value,
  );
