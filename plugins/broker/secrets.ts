import { randomBytes } from 'node:crypto';
import type { SecretReference, Secrets } from './contract.ts';

/** The secrets one run was given: it holds references, and only the host knows what they stand for. */
export class InvocationSecrets implements Secrets {
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
