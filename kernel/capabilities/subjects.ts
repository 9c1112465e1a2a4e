import type { Caller } from '../context.ts';
import { type ErrorCode, Failure, Failures, fail } from '../errors.ts';
import { problems } from '../manifest/validate.ts';
import type { AuditLine } from './audit.ts';
import type { AnyCapability, Capability, Subject } from './capability.ts';
import { held } from './grant.ts';
import type { Ledger, LedgerEntry } from './ledger.ts';
import { type Invocation, Refusal, type RefusalCode } from './remote.ts';

/** A package that another plugin runs: who it is and what it was granted. */
export interface SubjectSketch {
  readonly name: string;
  readonly version: string;
  readonly runtime: 'confined' | 'full';
  /** Grants by capability. */
  readonly grants: Readonly<Record<string, unknown>>;
  /** More sentences for the audit, before those of the grants. */
  readonly sentences?: readonly string[];
}

/** A package while it is held to its grants. */
export interface Admitted {
  readonly subject: Subject;
  /** The object a capability binds for this package: the same a plugin would hold. CAPABILITY_DENIED where not granted. */
  get<Api>(capability: string): Api;
  /** Carries out `<capability>.<method>` for confined code, or refuses. Every call and every denial is in the ledger. */
  call(method: string, args: unknown, invocation: Invocation): Promise<unknown>;
  /** The longest answer of a method in bytes, where it has a limit of its own. */
  maxReply(method: string): number | undefined;
  /** A denial found elsewhere. */
  denied(what: string): void;
  /** All settings and the rest of the environment, as values: for packages with full authority, and nobody else. */
  environment(): Readonly<Record<string, unknown>>;
  /** Takes its listeners and its line in the audit away. */
  remove(): void;
}

/** For the plugin that runs packages of others: it hands out nothing that their grants do not hold. */
export interface Subjects {
  /** What is wrong with these grants; empty when each is a known capability and fits its schema. */
  problems(grants: Readonly<Record<string, unknown>>): readonly string[];
  describe(grants: Readonly<Record<string, unknown>>): readonly string[];
  /** Does `after` allow anything that `before` did not? */
  widens(before: Readonly<Record<string, unknown>>, after: Readonly<Record<string, unknown>>): boolean;
  admit(sketch: SubjectSketch): Admitted;
  /** The whole account: who may do what, and who did. */
  account(): { readonly may: readonly AuditLine[]; readonly did: readonly LedgerEntry[] };
  /** Text without values of the environment. */
  redact(text: string): string;
}

interface Parts {
  readonly capabilities: () => ReadonlyMap<string, AnyCapability>;
  readonly ledger: Ledger;
  readonly asSystem: (who: string, reason: string) => Caller;
  readonly removeOwner: (owner: string) => void;
  readonly account: Subjects['account'];
  readonly redact: (text: string) => string;
  readonly environment: () => Readonly<Record<string, unknown>>;
}

export class SubjectStore {
  readonly #admitted = new Set<{ readonly sketch: SubjectSketch }>();
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Lines for the audit: what each package adds and may do. */
  lines(): readonly AuditLine[] {
    return [...this.#admitted].map(({ sketch }) => ({
      name: sketch.name,
      version: sketch.version,
      runtime: sketch.runtime,
      sentences: [...(sketch.sentences ?? []), ...this.#describe(sketch.grants)],
    }));
  }

  #describe(grants: SubjectSketch['grants']): readonly string[] {
    const known = this.#parts.capabilities();
    return [...held(grants)]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([name, grant]) => known.get(name)?.describe(grant) ?? [`asks for the unknown ${name}`]);
  }

  #admit(sketch: SubjectSketch): Admitted {
    const { capabilities, ledger, asSystem, removeOwner } = this.#parts;
    const { name, version, runtime } = sketch;
    const grants = new Map(held(sketch.grants));
    const entry = { sketch };
    this.#admitted.add(entry);
    const who = `${name}@${version}`;
    const subject: Subject = { name, version, runtime, asSystem: (reason) => asSystem(who, reason) };
    const bound = new Map<string, unknown>();
    const get = (capability: string): unknown => {
      const definition = capabilities().get(capability);
      if (!definition || !grants.has(capability)) {
        ledger.record('denied', name, `${capability}: not granted`);
        throw fail('CAPABILITY_DENIED', `${name} may not use ${capability}: its manifest does not grant it`);
      }
      if (!bound.has(capability)) bound.set(capability, definition.bind(grants.get(capability), subject));
      return bound.get(capability);
    };
    const methodOf = (text: string) => {
      const [capability = '', method = ''] = text.split('.', 2);
      const remote = capabilities().get(capability)?.remote;
      return remote && Object.hasOwn(remote, method) ? { capability, method: remote[method] } : undefined;
    };
    return {
      subject,
      get: get as Admitted['get'],
      maxReply: (method) => methodOf(method)?.method?.maxReply,
      denied: (what) => ledger.record('denied', name, what),
      async call(text, args, invocation) {
        const found = methodOf(text);
        if (!found?.method) throw new Refusal('unsupported', 'The host has no such method.');
        const { capability, method } = found;
        if (!grants.has(capability)) {
          ledger.record('denied', name, `${text}: not granted`);
          throw new Refusal('denied', `The capability "${capability}" is not granted.`);
        }
        const wrong = problems(method.args, args);
        if (wrong.length > 0) throw new Refusal('invalid_request', `The arguments do not fit: ${wrong[0]}.`);
        const list = args as unknown[];
        const target = method.target?.(...list);
        const what = target === undefined ? text : `${text} ${target.slice(0, 200)}`;
        try {
          const value = await method.call(get(capability), invocation, ...list);
          ledger.record('remote', name, what);
          return value;
        } catch (error) {
          const refusal = asRefusal(error);
          ledger.record(refusal.code === 'denied' ? 'denied' : 'remote', name, what);
          throw refusal;
        }
      },
      environment: () => {
        if (runtime === 'full') return this.#parts.environment();
        ledger.record('denied', name, 'environment');
        throw fail('CAPABILITY_DENIED', `${name} may not read the environment`);
      },
      remove: () => {
        this.#admitted.delete(entry);
        // Names are not unique: what is another's of this name stays until that one goes.
        if (![...this.#admitted].some(({ sketch }) => sketch.name === name)) removeOwner(name);
      },
    };
  }

  /** The capability `subjects`: only for a plugin that runs packages of others. */
  capability(): Capability<true, Subjects> {
    const { capabilities, account, redact } = this.#parts;
    return {
      name: 'subjects',
      member: 'subjects',
      schema: { const: true },
      bind: () => ({
        problems: (grants) =>
          Object.entries(grants).flatMap(([name, grant]) => {
            const definition = capabilities().get(name);
            return definition
              ? problems(definition.schema, grant, `/capabilities/${name}`)
              : [`/capabilities/${name} is not a known capability`];
          }),
        describe: (grants) => this.#describe(grants),
        widens: (before, after) =>
          held(after).some(([name, grant]) => {
            const had = before[name] === false ? undefined : before[name];
            return capabilities().get(name)?.widens(had, grant) ?? true;
          }),
        admit: (sketch) => this.#admit(sketch),
        account,
        redact,
      }),
      describe: () => ['runs packages of others, and holds them to what they were granted'],
      widens: (before) => before === undefined,
    };
  }
}

const CODES: Partial<Record<ErrorCode, RefusalCode>> = {
  FORBIDDEN: 'denied',
  CAPABILITY_DENIED: 'denied',
  INVALID_PAYLOAD: 'invalid_request',
  INVALID_QUERY: 'invalid_request',
  FAILED_VALIDATION: 'invalid_request',
};

/** Nothing of an unexpected error crosses: neither its text nor its name. */
function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const failure = error instanceof Failures ? error.failures[0] : error;
  const code = (failure instanceof Failure ? CODES[failure.code] : undefined) ?? 'internal';
  // For the log of whoever asked on that code's behalf.
  if (code === 'internal') return Object.assign(new Refusal('internal', 'The call failed.'), { cause: error });
  return new Refusal(code, code === 'denied' ? 'Not allowed.' : (failure as Failure).message);
}
