import { X509Certificate } from 'node:crypto';
import type { ProviderCall, ProviderFinding, ProviderSettings } from '../auth-providers/contract.ts';
import { attemptCheck, describeExpiry } from '../auth-providers/library.ts';
import type { IdentityProvider } from './idp-metadata.ts';
import type { ServiceProvider } from './service-provider.ts';

interface Parts {
  readonly settings: ProviderSettings;
  readonly sp: ServiceProvider;
  readonly currentIdp: (call: ProviderCall) => Promise<IdentityProvider>;
  /** An address of the identity provider with a request, as browsers open it. */
  readonly beginSignIn: (call: ProviderCall) => Promise<URL>;
}

/** Looks at both sides: the metadata and certificates of the identity provider, those of this service, and the page of the sign-in. */
export async function* checkSamlProvider(parts: Parts, call: ProviderCall): AsyncIterable<ProviderFinding> {
  const { settings, sp, currentIdp } = parts;
  const [file, url] = [settings.variableOf('IDP_metadata_FILE'), settings.variableOf('IDP_METADATA_URL')];
  const remedy = `fetch the metadata of the identity provider anew, and check ${url} or ${file}`;
  const metadata = await attemptCheck('metadata', remedy, () => currentIdp(call));
  if (metadata.value) {
    const { entityId, signInUrl, validUntil } = metadata.value;
    yield {
      check: 'metadata',
      status: 'ok',
      text: `of the identity provider ${entityId}, with the sign-in at ${signInUrl}`,
    };
    if (validUntil !== undefined) yield describeExpiry('metadata', 'the text', { until: new Date(validUntil), remedy });
    for (const one of metadata.value.certificates) yield describeCertificate(one, remedy);
    yield describeLogout(metadata.value);
  } else yield metadata.failure as ProviderFinding;
  yield await checkKeyPair(parts);
  yield* describeAddresses(settings, sp);
  yield await checkOwnMetadata(sp, settings.urlOf('metadata'), call);
  if (metadata.value) yield await checkSignInPage(parts, call);
}

/** The key counts and not its dates, but a provider whose certificate is expired is about to sign with another one. */
function describeCertificate(base64: string, remedy: string): ProviderFinding {
  const { validTo, subject } = new X509Certificate(Buffer.from(base64, 'base64'));
  const name = subject.split('\n').at(-1) ?? '';
  return describeExpiry('certificate', `that of the identity provider (${name})`, {
    until: new Date(validTo),
    remedy,
    whenOver: 'warn',
  });
}

const describeLogout = ({ logoutUrl }: IdentityProvider): ProviderFinding => ({
  check: 'single logout',
  status: 'ok',
  text: logoutUrl ? `at ${logoutUrl}` : 'the identity provider has none',
});

async function checkKeyPair({ settings, sp }: Parts): Promise<ProviderFinding> {
  const [key, certificate] = [settings.variableOf('SP_PRIVATE_KEY'), settings.variableOf('SP_CERTIFICATE')];
  const attempt = await attemptCheck('own key', `correct ${key} and ${certificate}`, () => sp.keyPair());
  if (attempt.failure) return attempt.failure;
  if (!attempt.value)
    return { check: 'own key', status: 'ok', text: `none: requests are not signed, since ${key} is not set` };
  const { validTo } = new X509Certificate(attempt.value.certificate);
  const remedy = `make a new certificate for ${certificate}, and have the identity provider read the metadata anew`;
  return describeExpiry('own certificate', `that of ${certificate}`, {
    until: new Date(validTo),
    remedy,
    whenOver: 'warn',
  });
}

function* describeAddresses({ value, variableOf }: ProviderSettings, sp: ServiceProvider): Iterable<ProviderFinding> {
  yield { check: 'callback', status: 'ok', text: `${sp.acsUrl} takes responses; this service is ${sp.entityId}` };
  const isSecure = value<boolean | undefined>('COOKIE_SECURE') ?? sp.acsUrl.startsWith('https:');
  if (isSecure) return;
  const text =
    'the identity provider posts from another site, and browsers send only cookies that are Secure with that';
  yield {
    check: 'cookie',
    status: 'warn',
    text,
    remedy: `set PUBLIC_URL to an address of https, or ${variableOf('COOKIE_SECURE')}`,
  };
}

async function checkOwnMetadata(sp: ServiceProvider, address: string, call: ProviderCall): Promise<ProviderFinding> {
  const check = 'own metadata';
  const attempt = await attemptCheck(check, 'start the service, or correct PUBLIC_URL', async () => {
    const answer = await call.fetch(address);
    const text = await answer.text();
    if (answer.status !== 200 || !text.includes('EntityDescriptor'))
      throw new Error(`something else answers at ${address}, with status ${answer.status}`);
    return text.includes(sp.entityId);
  });
  // The service need not run while its providers are checked.
  if (attempt.failure) return { ...attempt.failure, status: 'warn' };
  if (attempt.value) return { check, status: 'ok', text: `served at ${address}` };
  const text = `those at ${address} name another entityID than ${sp.entityId}`;
  return { check, status: 'fail', text, remedy: 'restart the service with these settings' };
}

/** Most identity providers show an error page where they do not know this service. */
async function checkSignInPage({ sp, beginSignIn }: Parts, call: ProviderCall): Promise<ProviderFinding> {
  const check = 'sign-in page';
  const remedy = `have the identity provider read the metadata of this service, whose entityID is ${sp.entityId}`;
  const attempt = await attemptCheck(check, 'see whether the address can be reached from this machine', async () => {
    const location = await beginSignIn(call);
    const answer = await call.fetch(location);
    return { address: `${location.origin}${location.pathname}`, status: answer.status, page: await answer.text() };
  });
  if (!attempt.value) return attempt.failure as ProviderFinding;
  const { address, status, page } = attempt.value;
  if (status >= 400)
    return { check, status: 'fail', text: `${address} answers ${status} to a request of this service`, remedy };
  // Some show errors with the status 200.
  if (!page.includes(sp.entityId) || /type=["']?password/i.test(page))
    return { check, status: 'ok', text: `${address} takes a request of this service` };
  const text = `${address} answers a page that names this service and asks for no password: it may be an error`;
  return { check, status: 'warn', text, remedy: `sign in by a browser; ${remedy}` };
}
