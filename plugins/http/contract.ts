import type { IncomingMessage } from 'node:http';
import type { Context, ParameterizedContext } from 'koa';
import { authorities, type Caller, type ErrorCode, facet, type RequestState, service } from '#kernel';
import { combineRequestObservers } from './request-observers.ts';
import type { MountDescription, RouteDescription } from './route-description.ts';
import type { RequestSettings } from './settings.ts';

/** Descriptions of routes, for API documents. */
export type {
  BodyDescription,
  CollectionForms,
  ComponentReference,
  JsonSchema,
  MountDescription,
  OpenApiComponents,
  ParameterDescription,
  RouteAccess,
  RouteDescription,
  SchemaByMediaType,
} from './route-description.ts';

/** Methods that routes can have. `SEARCH` is a read whose query is in the body. */
export type HttpMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'SEARCH';

/**
 * A request inside a route: `state.caller` is set, `body` is parsed JSON or undefined, `usesStaticToken` is true where a static
 * token identified the caller.
 */
export type HttpContext = ParameterizedContext<
  RequestState & {
    body?: unknown;
    rawQuery?: Record<string, unknown>;
    settings?: RequestSettings;
    usesStaticToken?: boolean;
    /** The route or mount that answers; undefined where the request has not reached one. */
    route?: AnsweringRoute;
    observation?: RequestObservation;
  },
  { readonly params: Readonly<Record<string, string>> }
>;

/** The route that answers a request. */
export interface AnsweringRoute {
  /** Its path with parameters, such as `/items/:collection`; `/name/*` for paths of a package. */
  readonly path: string;
  /** The plugin or package that answers. */
  readonly owner: string;
}

/** One route: what it takes and answers as data, and the code that answers. Contributed to `http.routes`. */
export interface Route {
  /**
   * `*`: any method that no other route of this path has, in order to refuse it with 405. Such a route gets no body.
   */
  readonly method: HttpMethod | '*';
  /** For example `/items/:collection/:id`. A trailing slash in a request is accepted. */
  readonly path: string;
  /** `unread`: the route reads the body itself, of any type. Without it JSON is parsed and other types are refused. */
  readonly body?: 'unread';
  /** Headers that scripts of other origins may send here and read of the answer, beside those of the settings. */
  readonly cors?: { readonly allowed: readonly string[]; readonly exposed: readonly string[] };
  /** Any header of a request and the client's address may change the answer: a cache keeps it for requests equal in both. Default false. */
  readonly dependsOnHeaders?: boolean;
  /** The route for API documents. Requests use only its names of query parameters. */
  readonly description: RouteDescription;
  /**
   * Answers the request by `ctx.body` and `ctx.status`.
   * @throws Failures, which are sent with the status of the table in `kernel/errors.ts`.
   */
  handle(ctx: HttpContext): Promise<void> | void;
}

/** Codes that any route may answer: for the token, the path, the query string, rate limits, and the service itself. */
export const COMMON_ERROR_CODES: readonly ErrorCode[] = [
  'INVALID_PATH_PARAMETER',
  'INVALID_QUERY',
  'INVALID_CREDENTIALS',
  'INVALID_IP',
  'INVALID_TOKEN',
  'TOKEN_EXPIRED',
  'USER_SUSPENDED',
  'REQUESTS_EXCEEDED',
  'INTERNAL_SERVER_ERROR',
  'CAPABILITY_DENIED',
  'EVENT_LOOP_DETECTED',
  'GUARD_NOT_LOADED',
  'SERVICE_UNAVAILABLE',
];

/** Further codes of routes of any method but `GET` and `HEAD`, whose requests may have a body. */
export const BODY_ERROR_CODES: readonly ErrorCode[] = [
  'INVALID_PAYLOAD',
  'CONTENT_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
];

const isUnderPrefix = (path: string, prefix: string) => path === prefix || path.startsWith(`${prefix}/`);

/** HTTP routes; the manifest section lists the path prefixes a plugin serves. */
export const routes = facet<Route, readonly { owner: string; value: Route }[]>('http.routes', {
  combine: (all) => all,
  manifest: {
    type: 'object',
    additionalProperties: false,
    required: ['prefixes'],
    properties: { prefixes: { type: 'array', minItems: 1, items: { type: 'string', pattern: '^/[a-z0-9/._-]*$' } } },
  },
  validate: (route, declared) => {
    if (!declared.prefixes.some((prefix: string) => isUnderPrefix(route.path, prefix)))
      return `${route.path} is under no declared prefix`;
    // Extensions may not be type-checked.
    const description = route.description as Partial<RouteDescription> | undefined;
    const missing = (['summary', 'access', 'answers'] as const).filter((member) => !description?.[member]);
    return (
      missing.length === 0 ||
      `${route.method} ${route.path} has no ${missing.map((one) => `description.${one}`).join(', ')}`
    );
  },
  describe: (declared) => authorities('serves', declared.prefixes),
});

/** A path prefix for requests that no route answers: tried after all routes and before ROUTE_NOT_FOUND. */
export interface RouteMount {
  /**
   * `/name` or `/@scope/name`, without a slash at the end. Matched without regard to case, and with `%40` for `@` as
   * well.
   */
  readonly path: string;
  /** For API documents; they leave out a mount without it. */
  readonly description?: MountDescription;
  /** `next` passes the request to the next mount of the same path. */
  handle(ctx: HttpContext, next: () => Promise<void>): Promise<void>;
}

/**
 * Path prefixes of extensions, whose paths no manifest can list. For core plugins that answer on behalf of extensions.
 */
export const routeMounts = facet<RouteMount>('http.mounts', {
  coreOnly: true,
  describe: () => authorities('serves', ['paths that no route takes'], 'for the packages it runs'),
});

/**
 * First path segments, in lower case, that are reserved for routes the service does not have yet. A plugin reserves
 * those it will serve; its manifest section lists them.
 */
export const reservedSegments = facet<string, ReadonlySet<string>>('http.reserved', {
  combine: (all) => new Set(all.map(({ value }) => value)),
  manifest: {
    type: 'object',
    additionalProperties: false,
    required: ['names'],
    properties: { names: { type: 'array', minItems: 1, items: { type: 'string', pattern: '^[a-z0-9_-]+$' } } },
  },
  validate: (name, declared) => declared.names.includes(name) || `${name} is not declared`,
  describe: ({ names }) =>
    authorities(
      'reserves',
      names.map((name: string) => `/${name}`),
    ),
  coreOnly: true,
});

/** Why a path is not free: a route has its first segment, that segment is reserved, or a mount has this path. */
export type PathClaimKind = 'route' | 'reserved' | 'mount';

/**
 * The service `routing`: free paths, bodies, addresses of clients and descriptions, for plugins that contribute mounts or middleware,
 * or describe the API.
 */
export interface RoutingService {
  /** Why a path is not free; undefined for a free path. Case-insensitive. */
  claimOf(path: string): PathClaimKind | undefined;
  /**
   * The parsed JSON body of a request, within the same limits as for routes; undefined without a body. A layer before the router may
   * read it: the route gets the same body.
   * @throws INVALID_PAYLOAD for invalid JSON, UNSUPPORTED_MEDIA_TYPE, CONTENT_TOO_LARGE over MAX_PAYLOAD_SIZE bytes,
   * OUT_OF_TIME, SERVICE_UNAVAILABLE.
   */
  readBody(ctx: Context, options?: ReadBodyOptions): Promise<unknown>;
  /**
   * The fields of a form that a page has posted (`application/x-www-form-urlencoded`), within the same limits; of a repeated name the
   * last value. For routes whose body is `unread`.
   * @throws INVALID_PAYLOAD for more than 100 fields or a NUL character, and as `readBody`.
   */
  readForm(ctx: Context): Promise<Readonly<Record<string, string>>>;
  /**
   * The body of a request of any type as bytes, decompressed, for routes whose body is `unread` and may be larger than
   * MAX_PAYLOAD_SIZE. Its memory counts like that of other bodies.
   * @throws CONTENT_TOO_LARGE over `maxBytes`, with the name of its setting, OUT_OF_TIME, SERVICE_UNAVAILABLE.
   */
  readBytes(ctx: Context, limit: { readonly maxBytes: number; readonly setting: string }): Promise<Buffer>;
  /** The address of the client of a request, behind trusted proxies the real one; null once its connection is closed. */
  clientAddressOf(ctx: Context): string | null;
  /** An upgrade request in the form in which plugins look at requests: for address, headers and cookies. It has no answer. */
  contextOfUpgrade(request: IncomingMessage): HttpContext;
  /** Whether the route of a request declares `dependsOnHeaders`. */
  dependsOnHeaders(method: string, path: string): boolean;
  /**
   * All contributed routes without their code, in the order of the plugins, for API documents. The same list until a route is added or
   * removed.
   */
  describeRoutes(): readonly DescribedRoute[];
  /** All mounts with a description. The same list until a mount is added or removed. */
  describeMounts(): readonly DescribedMount[];
}

/** A mount without its code. */
export interface DescribedMount {
  readonly path: string;
  readonly description: MountDescription;
}

/** A route without its code. */
export interface DescribedRoute extends Pick<Route, 'method' | 'path' | 'description'> {
  /** Name of the plugin that contributes it. */
  readonly owner: string;
}

/** Options of `readBody`. */
export interface ReadBodyOptions {
  /** Accepts strings, numbers, booleans and null besides objects and arrays. Default false. */
  readonly scalars?: boolean;
}

/** Key of the service `Routing`. */
export const routing = service<RoutingService>('routing', { version: '1.0.0' });

/** A request that a plugin makes to a route of the service, on behalf of the client of another request. */
export interface InternalRequest {
  readonly method: HttpMethod;
  /** Path and query string. */
  readonly path: string;
  /** JSON as parsed data. */
  readonly body?: unknown;
  /** Who makes the request; by default the caller of the outer request. */
  readonly caller?: Caller;
}

/** The answer of a route to an internal request. */
export interface InternalReply {
  readonly status: number;
  /** Parsed JSON; undefined for an answer without a body. */
  readonly body: unknown;
  /** The headers `Set-Cookie` of the answer. The plugin decides whether the client gets them. */
  readonly cookies: readonly string[];
}

/**
 * Runs routes inside of a request, for pages that do what the JSON API does. Layers around requests (`http.middleware`) run for the
 * outer request only, so limits count once; address, user agent and cookies are those of the outer client. Mounts are not reached.
 */
export interface InternalRequests {
  /** Whether a route has this method and path. */
  has(method: HttpMethod, path: string): boolean;
  /** @throws ROUTE_NOT_FOUND without such a route, INVALID_PAYLOAD for NUL characters, and what the route throws. */
  send(ctx: HttpContext, request: InternalRequest): Promise<InternalReply>;
}

/** For core plugins alone: a request may have any caller that the plugin holds. */
export const internalRequests = service<InternalRequests>('internal-requests', { version: '1.0.0', coreOnly: true });

/** The end of a request: its answer was sent, or its client has disconnected. */
export interface RequestEnd {
  readonly method: string;
  /** 499 for a client that disconnected before its answer. */
  readonly status: number;
  /** Undefined where no route has this method and path. */
  readonly route: AnsweringRoute | undefined;
  /** Milliseconds since the request arrived. */
  readonly duration: number;
  /** Key of the user; null without one. */
  readonly user: string | null;
}

/** One request while it is measured or traced. */
export interface RequestObservation {
  /** Id of its trace, 32 hexadecimal digits, which the log lines of the request have. */
  readonly trace?: string | undefined;
  /** Runs all layers behind the outermost one. */
  run?(layers: () => Promise<void>): Promise<void>;
  /** Runs what answers the request. */
  runRoute?(route: AnsweringRoute, handle: () => Promise<void>): Promise<void>;
  /** Called once; must not throw. */
  end(end: RequestEnd): void;
}

/** Begins an observation for each request. */
export interface RequestObserver {
  begin(ctx: Context): RequestObservation;
}

/** Observers of all requests. Without a contribution requests run without them. */
export const requestObservers = facet<RequestObserver, RequestObserver | undefined>('http.observers', {
  combine: combineRequestObservers,
  coreOnly: true,
  describe: () => authorities('listens to', ['requests'], 'of all clients'),
});
