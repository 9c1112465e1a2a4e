import { type ErrorCode, fail } from '#kernel';
import type { ProviderCall, ProviderSettings } from '../auth-providers/contract.ts';
import { type IdentityProvider, parseIdentityProvider } from './idp-metadata.ts';

/** Milliseconds after which metadata of an address are fetched again, and for which the last ones serve where that fails. */
const RENEWED_AFTER = 10 * 60_000;
const KEPT_FOR = 24 * 60 * 60_000;

/** The identity provider of one sign-in provider. */
export interface IdentityProviderSource {
  /** @throws SERVICE_UNAVAILABLE where it answers no metadata that can be used, INVALID_CONFIG where those of the settings cannot */
  current(call: ProviderCall): Promise<IdentityProvider>;
}

/**
 * Opens the source that the settings name: the text or file IDP_metadata, or the address IDP_METADATA_URL.
 * @throws Error with the variable to correct
 */
export async function openIdentityProviderSource(provider: ProviderSettings): Promise<IdentityProviderSource> {
  const [text, url] = [await provider.secret('IDP_metadata'), provider.value('IDP_METADATA_URL')];
  const names = [provider.variableOf('IDP_metadata'), provider.variableOf('IDP_METADATA_URL')];
  if ((text === undefined) === (url === undefined)) throw new Error(`set either ${names.join(' or ')}`);
  if (url !== undefined) return createFetchedSource(provider, parseMetadataUrl(names[1] as string, url));
  const source = createTextSource(provider);
  await source.current();
  return source;
}

function createTextSource(provider: ProviderSettings) {
  const variable = provider.variableOf('IDP_metadata');
  let known: { readonly text: string; readonly parsed: IdentityProvider } | undefined;
  return {
    async current(): Promise<IdentityProvider> {
      const text = await provider.secret('IDP_metadata');
      if (text === undefined) throw fail('INVALID_CONFIG', `${variable} is empty.`);
      if (known?.text !== text) known = { text, parsed: parse('INVALID_CONFIG', variable, text) };
      return assertValid('INVALID_CONFIG', variable, known.parsed);
    },
  };
}

/** Metadata say whose signatures count, so no machine on the way may change them. */
function parseMetadataUrl(variable: string, text: string): URL {
  const url = URL.parse(text);
  const isOwnMachine = url !== null && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isOwnMachine)) return url;
  throw new Error(`${variable} is no address that begins with https://`);
}

function createFetchedSource(provider: ProviderSettings, url: URL): IdentityProviderSource {
  const variable = provider.variableOf('IDP_METADATA_URL');
  // What the provider answers is no mistake in the settings.
  const CODE = 'SERVICE_UNAVAILABLE';
  let known: { readonly parsed: IdentityProvider; readonly at: number } | undefined;
  let pending: Promise<IdentityProvider> | undefined;

  async function fetchMetadata(call: ProviderCall): Promise<IdentityProvider> {
    const response = await call.fetch(url, { headers: { Accept: 'application/samlmetadata+xml, application/xml' } });
    if (response.status !== 200)
      throw fail(
        'SERVICE_UNAVAILABLE',
        `The metadata of the sign-in provider ${provider.name} answer ${response.status}.`,
      );
    const parsed = assertValid(CODE, variable, parse(CODE, variable, await response.text()));
    known = { parsed, at: performance.now() };
    return parsed;
  }

  return {
    async current(call) {
      const age = known ? performance.now() - known.at : Number.POSITIVE_INFINITY;
      if (known && age < RENEWED_AFTER) return assertValid(CODE, variable, known.parsed);
      pending ??= fetchMetadata(call).finally(() => (pending = undefined));
      try {
        return await pending;
      } catch (error) {
        if (known && age < KEPT_FOR) return assertValid(CODE, variable, known.parsed);
        throw error;
      }
    },
  };
}

function parse(code: ErrorCode, variable: string, text: string): IdentityProvider {
  try {
    return parseIdentityProvider(text);
  } catch (error) {
    throw fail(code, `The metadata of ${variable} cannot be used: ${(error as Error).message}.`);
  }
}

function assertValid(code: ErrorCode, variable: string, idp: IdentityProvider): IdentityProvider {
  if (idp.validUntil !== undefined && !(idp.validUntil > Date.now()))
    throw fail(code, `The metadata of ${variable} are expired.`);
  return idp;
}
