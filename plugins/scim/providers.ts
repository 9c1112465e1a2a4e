import { createHash, timingSafeEqual } from 'node:crypto';
import { BootFailure, fail } from '#kernel';
import type { ConfiguredProvider, ProviderRoles, ProviderSettings } from '../auth-providers/contract.ts';
import { MIN_TOKEN_LENGTH } from './provider-keys.ts';

/** A provider that manages its users by SCIM. */
export interface ScimProvider {
  /** `platform_users.provider` of its users. */
  readonly name: string;
  readonly roles: ProviderRoles;
  readonly hasGroups: boolean;
  readonly linksLocalUsers: boolean;
  /** Whether it may change admins and give admin roles. */
  readonly allowsAdmin: boolean;
}

interface Entry {
  readonly provider: ScimProvider;
  readonly settings: ProviderSettings;
}

export interface ScimProviders {
  readonly all: readonly ScimProvider[];
  /** Finds the provider of a token. @throws INVALID_CREDENTIALS; INVALID_CONFIG where no token fits and the file of one cannot be read */
  ofToken(token: string | undefined): Promise<ScimProvider>;
}

const TOKEN_KEYS = ['SCIM_TOKEN', 'SCIM_TOKEN_PREVIOUS'] as const;
const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest();

/** @throws BootFailure for a token that is too short, or that two providers have. */
export async function openScimProviders(configured: readonly ConfiguredProvider[]): Promise<ScimProviders> {
  const entries: Entry[] = [];
  const seen = new Map<string, string>();
  for (const { settings, roles } of configured) {
    const tokens = await readTokens(settings);
    if (tokens.length === 0) continue;
    assertTokens(settings, tokens, seen);
    entries.push({
      settings,
      provider: {
        name: settings.name,
        roles,
        hasGroups: settings.value('SCIM_GROUPS'),
        linksLocalUsers: settings.value('SCIM_LINK_LOCAL_USERS'),
        allowsAdmin: settings.value('SCIM_ALLOW_ADMIN'),
      },
    });
  }
  return { all: entries.map(({ provider }) => provider), ofToken: (token) => findProvider(entries, token) };
}

/** Compares with all tokens, so that the time shows neither which provider nor how much of a token fits. */
async function findProvider(entries: readonly Entry[], token: string | undefined): Promise<ScimProvider> {
  if (token === undefined) throw fail('INVALID_CREDENTIALS', 'the request has no bearer token');
  const digest = digestOf(token);
  const read = await Promise.allSettled(entries.map(({ settings }) => readTokens(settings)));
  let found: ScimProvider | undefined;
  for (const [at, one] of read.entries()) {
    if (one.status === 'rejected') continue;
    for (const known of one.value)
      if (timingSafeEqual(digest, digestOf(known)) && known.length >= MIN_TOKEN_LENGTH) found = entries[at]?.provider;
  }
  if (found) return found;
  const unreadable = read.find((one) => one.status === 'rejected');
  throw unreadable?.reason ?? fail('INVALID_CREDENTIALS', 'no provider has this token');
}

/** The tokens of a provider at this moment: files are read anew. The previous one counts only beside a current one. */
async function readTokens(settings: ProviderSettings): Promise<readonly string[]> {
  const [current, previous] = await Promise.all(TOKEN_KEYS.map((key) => settings.secret(key)));
  return current === undefined ? [] : [current, ...(previous === undefined ? [] : [previous])];
}

function assertTokens(settings: ProviderSettings, tokens: readonly string[], seen: Map<string, string>): void {
  for (const [at, token] of tokens.entries()) {
    const variable = settings.variableOf(TOKEN_KEYS[at] as string);
    if (token.length < MIN_TOKEN_LENGTH)
      throw createFailure(
        `${variable} has ${token.length} characters, fewer than ${MIN_TOKEN_LENGTH}`,
        'set a random text, such as that of: openssl rand -hex 32',
      );
    const other = seen.get(token);
    if (other !== undefined)
      throw createFailure(`${variable} and ${other} are the same`, 'give each provider tokens of its own');
    seen.set(token, variable);
  }
}

const createFailure = (reason: string, remedy: string) => new BootFailure('@tenon/scim', 'start', reason, { remedy });
