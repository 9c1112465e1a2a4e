/** Address, user agent and origin of a client; missing members are unknown. */
export interface AuthClientInfo {
  /** The IP address of the client, also behind trusted proxies. */
  readonly ip?: string | null;
  readonly userAgent?: string | null;
  readonly origin?: string | null;
}

/** The authenticated user: by the key of the row, or by the identifier of the provider. */
export type AuthenticatedUser = { readonly user: string } | { readonly externalIdentifier: string };

/** Name and provider of a driver. They are read once, when the driver is contributed. */
export interface AuthDriverInfo {
  /** The kind of driver, among the names that the manifest declares: `local`, `ldap`, `openid`. */
  readonly name: string;
  /**
   * The provider whose users sign in by this driver (`platform_users.provider`), and the last part of `/auth/login/<provider>`. A
   * driver of several providers is contributed once for each. Of two drivers with one provider, the first is used.
   */
  readonly provider: string;
  /** Shown beside the provider on sign-in pages. */
  readonly icon?: string;
  /** The name of the provider on sign-in pages. Default: `provider`. */
  readonly label?: string;
  /**
   * Users of every provider may sign in by this driver, as with passkeys. The manifest section must declare `anyProvider`, too.
   */
  readonly anyProvider?: true;
}

/** Methods that a driver of either kind may have. */
export interface AuthDriverHooks {
  /**
   * Called before new tokens are answered to a refresh of a user of the driver's provider.
   * @throws a Failure that ends the session and that the client is answered, such as INVALID_CREDENTIALS for a user whom the
   * provider does not know any more.
   */
  refresh?(user: { readonly id: string }): Promise<void>;
}

/** The members of a sign-in body that belong to the driver, validated against its schema. */
export type Credentials = Readonly<Record<string, unknown>>;

/** A driver that credentials are posted to: `POST /auth/login/<provider>`. LDAP is one. */
export interface CredentialsDriver<Found extends { readonly id: string } = { readonly id: string }>
  extends AuthDriverInfo,
    AuthDriverHooks {
  readonly kind: 'credentials';
  /**
   * JSON schema of the credentials: the body without `mode` and `otp`, which `auth` takes. A body that does not fit it is
   * INVALID_PAYLOAD before the driver is called.
   */
  readonly schema: Readonly<Record<string, unknown>>;
  /** Members of the credentials that say who signs in: the action `auth.login` shows these and no others. */
  readonly identifiers: readonly string[];
  /** The user whom the credentials name, before anything is checked: listeners of the filter `auth.login` see the id. */
  find?(credentials: Credentials): Promise<Found | undefined>;
  /**
   * Checks the credentials, which filters of `auth.login` may have changed. `found` is the answer of `find`.
   * @throws INVALID_CREDENTIALS and other Failures, which the client is answered after LOGIN_STALL_TIME at the earliest.
   */
  authenticate(credentials: Credentials, client: AuthClientInfo, found: Found | undefined): Promise<AuthenticatedUser>;
}

/**
 * Describes a driver whose plugin does redirect and callback in routes of its own (OAuth2, OpenID Connect, SAML). The callback passes
 * this object to `sessions.open`.
 */
export interface RedirectSignInDriver extends AuthDriverInfo, AuthDriverHooks {
  readonly kind: 'redirect';
}

/** A way to sign in: by credentials in a request to `auth`, or by routes of the plugin itself. */
export type AuthDriver = CredentialsDriver | RedirectSignInDriver;

/** A driver with its terms as they were when it was contributed. */
export interface ContributedAuthDriver {
  readonly driver: AuthDriver;
  readonly terms: AuthDriverInfo;
}

/** The section `auth.drivers` of a manifest. */
export interface DeclaredAuthDrivers {
  readonly names: readonly string[];
  readonly anyProvider?: true;
  /** The plugin contributes drivers of other plugins, whose names it does not know. */
  readonly anyName?: true;
}

const PROVIDER = /^[A-Za-z0-9][\w.-]{0,127}$/;

/** Terms as they were when the driver was contributed: a driver that changes its object later gains nothing. */
const validatedTerms = new WeakMap<AuthDriver, AuthDriverInfo>();

/** True, or the reason why a driver does not match the manifest of its plugin. */
export function validateAuthDriver(driver: AuthDriver, declared: DeclaredAuthDrivers): true | string {
  const { name, provider, icon, label, anyProvider } = driver;
  if (!declared.names.includes(name) && !declared.anyName) return `the driver ${name} is not declared`;
  if (anyProvider && !declared.anyProvider) return `${name} does not declare that it signs in users of any provider`;
  if (typeof provider !== 'string' || !PROVIDER.test(provider)) return `"${provider}" is not a name for a provider`;
  validatedTerms.set(driver, Object.freeze({ name, provider, icon, label, anyProvider }));
  return true;
}

/** The first driver of each provider. */
export function authDriversByProvider(
  all: readonly { readonly value: AuthDriver }[],
): ReadonlyMap<string, ContributedAuthDriver> {
  const byProvider = new Map<string, ContributedAuthDriver>();
  for (const { value: driver } of all) {
    const terms = validatedTerms.get(driver) as AuthDriverInfo;
    if (!byProvider.has(terms.provider)) byProvider.set(terms.provider, { driver, terms });
  }
  return byProvider;
}

/** The terms of a contributed driver; undefined for a driver that is not contributed, or no longer. */
export function authDriverInfoOf(
  drivers: ReadonlyMap<string, ContributedAuthDriver>,
  driver: AuthDriver,
): AuthDriverInfo | undefined {
  for (const contributed of drivers.values()) if (contributed.driver === driver) return contributed.terms;
  return undefined;
}
