import type { ProviderCall, ProviderSettings } from '../auth-providers/contract.ts';
import { createProviderDocument, createProviderFailure } from '../auth-providers/library.ts';
import { type IdentityProvider, parseIdentityProvider } from './idp-metadata.ts';

/** Milliseconds after which metadata of an address are fetched again. */
const RENEWED_AFTER = 10 * 60_000;
/** Bytes of the longest accepted metadata. Those of federations have certificates and texts in many languages. */
const MAX_BYTES = 1024 * 1024;

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

type Code = Parameters<typeof createProviderFailure>[0];

/** Clients read only that the provider cannot be used; the reason is for the log. */
const createFailure = (code: Code, { name }: ProviderSettings, reason: string) =>
  createProviderFailure(code, `The sign-in provider ${name} cannot be used.`, reason);

function createTextSource(provider: ProviderSettings) {
  const variable = provider.variableOf('IDP_metadata');
  let known: { readonly text: string; readonly parsed: IdentityProvider } | undefined;
  return {
    async current(): Promise<IdentityProvider> {
      const text = await provider.secret('IDP_metadata');
      if (text === undefined) throw createFailure('INVALID_CONFIG', provider, `${variable} is empty`);
      if (known?.text !== text) known = { text, parsed: parse('INVALID_CONFIG', provider, variable, text) };
      return assertValid('INVALID_CONFIG', provider, variable, known.parsed);
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
  const metadata = createProviderDocument(provider, {
    renewedAfter: RENEWED_AFTER,
    load: async (call) => {
      const headers = { Accept: 'application/samlmetadata+xml, application/xml' };
      const response = await call.fetch(url, { headers, maxBytes: MAX_BYTES });
      if (response.status !== 200) throw createFailure(CODE, provider, `${url.href} answers ${response.status}`);
      const text = await response.text();
      return assertValid(CODE, provider, variable, parse(CODE, provider, variable, text));
    },
  });

  return {
    current: async (call) => assertValid(CODE, provider, variable, await metadata.current(call)),
  };
}

function parse(code: Code, provider: ProviderSettings, variable: string, text: string): IdentityProvider {
  try {
    return parseIdentityProvider(text);
  } catch (error) {
    throw createFailure(code, provider, `the metadata of ${variable} cannot be used: ${(error as Error).message}`);
  }
}

function assertValid(
  code: Code,
  provider: ProviderSettings,
  variable: string,
  idp: IdentityProvider,
): IdentityProvider {
  if (idp.validUntil !== undefined && !(idp.validUntil > Date.now()))
    throw createFailure(code, provider, `the metadata of ${variable} are expired`);
  return idp;
}
