import { readFile } from 'node:fs/promises';
import { CastError, castSetting, fail } from '#kernel';
import { findNearestName } from '../workers/library.ts';
import { type BoundedCall, createBoundedCall } from './bounded-call.ts';
import type { ProviderKey, ProviderSettings } from './contract.ts';
import { createProviderBootFailure, type ProviderVariables } from './variables.ts';

type Keys = Readonly<Record<string, ProviderKey>>;

/** Settings with the call that is bounded for each client, which drivers do not have. */
export interface OpenProviderSettings extends ProviderSettings {
  readonly boundedCall: BoundedCall;
}

interface Deps {
  readonly keys: Keys;
  /** PUBLIC_URL without a slash at its end. */
  readonly publicUrl: string;
  readonly useOnce: (id: string, lifetime: number) => Promise<boolean>;
}

/**
 * Reads the settings of a provider. @throws BootFailure for keys that its driver does not have, missing ones, wrong values, and files
 * that cannot be read.
 */
export async function readProviderSettings(
  { name, prefix, texts }: ProviderVariables,
  { keys, publicUrl, useOnce }: Deps,
): Promise<OpenProviderSettings> {
  const variableOf = (key: string) => `${prefix}${key}`;
  assertKnownKeys(name, prefix, texts, keys);
  const values = new Map<string, unknown>();
  for (const [key, declared] of Object.entries(keys)) {
    const text = await readText(texts, key).catch((error) => {
      throw createProviderBootFailure(
        `${variableOf(key)} cannot be read from the file that ${variableOf(key)}_FILE names (${error.code})`,
        `correct or unset ${variableOf(key)}_FILE`,
      );
    });
    if (text === undefined && declared.required)
      throw createProviderBootFailure(`the sign-in provider ${name} has no ${key}`, `set ${variableOf(key)}`);
    if (!declared.secret) values.set(key, castText(variableOf(key), text, declared));
  }

  const call = createBoundedCall(name, values.get('TIMEOUT') as number);
  return {
    name,
    variableOf,
    call: (work) => call(work),
    boundedCall: call,
    value: <T>(key: string) => {
      if (!values.has(key)) throw new Error(`the driver of ${name} declares no key ${key} that is not secret`);
      return values.get(key) as T;
    },
    async secret(key) {
      if (!keys[key]?.secret) throw new Error(`the driver of ${name} declares no secret key ${key}`);
      try {
        return await readText(texts, key);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        throw fail('INVALID_CONFIG', `The file that ${variableOf(key)}_FILE names cannot be read (${code}).`);
      }
    },
    urlOf: (endpoint) => `${publicUrl}/auth/login/${encodeURIComponent(name)}/${endpoint}`,
    useOnce,
  };
}

function assertKnownKeys(name: string, prefix: string, texts: ProviderVariables['texts'], keys: Keys): void {
  const unknown = [...texts.keys()].filter((key) => !isKnown(key, keys));
  if (unknown.length === 0) return;
  const hints = unknown.map((key) => {
    const nearest = findNearestName(key, Object.keys(keys));
    return nearest ? `${prefix}${key} (did you mean ${prefix}${nearest}?)` : `${prefix}${key}`;
  });
  throw createProviderBootFailure(
    `the sign-in provider ${name} has settings that its driver does not know: ${hints.join(', ')}`,
    'correct or unset them',
  );
}

const isKnown = (key: string, keys: Keys): boolean =>
  Object.hasOwn(keys, key) || (key.endsWith('_FILE') && Object.hasOwn(keys, key.slice(0, -'_FILE'.length)));

async function readText(texts: ProviderVariables['texts'], key: string): Promise<string | undefined> {
  const path = texts.get(`${key}_FILE`);
  if (path === undefined) return texts.get(key)?.trim() || undefined;
  return (await readFile(path, 'utf8')).trim() || undefined;
}

function castText(variable: string, text: string | undefined, key: ProviderKey): unknown {
  if (text === undefined) return key.default;
  try {
    return castSetting(text, key);
  } catch (error) {
    if (!(error instanceof CastError)) throw error;
    throw createProviderBootFailure(`${variable} ${error.message}`, `correct or unset ${variable}`);
  }
}
