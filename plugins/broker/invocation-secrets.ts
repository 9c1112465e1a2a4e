import { randomBytes } from 'node:crypto';
import type { InvocationSecretReferences, SecretReference } from './contract.ts';

/** The secrets of one invocation: confined code holds references, and only the host knows the values. */
export class InvocationSecrets implements InvocationSecretReferences {
  readonly #values = new Map<string, string>();
  readonly #refs = new Map<string, string>();

  /**
   * Creates a reference to a secret value. The same value has the same reference, so that repeated calls do not slow down
   * `scrub`.
   */
  conceal(value: string): SecretReference {
    const ref = this.#refs.get(value) ?? randomBytes(18).toString('base64url');
    this.#values.set(ref, value);
    this.#refs.set(value, ref);
    return { kind: 'secret-reference', ref };
  }

  /** The value behind a reference; undefined for a value that is no reference of this invocation. */
  reveal(reference: unknown): string | undefined {
    if (!isReference(reference)) return undefined;
    return this.#values.get(reference.ref);
  }

  /** Whether the text contains a reference of this invocation. */
  mentionedIn(text: string): boolean {
    return [...this.#values.keys()].some((ref) => text.includes(ref));
  }

  /** The text with all secrets of this invocation, and their references, replaced by `--redact--`. */
  scrub(text: string): string {
    let clean = text;
    for (const [ref, value] of this.#values) {
      if (value !== '') clean = clean.replaceAll(value, '--redact--');
      clean = clean.replaceAll(ref, '--redact--');
    }
    return clean;
  }

  /** The JSON value, scrubbed in texts, numbers and member names; the same object where there is no secret in it. */
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
