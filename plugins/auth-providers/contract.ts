import { authorities, type ConfigKey, facet, service } from '#kernel';
import type { AuthClientInfo, Credentials } from '../auth/contract.ts';
import type { HttpContext } from '../http/contract.ts';

/** What a provider says of a user whom it has authenticated. */
export interface ProviderProfile {
  /** What the provider calls the user: never given to another one (`platform_users.external_identifier`). At most 255 characters. */
  readonly identifier: string;
  readonly email?: string | undefined;
  /** Whether the provider says that the address is the user's; undefined where it does not say. */
  readonly emailVerified?: boolean | undefined;
  readonly firstName?: string | undefined;
  readonly lastName?: string | undefined;
  /** Names of the groups of the user, for AUTH_<NAME>_ROLE_MAPPING. */
  readonly groups?: readonly string[] | undefined;
  /** What the provider said, without tokens: shown to filters of `auth.create` and `auth.update`. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Tokens to refresh with the session of the user; stored encrypted, and only where SECRETS_ENCRYPTION_KEY is set. */
  readonly tokens?: ProviderTokens | undefined;
  /** For the sign-out at the provider, and for sign-outs that the provider begins. */
  readonly signOut?: ProviderSignOut | undefined;
}

/** What a sign-in leaves for its sign-out. */
export interface ProviderSignOut {
  /** What the provider calls the user, and its own session, in a sign-out that it begins. */
  readonly subject: string;
  readonly session?: string | undefined;
  /** What `logout` receives in the browser that signed in, such as an ID token: no secret. One of more than 3,900 bytes is not kept. */
  readonly hint?: string | undefined;
}

/** Tokens that a provider issued for a user. */
export interface ProviderTokens {
  readonly refreshToken: string;
  /** Milliseconds since 1970 after which `refresh` of the driver is called; undefined: with each refresh of the session. */
  readonly expires?: number | undefined;
}

/** How a key of a provider is written and read: AUTH_<NAME>_<KEY>. A `secret` key is read by `ProviderSettings.secret` only. */
export interface ProviderKey extends ConfigKey {
  /** The start fails without it. */
  readonly required?: true;
}

/** One configured provider, as its driver sees it. */
export interface ProviderSettings {
  /** The name of the provider: `platform_users.provider`, and the last part of `/auth/login/<provider>`. */
  readonly name: string;
  /** The variable of a key, for messages: AUTH_<NAME>_<KEY>. */
  variableOf(key: string): string;
  /** The value of a declared key, of its declared type; its default, or undefined, where it is not set. */
  value<T = string | undefined>(key: string): T;
  /** The current text of a key that is `secret`. A file of AUTH_<NAME>_<KEY>_FILE is read anew each time. @throws INVALID_CONFIG */
  secret(key: string): Promise<string | undefined>;
  /** The public address of a route of the provider: `callback` makes `<PUBLIC_URL>/auth/login/<name>/callback`. */
  urlOf(endpoint: string): string;
  /**
   * True for the first use of an id of this provider in all processes, until `lifetime` milliseconds have passed: against replay, as of
   * assertions.
   */
  useOnce(id: string, lifetime: number): Promise<boolean>;
  /** Runs a request of the driver itself, outside of a sign-in, within the limits of one. @throws SERVICE_UNAVAILABLE, and what `work` throws */
  call<T>(work: (call: ProviderCall) => Promise<T>): Promise<T>;
}

/**
 * What a driver needs in each of its methods. A package that imports nothing of the service throws, in place of a Failure, an Error whose
 * `code` is INVALID_CREDENTIALS, SERVICE_UNAVAILABLE or INVALID_CONFIG.
 */
export interface ProviderCall {
  /** Aborts when AUTH_<NAME>_TIMEOUT is over. The client is answered SERVICE_UNAVAILABLE then, whatever the driver does. */
  readonly signal: AbortSignal;
  /**
   * Sends a request to the provider: it ends with the signal, follows no redirect, and takes no more than 1 MiB of an answer. It reaches
   * any address, since the administrator names the provider.
   * @throws SERVICE_UNAVAILABLE
   */
  readonly fetch: ProviderFetch;
}

/** As the global `fetch`, for bodies that are texts, bytes or forms. */
export type ProviderFetch = (
  url: string | URL,
  init?: {
    readonly method?: string;
    readonly headers?: Headers | Readonly<Record<string, string>>;
    readonly body?: string | Uint8Array | URLSearchParams | null;
    /** Bytes of the longest accepted answer, 256 KiB by default. Answers that each sign-in causes are short, so that many do not add up. */
    readonly maxBytes?: number;
  },
) => Promise<Response>;

/** What `auth check` found at one point. The texts are printed, so they have no secrets, tokens or passwords. */
export interface ProviderFinding {
  /** What was looked at, in few words: `discovery document`. */
  readonly check: string;
  /** `fail`: sign-ins do not work. `warn`: they may not, or not for long, or are less safe than they could be. */
  readonly status: 'ok' | 'warn' | 'fail';
  /** What was found. */
  readonly text: string;
  /** What to do about it, with `warn` and `fail`. */
  readonly remedy?: string;
}

/** Methods that a driver of either kind may have. */
interface ProviderDriverMethods {
  /**
   * Exchanges tokens, when the session of their user is refreshed.
   * @throws INVALID_CREDENTIALS where the provider refuses: the session ends. Any other failure leaves the session.
   */
  refresh?(tokens: ProviderTokens, call: ProviderCall): Promise<ProviderTokens>;
  /**
   * Looks at the provider for `auth check`, without a sign-in: whether it is there and does what a sign-in needs. Findings are
   * printed as they come. What it throws is a finding, too, and the last one. All of it has AUTH_<NAME>_TIMEOUT.
   */
  check?(call: ProviderCall): AsyncIterable<ProviderFinding>;
  /**
   * Asks the provider about a user without a sign-in, for `auth check --user`; undefined where it knows no such user.
   * @throws USER_SUSPENDED and INVALID_CREDENTIALS for a user who could not sign in, with the reason as detail
   */
  lookUp?(user: string, call: ProviderCall): Promise<ProviderProfile | undefined>;
  /** Releases what the driver holds, when the service stops or the driver is unloaded. */
  close?(): Promise<void> | void;
}

/** A driver whose users send credentials to `POST /auth/login/<provider>`. */
export interface CredentialsProviderDriver extends ProviderDriverMethods {
  /** @throws INVALID_CREDENTIALS, SERVICE_UNAVAILABLE where the provider does not answer as it should. */
  authenticate(
    credentials: Credentials,
    call: ProviderCall & { readonly client: AuthClientInfo },
  ): Promise<ProviderProfile>;
}

/** The begin of a sign-in by redirect. */
export interface SignInStart extends ProviderCall {
  /** A random text that the provider has to send back: `state` of OAuth2, `RelayState` of SAML. */
  readonly state: string;
  /** The query parameter `prompt` of the request, such as `login`. */
  readonly prompt: string | undefined;
  /** A header of the request, by its name in lower case; values of a repeated header are joined by `, `. */
  header(name: string): string | undefined;
}

/** Where the browser is sent, and what the callback needs to know. */
export interface SignInRedirect {
  readonly location: URL;
  /** Plain data, at most 2 KiB as JSON. It is in a signed cookie, which the user can read, until the callback. */
  readonly keep: Readonly<Record<string, unknown>>;
}

/** A request of the browser that returns from the provider. */
export interface SignInCallback extends ProviderCall {
  /** Parameters of the query, or of the form that was posted. Of a repeated parameter the sign-in is refused. */
  readonly parameters: URLSearchParams;
  /** `state` of the start. The callback has been compared with it. */
  readonly state: string;
  readonly keep: Readonly<Record<string, unknown>>;
  /** As of `SignInStart`. */
  header(name: string): string | undefined;
}

/** A driver that sends the browser to the provider and takes it back. */
export interface RedirectProviderDriver extends ProviderDriverMethods {
  /** @throws SERVICE_UNAVAILABLE where the provider does not answer as it should. */
  begin(start: SignInStart): Promise<SignInRedirect>;
  /** @throws INVALID_CREDENTIALS for everything that proves no identity, SERVICE_UNAVAILABLE. */
  finish(callback: SignInCallback): Promise<ProviderProfile>;
  /** The address that ends the session at the provider and returns to `redirect`; undefined where the provider has none. */
  logout?(
    redirect: URL | undefined,
    call: ProviderCall & { readonly hint: string | undefined },
  ): Promise<URL | undefined>;
  /**
   * Verifies a message that the provider posts to `/auth/login/<provider>/backchannel-logout`: `session` is over, or all sessions of
   * `subject`, as `signOut` of the profile named them. @throws INVALID_CREDENTIALS for what proves nothing, SERVICE_UNAVAILABLE
   */
  readSignOut?(
    message: URLSearchParams,
    call: ProviderCall,
  ): Promise<{ readonly subject?: string | undefined; readonly session?: string | undefined }>;
}

interface ProviderDriverTerms {
  /** The name of the driver, as in AUTH_<NAME>_DRIVER; the manifest section lists it. */
  readonly name: string;
  /** Keys of its providers, beside those of every provider (README). Other keys of a provider stop the start. */
  readonly keys: Readonly<Record<string, ProviderKey>>;
}

/** A kind of provider, contributed to `auth.providers`. `open` runs at the start, once for each provider; an error stops the start. */
export type ProviderDriverDeclaration = ProviderDriverTerms &
  (
    | {
        readonly kind: 'credentials';
        /** As of `CredentialsDriver` of `auth`. */
        readonly schema: Readonly<Record<string, unknown>>;
        readonly identifiers: readonly string[];
        open(provider: ProviderSettings): Promise<CredentialsProviderDriver>;
      }
    | {
        readonly kind: 'redirect';
        /**
         * Its plugin serves the callback by a route of its own, with `provider-sign-ins.complete`, in place of
         * `/auth/login/<provider>/callback`. `crossSite`: the provider posts a form to it, with which browsers send no `SameSite=Lax` cookie.
         */
        readonly ownCallback?: { readonly crossSite: boolean };
        open(provider: ProviderSettings): Promise<RedirectProviderDriver>;
      }
  );

const names = { type: 'array', minItems: 1, items: { type: 'string', pattern: '^[a-z][a-z0-9-]*$' } } as const;

/** Kinds of sign-in providers, by name; the manifest section lists the names. Of two drivers with one name the first is used. */
export const authProviders = facet<ProviderDriverDeclaration, ReadonlyMap<string, ProviderDriverDeclaration>>(
  'auth.providers',
  {
    combine: (all) => new Map(all.toReversed().map(({ value }) => [value.name, value])),
    manifest: { type: 'object', additionalProperties: false, required: ['names'], properties: { names } },
    validate: ({ name }, declared) => declared.names.includes(name) || `the driver ${name} is not declared`,
    describe: (declared) =>
      authorities(
        'identifies callers as',
        declared.names.map((name: string) => `users of providers with the driver ${name}`),
        'and may register them where the settings of the provider say so',
      ),
  },
);

/** Keys of every provider that another plugin than its driver reads, contributed to `auth.provider-keys`. */
export interface ProviderKeys {
  /** Name of the contribution; the manifest section lists it. */
  readonly name: string;
  /** As of a driver: AUTH_<NAME>_<KEY>. */
  readonly keys: Readonly<Record<string, ProviderKey>>;
  /** Whether the plugin decides the roles of the users of this provider by AUTH_<NAME>_ROLE_MAPPING, so that their sign-ins do not. */
  decidesRoles(provider: ProviderSettings): Promise<boolean>;
}

/** Further keys of all providers; the manifest section lists the names of the contributions. */
export const providerKeys = facet<ProviderKeys, readonly ProviderKeys[]>('auth.provider-keys', {
  combine: (all) => all.map(({ value }) => value),
  manifest: { type: 'object', additionalProperties: false, required: ['names'], properties: { names } },
  validate: ({ name }, declared) => declared.names.includes(name) || `${name} is not declared`,
  describe: (declared) => authorities('reads', ['settings of sign-in providers'], declared.names.join(', ')),
  coreOnly: true,
});

/** Which role a user of a provider has. */
export interface ProviderRoles {
  /** The role of a new user without a mapping, and of a user in none of its groups; null for none. */
  readonly byDefault: string | null;
  /** Groups and their roles, in the order of the setting; undefined where roles are not mapped. */
  readonly mapping: readonly (readonly [group: string, role: string])[] | undefined;
}

/** A configured provider, for plugins that manage its users without a sign-in. */
export interface ConfiguredProvider {
  readonly settings: ProviderSettings;
  /** AUTH_<NAME>_DEFAULT_ROLE_ID and AUTH_<NAME>_ROLE_MAPPING. */
  readonly roles: ProviderRoles;
}

/** The providers that are configured; complete once this plugin has started. */
export interface ProviderDirectory {
  list(): readonly ConfiguredProvider[];
}

/** For core plugins alone: it reads secrets of providers. */
export const providerDirectory = service<ProviderDirectory>('provider-directory', { version: '1.0.0', coreOnly: true });

/** Sign-ins by redirect, for plugins that serve the callback of their driver themselves. */
export interface ProviderSignIns {
  /**
   * Completes a sign-in: checks `state` against the cookie of the browser, calls `finish` of the driver, finds or registers the user,
   * opens the session and answers the request, by a redirect or by the tokens.
   * @throws INVALID_TOKEN without a cookie that fits, and for a second use, TOKEN_EXPIRED; where the sign-in began without `redirect`,
   * also what the driver throws, INVALID_CREDENTIALS, INVALID_PROVIDER, RECORD_NOT_UNIQUE, and what `sessions.open` throws.
   */
  complete(
    ctx: HttpContext,
    provider: string,
    callback: { readonly state: string | null; readonly parameters: URLSearchParams },
  ): Promise<void>;
}

/** For plugins that contribute to `auth.providers`. */
export const providerSignIns = service<ProviderSignIns>('provider-sign-ins', { version: '1.0.0' });
