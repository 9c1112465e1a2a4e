import type { ErrorCode } from '#kernel';

/** JSON Schema 2020-12 as plain data. Shared shapes are references: `{ $ref: '#/components/schemas/<Name>' }`. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * `#/components/parameters/<name>` or `#/components/schemas/<Name>`, defined in `components` of the same description.
 */
export interface ComponentReference {
  readonly $ref: string;
}

/** One parameter of a path or of a query string. */
export interface ParameterDescription {
  /** One line of text. */
  readonly description: string;
  readonly schema: JsonSchema;
  /** Whether a query parameter is required; default false. Path parameters are always required. */
  readonly required?: boolean;
}

/**
 * Media type → schema of the whole body. A range (`image/*`) stands for all types in it; binary bodies have the schema
 * `{}`.
 */
export type SchemaByMediaType = Readonly<Record<string, JsonSchema>>;

/** The body of a request, by media type. */
export interface BodyDescription {
  readonly content: SchemaByMediaType;
  /** Default true. */
  readonly required?: boolean;
}

/**
 * The callers that a route serves: all, signed-in users, users with app access, admins, callers with the right permissions, or
 * programs whose token the plugin of the route verifies itself. All but `public` may answer FORBIDDEN.
 */
export type RouteAccess = 'public' | 'user' | 'app' | 'admin' | 'permissions' | 'own-token';

/** Shared schemas and parameters by name. A name means the same in all descriptions of the service. */
export interface OpenApiComponents {
  readonly schemas?: Readonly<Record<string, JsonSchema>>;
  readonly parameters?: Readonly<Record<string, ParameterDescription>>;
}

/**
 * Describes a route without its code. OpenAPI 3.1 documents are built from these descriptions alone. `library.ts` has
 * the parts that many descriptions share.
 */
export interface RouteDescription {
  /** One sentence. */
  readonly summary: string;
  /** The group of routes it belongs to; the first segment of the path without it. */
  readonly tag?: string;
  readonly access: RouteAccess;
  /**
   * The collection whose rows the route reads (GET, HEAD, SEARCH), creates (POST), updates (PATCH) or deletes (DELETE); `{collection}`
   * where the path has its name. Documents show the route to callers with a permission for that.
   */
  readonly collection?: string;
  /** With `{collection}`: what the route is for the collection in the path. Documents have these in the place of this description. */
  readonly byCollection?: CollectionForms;
  /** The cookie with the refresh token identifies the caller as well. */
  readonly readsCookie?: true;
  /** All parameters of the path, and no others. */
  readonly params?: Readonly<Record<string, ParameterDescription>>;
  readonly query?: Readonly<Record<string, ParameterDescription | ComponentReference>>;
  /** What the route accepts. The route itself enforces rules that a schema cannot state. */
  readonly body?: BodyDescription;
  /**
   * Status → content of every answer that is no error of the table in `kernel/errors.ts`; `{}` is an answer without a
   * body. `304` and the answers of `HEAD` follow from those of `GET`. Empty for routes that only refuse.
   */
  readonly answers: Readonly<Record<number, SchemaByMediaType>>;
  /** Codes beyond those that follow from `access`, method and `COMMON_ERROR_CODES` (`errorCodesOf` in `library.ts`). */
  readonly errors?: readonly ErrorCode[];
  /** The targets of the references in this description. */
  readonly components?: OpenApiComponents;
}

/** What API documents say of a mount. */
export interface MountDescription {
  /** Name of the package that answers. */
  readonly package: string;
  /** Undefined where the code of the package decides. */
  readonly access?: RouteAccess;
  /** JSON Schema of a request, an object of `method`, `path` (below the mount), `query` and `body`; undefined: any. */
  readonly input?: JsonSchema;
  /** JSON Schema of an answer, an object of `status` and `body`; undefined: any. */
  readonly output?: JsonSchema;
}

/** A route of any collection as it is for one: `{collection}` in texts and schemas stands for its name. */
export interface CollectionForms {
  /** Undefined for a route that singletons do not have. */
  readonly singleton?: RouteDescription;
  readonly list: RouteDescription;
}
