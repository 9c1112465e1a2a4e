import { randomBytes } from 'node:crypto';
import type { SchemaObject } from 'ajv';
import type { Caller } from '../context.ts';

/** What confined code is told when a call of its host fails (conventions, "Host API"). */
export type RefusalCode =
  | 'denied'
  | 'not_found'
  | 'invalid_request'
  | 'unsupported'
  | 'timeout'
  | 'rate_limited'
  | 'internal';

/** A call of confined code that is not carried out. Its message is shown to that code. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly details: unknown;

  constructor(code: RefusalCode, message: string, details?: unknown) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
    this.details = details;
  }
}

export interface SecretReference {
  readonly kind: 'secret-reference';
  readonly ref: string;
}

/** One run of confined code: everything it asks of the host happens on its account and ends with it. */
export interface Invocation {
  /** Of this run alone. */
  readonly id: string;
  /** On whose behalf it runs; null where nobody stands behind it, as with a schedule. */
  readonly caller: Caller | null;
  /** Aborts when the run is over, however it ended. */
  readonly signal: AbortSignal;
  readonly secrets: Secrets;
}

/** The secrets one run was given: it holds references, and only the host knows what they stand for. */
export class Secrets {
  readonly #values = new Map<string, string>();
  readonly #refs = new Map<string, string>();

  /** The same value has the same reference, so that asking often does not make work for all that is scrubbed. */
  conceal(value: string): SecretReference {
    const ref = this.#refs.get(value) ?? randomBytes(18).toString('base64url');
    this.#values.set(ref, value);
    this.#refs.set(value, ref);
    return { kind: 'secret-reference', ref };
  }

  /** Undefined for whatever is not a reference that this run was given. */
  reveal(reference: unknown): string | undefined {
    if (!isReference(reference)) return undefined;
    return this.#values.get(reference.ref);
  }

  /** Is one of the references given out anywhere in this text? */
  mentionedIn(text: string): boolean {
    return [...this.#values.keys()].some((ref) => text.includes(ref));
  }

  /** The text without the secrets of this run and without their references. */
  scrub(text: string): string {
    let clean = text;
    for (const [ref, value] of this.#values) {
      if (value !== '') clean = clean.replaceAll(value, '--redact--');
      clean = clean.replaceAll(ref, '--redact--');
    }
    return clean;
  }

  /** A JSON value without them, in texts, numbers and names of members; itself where there are none in it. */
  scrubValue(value: unknown): unknown {
    if (this.#values.size === 0) return value;
    const text = JSON.stringify(value) ?? '';
    const isIn = (one: string) => one !== '' && text.includes(JSON.stringify(one).slice(1, -1));
    return [...this.#values].some(([ref, secret]) => isIn(ref) || isIn(secret)) ? this.#scrubbed(value) : value;
  }

  #scrubbed(value: unknown): unknown {
    if (typeof value === 'string') return this.scrub(value);
    if (typeof value === 'number') {
      const text = String(value);
      const clean = this.scrub(text);
      return clean === text ? value : clean;
    }
    if (Array.isArray(value)) return value.map((one) => this.#scrubbed(one));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [this.scrub(name), this.#scrubbed(inner)]));
  }
}

const isReference = (value: unknown): value is SecretReference =>
  typeof value === 'object' &&
  value !== null &&
  (value as SecretReference).kind === 'secret-reference' &&
  typeof (value as SecretReference).ref === 'string';

// biome-ignore lint/suspicious/noExplicitAny: the list was checked against the schema before
type Args = any[];

/** A method of a capability that confined code may call: `host.<capability>.<method>(...args)`. */
export interface RemoteMethod<Api> {
  /** JSON schema of the list of arguments. */
  readonly args: SchemaObject;
  /** What the call was aimed at, for the ledger: an origin, a collection; never a value. */
  target?(...args: Args): string;
  /** Bytes of the longest answer, as JSON. */
  readonly maxReply?: number;
  /** A Refusal reaches the caller as it is; a Failure by its code; anything else as `internal`. */
  call(api: Api, invocation: Invocation, ...args: Args): unknown;
}
