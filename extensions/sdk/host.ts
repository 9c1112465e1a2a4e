/** A JSON value. Confined code and its host exchange JSON values only. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/** The result of a host call. Host calls never throw: check `ok` first. */
export type Answer<Value> =
  | { readonly ok: true; readonly value: Value }
  | {
      readonly ok: false;
      readonly error: {
        readonly code:
          | 'denied'
          | 'not_found'
          | 'invalid_request'
          | 'unsupported'
          | 'timeout'
          | 'rate_limited'
          | 'internal';
        readonly message: string;
        readonly details?: Json;
      };
    };

/** A reference to a secret, valid during one invocation. Only `auth` of `request.send` accepts it. */
export interface SecretReference {
  readonly kind: 'secret-reference';
  readonly ref: string;
}

/** Capability `log: true`. The calls return nothing. */
export interface LogHost {
  debug(message: string, meta?: Json): void;
  info(message: string, meta?: Json): void;
  warn(message: string, meta?: Json): void;
  error(message: string, meta?: Json): void;
}

/**
 * Capability `request: { origins, methods? }`: requests to these origins with these methods. Redirects are not
 * followed.
 */
export interface RequestHost {
  send(request: {
    readonly url: string;
    readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD' | 'OPTIONS';
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: Json;
    /** Milliseconds. */
    readonly timeoutMs?: number;
    readonly auth?:
      | { readonly bearer: SecretReference }
      | { readonly header: string; readonly secret: SecretReference };
  }): Promise<
    Answer<{ readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: Json }>
  >;
}

export interface ItemsQuery {
  readonly fields?: readonly string[];
  readonly filter?: JsonObject;
  readonly sort?: readonly string[];
  /** At most 100, which is also the default. */
  readonly limit?: number;
  readonly offset?: number;
  readonly page?: number;
  readonly search?: string;
}

type Key = string | number;

/**
 * Capability `items: { accountability: 'user' | 'full-access' }`: items of the project's own collections, with the
 * permissions of the caller (`user`) or with full access.
 */
export interface ItemsHost {
  readMany(collection: string, query?: ItemsQuery): Promise<Answer<readonly JsonObject[]>>;
  /** An alias of `readMany`. */
  read(collection: string, query?: ItemsQuery): Promise<Answer<readonly JsonObject[]>>;
  /** Null for an item that does not exist or may not be read. */
  readOne(collection: string, key: Key, query?: ItemsQuery): Promise<Answer<JsonObject | null>>;
  createOne(collection: string, payload: JsonObject): Promise<Answer<Key>>;
  createMany(collection: string, payloads: readonly JsonObject[]): Promise<Answer<readonly Key[]>>;
  updateOne(collection: string, key: Key, payload: JsonObject): Promise<Answer<Key>>;
  updateMany(collection: string, keys: readonly Key[], payload: JsonObject): Promise<Answer<readonly Key[]>>;
  /** Null where there was no such item. */
  deleteOne(collection: string, key: Key): Promise<Answer<Key | null>>;
  deleteMany(collection: string, keys: readonly Key[]): Promise<Answer<readonly Key[]>>;
}

type SettingValue = string | number | boolean | SecretReference;

/** The global settings of the package, as its manifest declares them. A secret is a reference. */
export interface SettingsHost {
  /** Null for a setting without a value or an unknown key. The type argument is the type in the manifest. */
  get<Value extends SettingValue = SettingValue>(key: string): Promise<Answer<Value | null>>;
}

/** Capability `template: true`. */
export interface TemplateHost {
  renderLiquid(
    template: string,
    data?: JsonObject,
    options?: {
      readonly delimiters?: {
        readonly tagLeft?: string;
        readonly tagRight?: string;
        readonly outputLeft?: string;
        readonly outputRight?: string;
      };
    },
  ): Promise<Answer<string>>;
}

/** A message of a package. Addresses are `ann@example.com` or `Ann <ann@example.com>`; the sender is that of the service. */
export interface Mail {
  readonly to: string | readonly string[];
  readonly subject: string;
  /** Stands inside of the base layout of the service. */
  readonly html?: string;
  /** Default: made of `html`. */
  readonly text?: string;
  readonly replyTo?: string;
}

/** Capability `mail: { domains: ['example.com'], perHour: 20 }`. */
export interface MailHost {
  /** Answers the id of the job that sends the message, once it is certain that it will run. */
  send(message: Mail): Promise<Answer<string>>;
}

/** All members of a confined host. Calls of a capability that the manifest does not declare answer `denied`. */
export interface ConfinedHost {
  readonly log: LogHost;
  readonly request: RequestHost;
  readonly items: ItemsHost;
  readonly settings: SettingsHost;
  readonly template: TemplateHost;
  readonly mail: MailHost;
}

/** The capabilities of a manifest, for example `typeof manifest['service:extension']['capabilities']`. */
export type Declared = { readonly [capability: string]: unknown };

/** The members of the host that a manifest declares, so that editors offer no others. */
export type HostOf<Capabilities extends Declared> = Pick<
  ConfinedHost,
  Extract<keyof Capabilities, keyof ConfinedHost> | 'settings'
>;
