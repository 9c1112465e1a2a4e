import {
  type AuditLine,
  type Authority,
  authorities,
  type Caller,
  facet,
  type LedgerEntry,
  type Subject,
  service,
} from '#kernel';

/** Why a call of confined code to its host fails (conventions, "Host API"). */
export type RefusalCode =
  | 'denied'
  | 'not_found'
  | 'invalid_request'
  | 'unsupported'
  | 'timeout'
  | 'rate_limited'
  | 'internal';

/** What confined code holds in the place of a secret. It is valid in the run that received it, and nowhere else. */
export interface SecretReference {
  readonly kind: 'secret-reference';
  readonly ref: string;
}

/** One run of confined code: everything it asks of the host happens on its account and ends with it. */
export interface Invocation {
  /** Of this run alone. */
  readonly id: string;
  /** On whose behalf it runs; null where there is no user, as with a schedule. */
  readonly caller: Caller | null;
  /** Aborts when the run is over, however it ended. */
  readonly signal: AbortSignal;
  readonly secrets: Secrets;
}

/** The secrets one run was given: it holds references, and only the host knows what they stand for. */
export interface Secrets {
  /** The same value has the same reference. */
  conceal(value: string): SecretReference;
  /** Undefined for whatever is not a reference that this run was given. */
  reveal(reference: unknown): string | undefined;
  /** Is one of the references given out anywhere in this text? */
  mentionedIn(text: string): boolean;
  /** The text without the secrets of this run and without their references. */
  scrub(text: string): string;
  /** A JSON value without them, in texts, numbers and names of members; itself where there are none in it. */
  scrubValue(value: unknown): unknown;
}

// biome-ignore lint/suspicious/noExplicitAny: the list was checked against the schema before
type Args = any[];

/** A method of a capability that confined code may call: `host.<capability>.<method>(...args)`. */
export interface RemoteMethod<Api> {
  /** JSON schema of the list of arguments. */
  readonly args: Readonly<Record<string, unknown>>;
  /** What the call was aimed at, for the ledger: an origin, a collection; never a value. */
  target?(...args: Args): string;
  /** Bytes of the longest answer, as JSON. */
  readonly maxReply?: number;
  /** A Refusal reaches the caller as it is; a Failure by its code; anything else as `internal`. */
  call(api: Api, invocation: Invocation, ...args: Args): unknown;
}

/** What of a capability's bound object confined code may call, from another process. */
export interface RemoteTable {
  readonly capability: string;
  // biome-ignore lint/suspicious/noExplicitAny: a table of capabilities with different objects
  readonly methods: Readonly<Record<string, RemoteMethod<any>>>;
}

/** By the plugins that define the capabilities. */
export const remotes = facet<RemoteTable, ReadonlyMap<string, RemoteTable['methods']>>('broker.methods', {
  coreOnly: true,
  combine: (all) => new Map(all.map(({ value }) => [value.capability, value.methods])),
  describe: () => authorities('defines', ['methods for confined code']),
});

/** A package that another plugin runs: who it is and what it was granted. */
export interface PackageWithGrants {
  readonly name: string;
  readonly version: string;
  readonly runtime: 'confined' | 'full';
  /** Grants by capability. */
  readonly grants: Readonly<Record<string, unknown>>;
  /** More for the audit, before what the grants mean. */
  readonly authorities?: readonly Authority[];
}

/** A package while it is held to its grants. */
export interface Admitted {
  readonly subject: Subject;
  /**
   * The object a capability binds for this package: the same a plugin would hold.
   * @throws CAPABILITY_DENIED where the package has no grant of it.
   */
  get<Api>(capability: string): Api;
  /**
   * Carries out `<capability>.<method>` for confined code. Every call and every denial is in the ledger.
   * @throws a Refusal: `unsupported` for an unknown method, `denied` without a grant or with a caller that the kernel did not mint,
   * `invalid_request` for arguments that do not fit, else what the method says.
   */
  call(method: string, args: unknown, invocation: Invocation): Promise<unknown>;
  /** The longest answer of a method in bytes, where it has a limit of its own. */
  maxReply(method: string): number | undefined;
  /** Writes a denial that another plugin found into the ledger. */
  denied(what: string): void;
  /** Takes its listeners and its line in the audit away. */
  remove(): void;
}

/** A line of the audit with its authorities in sentences for people. */
export interface AuditReportLine extends AuditLine {
  readonly sentences: readonly string[];
}

/** For the plugin that runs extensions: it hands out nothing that their grants do not hold. */
export interface Subjects {
  /** What is wrong with these grants; empty when each is a known capability and fits its schema. */
  problems(grants: Readonly<Record<string, unknown>>): readonly string[];
  /** What these grants allow, in sentences of the audit. */
  describe(grants: Readonly<Record<string, unknown>>): readonly string[];
  /** Does `after` allow anything that `before` did not? */
  widens(before: Readonly<Record<string, unknown>>, after: Readonly<Record<string, unknown>>): boolean;
  /** Takes a package under its grants; from then on it has a line in the audit. Grants are checked before, by `problems`. */
  admit(sketch: PackageWithGrants): Admitted;
  /** The whole account: who may do what, and who did. */
  account(): { readonly may: readonly AuditReportLine[]; readonly did: readonly LedgerEntry[] };
  /** Text without values of the environment. */
  redact(text: string): string;
}

/** For core plugins that run packages: `extensions` and the loaders of its kinds. */
export const broker = service<Subjects>('broker', { version: '1.0.0', coreOnly: true });
