import { createHmac } from 'node:crypto';
import type { SharedSetting } from './contract.ts';

/** The settings of a process by name, as stored: the own value first, then further ones that it accepts. Secrets are digests. */
export type DescribedSettings = Readonly<Record<string, readonly string[]>>;

export const describeSettings = (settings: readonly SharedSetting[]): DescribedSettings =>
  Object.fromEntries(
    settings.map(({ name, values, secret }) => [
      name,
      secret ? values().map((value) => digestSecret(name, value)) : values(),
    ]),
  );

/**
 * A digest that shows whether two secrets are equal and nothing else. Keyed by the secret itself, it is as hard to reverse as a
 * signature that the secret made.
 */
const digestSecret = (name: string, value: string): string =>
  createHmac('sha256', value).update(`setting ${name}`).digest('base64url').slice(0, 22);
