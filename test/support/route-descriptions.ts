import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { boot } from '#kernel/boot';
import { listCorePlugins } from '../../plugins/core-plugins.ts';
import { type DescribedRoute, type JsonSchema, type RouteDescription, routing } from '../../plugins/http/contract.ts';
import { createRouteFinder } from '../../plugins/http/router.ts';
import { silentSettings, writeTestPluginPackages } from './test-plugins.ts';

/** A valid description for routes of test plugins. */
export const TEST_ROUTE_DESCRIPTION: RouteDescription = {
  summary: 'Answers what a test needs.',
  access: 'public',
  answers: { 200: { 'application/json': {} } },
};

/** Settings of core plugins that add or remove routes. */
const SETTINGS = /^(?:TUS_ENABLED|GRAPHQL_INTROSPECTION|AUTH_DISABLE_DEFAULT|AUTH_\w+_SCIM_TOKEN)$/;
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
  /** Validates a value: undefined where it fits the schema, else the validation errors as text. */
  mismatch(schema: JsonSchema, value: unknown): string | undefined;
}

const DOCUMENT = 'service:api';

export function createRouteDescriptionValidator(routes: readonly DescribedRoute[]): RouteDescriptionValidator {
  const ajv = createAjv();
  ajv.addSchema(absolute({ $id: DOCUMENT, $defs: schemasOf(routes) }) as JsonSchema);
  const router = createRouteFinder(routes.map((route) => ({ ...route, handle() {} })));
  const compiled = new WeakMap<JsonSchema, ValidateFunction>();
  return {
    routes,
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
  return ajv;
}

const schemasOf = (routes: readonly DescribedRoute[]): Readonly<Record<string, JsonSchema>> =>
  Object.assign({}, ...routes.map(({ description }) => description.components?.schemas));

/** Rewrites the references in a schema so that they lead into one document with the components of all routes. */
const absolute = (schema: unknown): unknown =>
  JSON.parse(JSON.stringify(schema), (key, value) =>
    key === '$ref' && typeof value === 'string' ? value.replace('#/components/schemas/', `${DOCUMENT}#/$defs/`) : value,
  );
