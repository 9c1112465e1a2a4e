import type { Context, ParameterizedContext } from 'koa';
import { authorities, type ErrorCode, facet, type RequestState, service } from '#kernel';
import type { RequestSettings } from './settings.ts';

/** Methods that routes can have. `SEARCH` is a read whose query is in the body. */
export type Method = 'GET' | 'HEAD' | 'POST' | 'PATCH' | 'DELETE' | 'SEARCH';

/** A request inside a route: `state.caller` is set, `body` is parsed JSON or undefined. */
export type HttpContext = ParameterizedContext<
  RequestState & { body?: unknown; rawQuery?: Record<string, unknown>; settings?: RequestSettings },
  { readonly params: Readonly<Record<string, string>> }
>;

/** One route: what it takes and answers as data, and the code that answers. Contributed to `http.routes`. */
export interface Route {
  /** `*`: whatever method no other route of this path takes, to refuse it by name. Such a route is given no body. */
  readonly method: Method | '*';
  /** For example `/items/:collection/:id`. A trailing slash in a request is accepted. */
  readonly path: string;
  /** The route reads the body itself, whatever its type; without it JSON is parsed and other types are refused. */
  readonly body?: 'unread';
  /** Headers that scripts of other origins may send here and read of the answer, beside those of the settings. */
  readonly cors?: { readonly allowed: readonly string[]; readonly exposed: readonly string[] };
  /** What the route takes and answers, as data. Of it requests look at the names of query parameters alone. */
  readonly description: RouteDescription;
  /**
   * Answers the request by `ctx.body` and `ctx.status`.
   * @throws Failures, which are sent with the status of the table in `kernel/errors.ts`.
   */
  handle(ctx: HttpContext): Promise<void> | void;
}

/** JSON Schema 2020-12 as plain data. Shared shapes are references: `{ $ref: '#/components/schemas/<Name>' }`. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** `#/components/parameters/<name>` or `#/components/schemas/<Name>` of the same description's `components`. */
export interface Reference {
  readonly $ref: string;
}

/** One parameter of a path or of a query string. */
export interface ParameterDescription {
  /** One line of text. */
  readonly description: string;
  readonly schema: JsonSchema;
  /** Of query parameters; those of the path always are. Default false. */
  readonly required?: boolean;
}

/** Media type → schema of the whole body. A range (`image/*`) stands for all types in it; binary bodies have the schema `{}`. */
export type Content = Readonly<Record<string, JsonSchema>>;

/** The body of a request, by media type. */
export interface BodyDescription {
  readonly content: Content;
  /** Default true. */
  readonly required?: boolean;
}

/**
 * Who gets an answer that is not a refusal: everyone, signed-in users, users of the app, admins, or those whose permissions
 * allow it. All but `public` may be refused with FORBIDDEN.
 */
export type RouteAccess = 'public' | 'user' | 'app' | 'admin' | 'permissions';

/** Shapes by name. One name means one shape in all descriptions of the service. */
export interface Components {
  readonly schemas?: Readonly<Record<string, JsonSchema>>;
  readonly parameters?: Readonly<Record<string, ParameterDescription>>;
}

/**
 * A route for readers who do not see its code: an OpenAPI 3.1 document is made of these alone. The pieces that many
 * descriptions share are in `library.ts`.
 */
export interface RouteDescription {
  /** One plain sentence. */
  readonly summary: string;
  /** The group of routes it belongs to; the first segment of the path without it. */
  readonly tag?: string;
  readonly access: RouteAccess;
  /** The parameters of the path, exactly. */
  readonly params?: Readonly<Record<string, ParameterDescription>>;
  readonly query?: Readonly<Record<string, ParameterDescription | Reference>>;
  /** What the route accepts. Stricter rules that a schema cannot state are the route's own. */
  readonly body?: BodyDescription;
  /**
   * Status → content of every answer that is no error of the table in `kernel/errors.ts`; `{}` is an answer without a body.
   * `304` and the answers of `HEAD` follow from those of `GET`. Empty for routes that only refuse.
   */
  readonly answers: Readonly<Record<number, Content>>;
  /** Codes beyond those that follow from `access`, method and `COMMON_ERRORS` (`errorsOf` in `library.ts`). */
  readonly errors?: readonly ErrorCode[];
  /** What the references in here mean. */
  readonly components?: Components;
}

/** Codes that any route may answer: of a token, of the path and the query string, of the service itself. */
export const COMMON_ERRORS: readonly ErrorCode[] = [
  'INVALID_PATH_PARAMETER',
  'INVALID_QUERY',
  'INVALID_CREDENTIALS',
  'INVALID_IP',
  'INVALID_TOKEN',
  'TOKEN_EXPIRED',
  'USER_SUSPENDED',
  'INTERNAL_SERVER_ERROR',
  'CAPABILITY_DENIED',
  'EVENT_LOOP_DETECTED',
  'GUARD_NOT_LOADED',
  'SERVICE_UNAVAILABLE',
];

/** Codes that a route of any method but `GET` and `HEAD` may answer as well, since a body can come with it. */
export const BODY_ERRORS: readonly ErrorCode[] = ['INVALID_PAYLOAD', 'CONTENT_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'];

const isUnderPrefix = (path: string, prefix: string) => path === prefix || path.startsWith(`${prefix}/`);

/** HTTP routes; the manifest section lists the path prefixes a plugin serves. */
export const routes = facet<Route, readonly { owner: string; value: Route }[]>('http.routes', {
  combine: (all) => all,
  manifest: {
    type: 'object',
    additionalProperties: false,
    required: ['prefixes'],
    properties: { prefixes: { type: 'array', minItems: 1, items: { type: 'string', pattern: '^/[a-z0-9/_-]*$' } } },
  },
  admit: (route, declared) => {
    if (!declared.prefixes.some((prefix: string) => isUnderPrefix(route.path, prefix)))
      return `${route.path} is under no declared prefix`;
    // Third-party code is not checked by a compiler.
    const description = route.description as Partial<RouteDescription> | undefined;
    const missing = (['summary', 'access', 'answers'] as const).filter((member) => !description?.[member]);
    return (
      missing.length === 0 ||
      `${route.method} ${route.path} has no ${missing.map((one) => `description.${one}`).join(', ')}`
    );
  },
  describe: (declared) => authorities('serves', declared.prefixes),
});

/** A place under which requests are answered that no route took: behind all routes and before "not found". */
export interface Mount {
  /** `/name` or `/@scope/name`, without a slash at the end. Matched without regard to case, and with `%40` for `@` as well. */
  readonly path: string;
  /** `next` passes the request on to the mount behind it under the same path. */
  handle(ctx: HttpContext, next: () => Promise<void>): Promise<void>;
}

/** For plugins that answer on behalf of packages: places whose names no manifest can list. */
export const mounts = facet<Mount>('http.mounts', {
  coreOnly: true,
  describe: () => authorities('serves', ['paths that no route takes'], 'for the packages it runs'),
});

/**
 * First segments of paths that the service is going to serve, in lower case, contributed by the plugin that will. The manifest
 * section lists them.
 */
export const reserved = facet<string, ReadonlySet<string>>('http.reserved', {
  combine: (all) => new Set(all.map(({ value }) => value)),
  manifest: {
    type: 'object',
    additionalProperties: false,
    required: ['names'],
    properties: { names: { type: 'array', minItems: 1, items: { type: 'string', pattern: '^[a-z0-9_-]+$' } } },
  },
  admit: (name, declared) => declared.names.includes(name) || `${name} is not declared`,
  describe: ({ names }) =>
    authorities(
      'reserves',
      names.map((name: string) => `/${name}`),
    ),
  coreOnly: true,
});

/** Why a path is not free: a route answers under its first segment, that segment is reserved, or a mount has this very path. */
export type PathClaim = 'route' | 'reserved' | 'mount';

/** For plugins that contribute mounts. */
export interface Routing {
  /** Undefined where the path is free. Without regard to case. */
  claimOf(path: string): PathClaim | undefined;
  /**
   * The JSON body of a request, read within the same limits as for routes; undefined when it has none.
   * @throws INVALID_PAYLOAD for what is no JSON, UNSUPPORTED_MEDIA_TYPE, CONTENT_TOO_LARGE beyond MAX_PAYLOAD_SIZE bytes.
   */
  readBody(ctx: Context, options?: ReadBodyOptions): Promise<unknown>;
  /** All contributed routes without their code, in the order of the plugins: for documents about the API. */
  described(): readonly DescribedRoute[];
}

/** A route without its code. */
export interface DescribedRoute extends Pick<Route, 'method' | 'path' | 'description'> {
  /** Name of the plugin that contributes it. */
  readonly owner: string;
}

/** What `readBody` takes, beside what routes take. */
export interface ReadBodyOptions {
  /** A text, a number, true, false and null will do as well as an object or a list. */
  readonly scalars?: boolean;
}

/** Claims of paths, bodies and the list of routes. */
export const routing = service<Routing>('routing', { version: '1.0.0' });
