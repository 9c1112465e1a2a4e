import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { castSetting, Failure, type Host } from '#kernel';
import {
  authProviders,
  type CredentialsProviderDriver,
  type ProviderCall,
  type ProviderDriverDeclaration,
  type ProviderFinding,
  type ProviderProfile,
  type ProviderSettings,
  type RedirectProviderDriver,
  type SignInRedirect,
} from '../../plugins/auth-providers/contract.ts';
import { withBootedTestPlugins } from './test-plugins.ts';

/** The users of a provider under test. Ann's address is verified and she is in the group `editors`; Bob's is not verified, or unknown. */
export type SuiteUser = 'ann' | 'bob';

/** A driver under test, with a real provider behind it. */
export interface AuthDriverKit {
  readonly declaration: ProviderDriverDeclaration;
  /** Texts of the provider's settings by key, as in AUTH_<NAME>_<KEY>. */
  readonly settings: Readonly<Record<string, string>>;
  /** The provider does not say of each user whether the address is verified: the profiles must not say it either. */
  readonly knowsVerifiedEmail?: false;
  /** Texts that no message, profile or address may have: secrets of the settings, and passwords of users. */
  readonly secrets: readonly string[];
  /** Drivers by redirect: what the browser brings back from an address where the user signs in. */
  visit?(location: URL, user: SuiteUser): Promise<URLSearchParams>;
  /** Drivers by redirect: callbacks that prove nothing, made of one that proves something. */
  forgeries?(honest: URLSearchParams): readonly URLSearchParams[];
  /** Drivers by credentials: those of the user. */
  credentialsOf?(user: SuiteUser): Readonly<Record<string, unknown>>;
  /** Drivers by credentials: wrong passwords, empty ones, unknown users, characters of the protocol. */
  readonly wrongCredentials?: readonly Readonly<Record<string, unknown>>[];
  /** Drivers that read headers of the request: those with which a proxy sends the callback of the user. */
  headersOf?(user: SuiteUser): Readonly<Record<string, string>>;
  /** Drivers that read headers: those that prove nothing, such as ones with a wrong secret. */
  readonly forgedHeaders?: readonly Readonly<Record<string, string>>[];
  /** How the provider answers from now on. `down`: it refuses connections, or closes them. Drivers that ask no provider have none. */
  setFault?(fault: 'none' | 'hang' | 'down' | 'garbage'): void;
  /** Closes what the kit opened. */
  stop(): Promise<void>;
}

/** One expectation, by its title. */
export interface AuthDriverCheck {
  readonly title: string;
  readonly kind: 'redirect' | 'credentials' | 'any';
  /** The driver sends requests to a provider. */
  readonly needsProvider?: true;
  run(kit: AuthDriverKit): Promise<void>;
}

type Driver = CredentialsProviderDriver | RedirectProviderDriver;

const LIMIT = 1500;

/** Settings as `auth-providers` makes them, in memory. */
export function createSuiteSettings(
  kit: Pick<AuthDriverKit, 'declaration' | 'settings'>,
  name = 'suite',
): ProviderSettings {
  const { keys } = kit.declaration;
  const used = new Set<string>();
  const settings: ProviderSettings = {
    name,
    variableOf: (key) => `AUTH_${name.toUpperCase()}_${key}`,
    value<T>(key: string) {
      const declared = keys[key];
      if (declared?.secret) throw new Error(`${key} is secret`);
      const text = kit.settings[key];
      if (declared && text !== undefined) return castSetting(text, declared) as T;
      if (key === 'TIMEOUT') return LIMIT as T;
      return declared?.default as T;
    },
    secret: async (key) => (keys[key]?.secret ? kit.settings[key] : undefined),
    urlOf: (endpoint) => `http://127.0.0.1:8055/auth/login/${name}/${endpoint}`,
    useOnce: async (id) => !used.has(id) && !!used.add(id),
    call: (work) => work(createSuiteCall()),
  };
  return settings;
}

/** What a driver gets for a call, with a limit of its own. */
export function createSuiteCall(limit = 20_000): ProviderCall {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new Failure('SERVICE_UNAVAILABLE', 'too late')), limit);
  timer.unref();
  const { signal } = controller;
  const unavailable = () => new Failure('SERVICE_UNAVAILABLE', 'the provider cannot be reached');
  return {
    signal,
    fetch: async (url, init = {}) => {
      try {
        const answer = await fetch(url, { ...(init as RequestInit), signal, redirect: 'manual' });
        return new Response(await answer.arrayBuffer(), { status: answer.status, headers: answer.headers });
      } catch {
        throw unavailable();
      }
    },
  };
}

async function withDriver<T>(kit: AuthDriverKit, work: (driver: Driver) => Promise<T>): Promise<T> {
  const driver = await kit.declaration.open(createSuiteSettings(kit));
  try {
    return await work(driver);
  } finally {
    await driver.close?.();
  }
}

const withoutHeader = (): undefined => undefined;

let states = 0;

async function begin(driver: Driver, call = createSuiteCall()): Promise<SignInRedirect & { readonly state: string }> {
  const state = `state-${++states}-${'x'.repeat(30)}`;
  const started = await (driver as RedirectProviderDriver).begin({
    ...call,
    state,
    prompt: undefined,
    header: withoutHeader,
  });
  // The cookie holds what JSON has.
  return { ...started, keep: JSON.parse(JSON.stringify(started.keep)), state };
}

/** Signs a user in as a browser and `auth-providers` do. */
async function signIn(
  kit: AuthDriverKit,
  driver: Driver,
  user: SuiteUser,
  call?: ProviderCall,
): Promise<ProviderProfile> {
  if (kit.declaration.kind === 'credentials') {
    const credentials = kit.credentialsOf?.(user) ?? {};
    return (driver as CredentialsProviderDriver).authenticate(credentials, {
      ...(call ?? createSuiteCall()),
      client: {},
    });
  }
  const started = await begin(driver, call);
  const parameters = (await kit.visit?.(started.location, user)) as URLSearchParams;
  return (driver as RedirectProviderDriver).finish({
    ...(call ?? createSuiteCall()),
    ...started,
    parameters,
    header: headerReader(kit.headersOf?.(user)),
  });
}

const headerReader =
  (headers: Readonly<Record<string, string>> = {}) =>
  (name: string): string | undefined =>
    headers[name];

/** Codes that a package without imports of the service may put on its errors. */
const CODES = ['INVALID_CREDENTIALS', 'SERVICE_UNAVAILABLE', 'INVALID_CONFIG'] as const;

async function failureOf(run: () => Promise<unknown>): Promise<Failure> {
  const outcome = await run().then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(outcome, 'the driver refuses nothing').not.to.equal(undefined);
  const { code, message } = Object(outcome) as Partial<Failure>;
  const known = CODES.find((one) => one === code);
  if (!(outcome instanceof Failure) && known) return new Failure(known, message);
  expect(outcome, `the driver throws what is no Failure: ${outcome}`).to.be.instanceOf(Failure);
  return outcome as Failure;
}

async function findingsOf(driver: Driver): Promise<readonly ProviderFinding[]> {
  const findings: ProviderFinding[] = [];
  for await (const finding of driver.check?.(createSuiteCall()) ?? []) findings.push(finding);
  return findings;
}

function assertWithoutSecrets({ secrets }: AuthDriverKit, shown: unknown, what: string): void {
  const text = typeof shown === 'string' ? shown : JSON.stringify(shown);
  for (const secret of secrets) expect(text.includes(secret), `${what} shows a secret`).to.equal(false);
}

const faultCheck = (title: string, fault: 'down' | 'garbage', codes: readonly string[]): AuthDriverCheck => ({
  title,
  kind: 'any',
  needsProvider: true,
  run: (kit) =>
    withDriver(kit, async (driver) => {
      kit.setFault?.(fault);
      try {
        const failure = await failureOf(() => signInWithFault(kit, driver));
        expect(failure.code).to.be.oneOf(codes);
        assertWithoutSecrets(kit, `${failure.message} ${failure.detail}`, 'the failure');
      } finally {
        kit.setFault?.('none');
      }
      expect((await signIn(kit, driver, 'ann')).identifier, 'afterwards').to.be.a('string');
    }),
});

/** A sign-in while the provider has a fault: the browser gets no further than the provider. */
async function signInWithFault(kit: AuthDriverKit, driver: Driver, call?: ProviderCall): Promise<unknown> {
  if (kit.declaration.kind === 'credentials') return signIn(kit, driver, 'ann', call);
  const started = await begin(driver, call);
  const parameters = new URLSearchParams({ code: 'any', state: started.state, SAMLResponse: 'any' });
  return (driver as RedirectProviderDriver).finish({
    ...(call ?? createSuiteCall()),
    ...started,
    parameters,
    header: withoutHeader,
  });
}

/** What every driver has to do. */
export const AUTH_DRIVER_CHECKS: readonly AuthDriverCheck[] = [
  {
    title: 'answers the same identifier for the same user, and another one for another user',
    kind: 'any',
    run: (kit) =>
      withDriver(kit, async (driver) => {
        const [first, second, other] = [
          await signIn(kit, driver, 'ann'),
          await signIn(kit, driver, 'ann'),
          await signIn(kit, driver, 'bob'),
        ];
        expect(first.identifier).to.be.a('string').and.not.equal('');
        expect(second.identifier).to.equal(first.identifier);
        expect(other.identifier).not.to.equal(first.identifier);
      }),
  },
  {
    title: 'says whether the e-mail address is verified, and never of its own accord that it is',
    kind: 'any',
    run: (kit) =>
      withDriver(kit, async (driver) => {
        const expected = kit.knowsVerifiedEmail === false ? undefined : true;
        expect((await signIn(kit, driver, 'ann')).emailVerified).to.equal(expected);
        expect((await signIn(kit, driver, 'bob')).emailVerified).not.to.equal(true);
      }),
  },
  {
    title: 'answers the groups of a user, and no others',
    kind: 'any',
    run: (kit) =>
      withDriver(kit, async (driver) => {
        expect((await signIn(kit, driver, 'ann')).groups).to.include('editors');
        expect((await signIn(kit, driver, 'bob')).groups ?? []).not.to.include('editors');
      }),
  },
  {
    title: 'shows no secret and no token in the profile',
    kind: 'any',
    run: (kit) =>
      withDriver(kit, async (driver) => {
        const { tokens, ...profile } = await signIn(kit, driver, 'ann');
        assertWithoutSecrets(kit, profile, 'the profile');
        if (tokens) expect(JSON.stringify(profile).includes(tokens.refreshToken)).to.equal(false);
      }),
  },
  {
    title: 'keeps simultaneous sign-ins of two users apart',
    kind: 'any',
    run: (kit) =>
      withDriver(kit, async (driver) => {
        const [ann, bob] = [await signIn(kit, driver, 'ann'), await signIn(kit, driver, 'bob')];
        const users = Array.from({ length: 8 }, (_none, at) => (at % 2 === 0 ? 'ann' : 'bob') as SuiteUser);
        const profiles = await Promise.all(users.map((user) => signIn(kit, driver, user)));
        expect(profiles.map(({ identifier }) => identifier)).to.deep.equal(
          users.map((user) => (user === 'ann' ? ann : bob).identifier),
        );
      }),
  },
  faultCheck('fails with SERVICE_UNAVAILABLE where the provider is down, and works afterwards', 'down', [
    'SERVICE_UNAVAILABLE',
  ]),
  faultCheck('fails with a code where the provider answers garbage, and works afterwards', 'garbage', [
    'SERVICE_UNAVAILABLE',
    'INVALID_CREDENTIALS',
  ]),
  {
    title: 'ends when the signal aborts, where the provider hangs',
    kind: 'any',
    needsProvider: true,
    run: (kit) =>
      withDriver(kit, async (driver) => {
        kit.setFault?.('hang');
        try {
          const late = pause(LIMIT + 15_000, 'late' as const, { ref: false });
          const ended = failureOf(() => signInWithFault(kit, driver, createSuiteCall(LIMIT))).then(({ code }) => code);
          // SAML asks its provider nothing, and refuses the callback at once.
          expect(await Promise.race([ended, late])).to.be.oneOf(['SERVICE_UNAVAILABLE', 'INVALID_CREDENTIALS']);
        } finally {
          kit.setFault?.('none');
        }
      }),
  },
  {
    title: 'finds nothing that fails by its method check, where it has one, and shows no secret',
    kind: 'any',
    run: (kit) =>
      withDriver(kit, async (driver) => {
        const findings = await findingsOf(driver);
        assertWithoutSecrets(kit, findings, 'the check');
        expect(findings.filter(({ status }) => status === 'fail')).to.deep.equal([]);
        expect(
          findings.filter(({ status, remedy }) => status !== 'ok' && !remedy),
          'no remedy',
        ).to.deep.equal([]);
      }),
  },
  {
    title: 'finds by its method check, where it has one, that the provider is down',
    kind: 'any',
    needsProvider: true,
    run: (kit) =>
      withDriver(kit, async (driver) => {
        if (!driver.check) return;
        kit.setFault?.('down');
        try {
          const statuses = await findingsOf(driver).then(
            (findings) => findings.map(({ status }) => status),
            (error: unknown) => [error instanceof Failure ? 'fail' : String(error)],
          );
          expect(statuses).to.include('fail');
        } finally {
          kit.setFault?.('none');
        }
      }),
  },
  {
    title: 'begins with an address of http that has the state and no secret, and keeps plain data of 2 KiB at most',
    kind: 'redirect',
    run: (kit) =>
      withDriver(kit, async (driver) => {
        const [first, second] = [await begin(driver), await begin(driver)];
        expect(first.location.protocol).to.match(/^https?:$/);
        expect([...first.location.searchParams.values()]).to.include(first.state);
        expect(JSON.stringify(first.keep).length).to.be.at.most(2048);
        assertWithoutSecrets(kit, first.location.href + JSON.stringify(first.keep), 'the begin');
        expect(first.location.href).not.to.equal(second.location.href);
      }),
  },
  {
    title: 'refuses with INVALID_CREDENTIALS a callback of another sign-in, an empty one, and forgeries',
    kind: 'redirect',
    run: (kit) =>
      withDriver(kit, async (driver) => {
        const own = await begin(driver);
        const other = await begin(driver);
        const honest = (await kit.visit?.(other.location, 'ann')) as URLSearchParams;
        const callbacks = [new URLSearchParams(), withState(honest, own.state), ...(kit.forgeries?.(honest) ?? [])].map(
          (parameters) => ({ parameters, header: withoutHeader as ReturnType<typeof headerReader> }),
        );
        for (const headers of kit.forgedHeaders ?? [])
          callbacks.push({ parameters: honest, header: headerReader(headers) });
        for (const { parameters, header } of callbacks) {
          const finish = () =>
            (driver as RedirectProviderDriver).finish({ ...createSuiteCall(), ...own, parameters, header });
          expect((await failureOf(finish)).code, String(parameters).slice(0, 200)).to.equal('INVALID_CREDENTIALS');
        }
      }),
  },
  {
    title: 'refuses with INVALID_CREDENTIALS wrong credentials, and says of none what is wrong',
    kind: 'credentials',
    run: (kit) =>
      withDriver(kit, async (driver) => {
        expect(kit.wrongCredentials, 'the kit has no wrong credentials').to.have.length.above(2);
        for (const credentials of kit.wrongCredentials ?? []) {
          const authenticate = () =>
            (driver as CredentialsProviderDriver).authenticate(credentials, { ...createSuiteCall(), client: {} });
          const failure = await failureOf(authenticate);
          expect(failure.code, JSON.stringify(credentials)).to.equal('INVALID_CREDENTIALS');
          assertWithoutSecrets(kit, `${failure.message} ${failure.detail}`, 'the failure');
        }
      }),
  },
];

function withState(parameters: URLSearchParams, state: string): URLSearchParams {
  const changed = new URLSearchParams(parameters);
  for (const name of ['state', 'RelayState']) if (changed.has(name)) changed.set(name, state);
  return changed;
}

const concerns = (check: AuthDriverCheck, kind: ProviderDriverDeclaration['kind'], hasProvider: boolean): boolean =>
  (check.kind === 'any' || check.kind === kind) && (hasProvider || !check.needsProvider);

/** Titles of the checks that a driver fails. */
export async function failedAuthDriverChecks(kit: AuthDriverKit): Promise<readonly string[]> {
  const failed: string[] = [];
  for (const check of AUTH_DRIVER_CHECKS) {
    const { title, run } = check;
    if (!concerns(check, kit.declaration.kind, kit.setFault !== undefined)) continue;
    await run(kit).catch(() => void failed.push(title));
  }
  return failed;
}

/** Declares one test for each check of a driver of this kind. `hasProvider` is false for a driver that sends no requests. */
export function describeAuthDriver(
  name: string,
  kind: ProviderDriverDeclaration['kind'],
  openKit: () => Promise<AuthDriverKit>,
  { hasProvider = true }: { readonly hasProvider?: boolean } = {},
): void {
  describe(`the driver ${name}, as auth-providers expects drivers`, function () {
    this.timeout(120_000);
    let kit: AuthDriverKit;
    before(async () => {
      kit = await openKit();
      expect([kit.declaration.kind, kit.setFault !== undefined]).to.deep.equal([kind, hasProvider]);
    });
    after(() => kit?.stop());
    for (const check of AUTH_DRIVER_CHECKS)
      if (concerns(check, kind, hasProvider)) it(check.title, () => check.run(kit));
  });
}

/** What these core plugins contribute to `auth.providers`, by the name of the driver. Nothing of them is started. */
export async function readAuthDriverDeclarations(
  plugins: readonly string[],
): Promise<ReadonlyMap<string, ProviderDriverDeclaration>> {
  let declarations: ReadonlyMap<string, ProviderDriverDeclaration> = new Map();
  let read = () => declarations;
  const probe = {
    name: 'auth-driver-probe',
    manifest: { facets: ['auth.providers'] },
    register(host: Host) {
      host.define(authProviders);
      read = () => host.read(authProviders);
    },
  };
  await withBootedTestPlugins(
    [probe],
    () => {
      declarations = new Map(read());
    },
    { product: plugins },
  );
  return declarations;
}

/** What a third-party package contributes to `auth.providers`; `plugin` is the default export of its module. */
export function readPackageDriver(plugin: { register(host: unknown): void }): ProviderDriverDeclaration {
  const found: ProviderDriverDeclaration[] = [];
  plugin.register({
    contribute(to: { readonly id: string }, value: ProviderDriverDeclaration) {
      if (to.id === 'auth.providers') found.push(value);
    },
  });
  if (found.length !== 1) throw new Error(`the package contributes ${found.length} drivers`);
  return found[0] as ProviderDriverDeclaration;
}
