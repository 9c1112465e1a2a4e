import {
  type AuditLine,
  type Authority,
  authorities,
  type Caller,
  facet,
  type GrantHolder,
  type LedgerEntry,
  service,
} from '#kernel';

/** Why a call of confined code to its host fails (conventions, "Host API"). */
export type BrokerRefusalCode =
  | 'denied'
  | 'not_found'
  | 'invalid_request'
  | 'unsupported'
  | 'timeout'
  | 'rate_limited'
  | 'internal';

/** What confined code holds in place of a secret. It is valid only in the invocation that received it. */
export interface SecretReference {
  readonly kind: 'secret-reference';
  readonly ref: string;
}

/** One run of confined code. All its calls of the host have its caller, and are aborted when it ends. */
export interface ConfinedCodeInvocation {
  /** Unique to this run. */
  readonly id: string;
  /** The caller on whose behalf it runs; null without a user, for example for a schedule. */
  readonly caller: Caller | null;
  /** Aborts when the run ends, by success, failure or timeout. */
  readonly signal: AbortSignal;
  readonly secrets: InvocationSecretReferences;
}

/** The secrets of one invocation: confined code holds references, and only the host knows the values. */
export interface InvocationSecretReferences {
  /** Creates a reference to a secret value; the same value has the same reference. */
  conceal(value: string): SecretReference;
  /** The value behind a reference; undefined for a value that is no reference of this invocation. */
  reveal(reference: unknown): string | undefined;
  /** Whether the text contains a reference of this invocation. */
  mentionedIn(text: string): boolean;
  /** The text with all secrets of this invocation, and their references, replaced by `--redact--`. */
  scrub(text: string): string;
  /** The JSON value, scrubbed in texts, numbers and member names; the same object where there is no secret in it. */
  scrubValue(value: unknown): unknown;
}

// biome-ignore lint/suspicious/noExplicitAny: the list was checked against the schema before
type Args = any[];

/** A method of a capability that confined code may call: `host.<capability>.<method>(...args)`. */
export interface ConfinedCodeHostMethod<Api> {
  /** JSON schema of the list of arguments. */
  readonly args: Readonly<Record<string, unknown>>;
  /** The target of the call for the ledger: an origin or a collection, never a value. */
  target?(...args: Args): string;
  /** Maximum bytes of the answer as JSON; by default the limit that holds for all methods. */
  readonly maxReply?: number;
  /** Runs the call. Confined code receives a thrown Refusal as it is, a Failure by its code, any other error as `internal`. */
  call(api: Api, invocation: ConfinedCodeInvocation, ...args: Args): unknown;
}

/** The methods of one capability that confined code may call from its process. */
export interface RemoteCapabilityMethods {
  readonly capability: string;
  // biome-ignore lint/suspicious/noExplicitAny: a table of capabilities with different objects
  readonly methods: Readonly<Record<string, ConfinedCodeHostMethod<any>>>;
}

/** Methods by capability, contributed by the plugins that define the capabilities. */
export const remoteMethods = facet<RemoteCapabilityMethods, ReadonlyMap<string, RemoteCapabilityMethods['methods']>>(
  'broker.methods',
  {
    coreOnly: true,
    combine: (all) => new Map(all.map(({ value }) => [value.capability, value.methods])),
    describe: () => authorities('defines', ['methods for confined code']),
  },
);

/** A package that another plugin runs, with its grants. */
export interface PackageWithGrants {
  readonly name: string;
  readonly version: string;
  readonly runtime: 'confined' | 'full';
  /** Grants by capability. */
  readonly grants: Readonly<Record<string, unknown>>;
  /** Further authorities for the audit, listed before those of the grants. */
  readonly authorities?: readonly Authority[];
}

/** A registered package: every access of the package to the host passes this object. */
export interface PackageHandle {
  readonly holder: GrantHolder;
  /**
   * The bound object of a capability, as a plugin would have it on its `host`.
   * @throws CAPABILITY_DENIED where the package has no grant of it.
   */
  get<Api>(capability: string): Api;
  /**
   * Carries out `<capability>.<method>` for confined code. Every call and every denial is in the ledger.
   * @throws a Refusal: `unsupported` for an unknown method, `denied` without a grant or with a caller that the kernel did not mint,
   * `invalid_request` for arguments that do not fit, else what the method says.
   */
  call(method: string, args: unknown, invocation: ConfinedCodeInvocation): Promise<unknown>;
  /** The longest answer of a method in bytes, where it has a limit of its own. */
  maxReply(method: string): number | undefined;
  /** Counts a denial in the ledger of the package when another plugin, not the broker, denies something to the package. */
  recordDenial(what: string): void;
  /** Removes the package: its event listeners and its line in the audit. */
  remove(): void;
}

/** A line of the audit with its authorities as sentences. */
export interface AuditReportLine extends AuditLine {
  readonly sentences: readonly string[];
}

/** Holds third-party packages to their grants. For the plugins that run extensions. */
export interface PackageGrantBroker {
  /** Problems of the grants, one sentence each; empty when each names a known capability and fits its schema. */
  findProblems(grants: Readonly<Record<string, unknown>>): readonly string[];
  /** What these grants allow, in sentences of the audit. */
  describe(grants: Readonly<Record<string, unknown>>): readonly string[];
  /** Whether `after` allows anything that `before` does not. */
  widens(before: Readonly<Record<string, unknown>>, after: Readonly<Record<string, unknown>>): boolean;
  /** Registers a package with its grants: from then on it has a line in the audit. Check the grants before, with `findProblems`. */
  register(sketch: PackageWithGrants): PackageHandle;
  /** The audit (`may`: what plugins and packages may do) and the ledger (`did`: what they have done since start). */
  account(): { readonly may: readonly AuditReportLine[]; readonly did: readonly LedgerEntry[] };
  /** The text with values of the environment replaced (conventions, "Reason detail redaction"). */
  redact(text: string): string;
}

/** Variables of the environment that an operator allows by name, such as those of FLOWS_ENV_ALLOW_LIST. */
export interface EnvironmentVariables {
  /** The variables of these names that are set, from the environment or the settings file. */
  pick(names: readonly string[]): Readonly<Record<string, string>>;
}

/** Parts of the audit that do not come from manifests, such as the flows of the database. */
export interface RuntimeAudit {
  /** Adds lines to what plugins and packages may do. `lines` is called with each audit, and answers at once. */
  addLines(lines: () => readonly AuditLine[]): void;
  /** Counts in the ledger, under the name `owner`, that something acted without a user: `what` names it and the reason. */
  countSystemUse(owner: string, what: string): void;
}

/** For core plugins that run what administrators have stored. */
export const runtimeAudit = service<RuntimeAudit>('runtime-audit', { version: '1.0.0', coreOnly: true });

/** For core plugins that show variables of the environment to code, as the operator allows. */
export const environmentVariables = service<EnvironmentVariables>('environment-variables', {
  version: '1.0.0',
  coreOnly: true,
});

/** For core plugins that run packages: `extensions` and the loaders of its kinds. */
export const broker = service<PackageGrantBroker>('broker', { version: '1.0.0', coreOnly: true });
