import type { ProviderFinding } from '../contract.ts';
import type { OpenProvider } from '../providers.ts';
import { reasonOf } from '../unavailable.ts';

const OWN_MACHINE: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** The address that the provider sends browsers back to: what it is, and whether the service answers there. */
export async function checkAddress({ settings, declaration }: OpenProvider): Promise<readonly ProviderFinding[]> {
  // A driver whose plugin serves the callback looks at it itself.
  if (declaration.kind !== 'redirect' || declaration.ownCallback) return [];
  const callback = settings.urlOf('callback');
  return [describeAddress(callback), await requestCallback(settings, callback)];
}

function describeAddress(callback: string): ProviderFinding {
  const { protocol, hostname } = new URL(callback);
  const finding = { check: 'callback', text: `${callback} is the address to register at the provider` };
  if (protocol === 'https:' || OWN_MACHINE.includes(hostname)) return { ...finding, status: 'ok' };
  return {
    ...finding,
    status: 'warn',
    remedy: 'set PUBLIC_URL to an address of https: codes and cookies are readable',
  };
}

/** Without the cookie of a sign-in the service refuses the callback with INVALID_TOKEN: no other program does. */
async function requestCallback({ call }: OpenProvider['settings'], callback: string): Promise<ProviderFinding> {
  const check = 'callback answers';
  try {
    const answer = await call((one) => one.fetch(callback));
    const text = await answer.text();
    if (answer.status === 403 && text.includes('INVALID_TOKEN'))
      return { check, status: 'ok', text: 'the service answers there' };
    const remedy = 'have the proxy of PUBLIC_URL pass /auth on to the service, or correct PUBLIC_URL';
    return { check, status: 'warn', text: `something else answers there, with status ${answer.status}`, remedy };
  } catch (error) {
    const remedy = 'start the service; where it runs, correct PUBLIC_URL, or look at it from where browsers are';
    return { check, status: 'warn', text: `nothing answers there (${reasonOf(error)})`, remedy };
  }
}
