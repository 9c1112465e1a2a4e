import { BootFailure } from '#kernel';

/** The settings that say where passkeys are used. */
export interface RelyingPartySettings {
  readonly PORT: number;
  readonly PUBLIC_URL: string;
  readonly PASSKEYS_RP_ID: string | undefined;
  readonly PASSKEYS_ORIGINS: readonly string[];
}

/** The service as authenticators know it. Never taken from a request: the header `Host` is the client's. */
export interface RelyingParty {
  /** The domain that passkeys are made for. */
  readonly id: string;
  /** The origins of pages that may use them. */
  readonly origins: readonly string[];
}

/** A domain name; its last label is no number, so that it is no IPv4 address, for which browsers make no passkeys. */
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*(?!\d+$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;
/** Apps for Android have an origin of this form. */
const ANDROID_ORIGIN = /^android:apk-key-hash:[\w-]+$/;

/**
 * The relying party of the settings, or the problem because of which passkeys cannot work.
 * @throws BootFailure where PASSKEYS_RP_ID or PASSKEYS_ORIGINS is set, and passkeys cannot work so.
 */
export function parseRelyingParty(settings: RelyingPartySettings): {
  readonly party?: RelyingParty;
  readonly problem?: string;
} {
  const { PORT, PUBLIC_URL, PASSKEYS_RP_ID, PASSKEYS_ORIGINS } = settings;
  const url = URL.parse(PUBLIC_URL);
  // Without an absolute PUBLIC_URL the service is one that a developer tries out on the own machine.
  const page = url && /^https?:$/.test(url.protocol) ? url : new URL(`http://localhost:${PORT}`);
  const party: RelyingParty = {
    id: PASSKEYS_RP_ID || page.hostname,
    origins: PASSKEYS_ORIGINS.length > 0 ? PASSKEYS_ORIGINS : [page.origin],
  };
  const problem = findProblem(party);
  if (problem === undefined) return { party };
  if (PASSKEYS_RP_ID || PASSKEYS_ORIGINS.length > 0)
    throw new BootFailure('@tenon/passkeys', 'config', problem, {
      remedy: 'correct PASSKEYS_RP_ID and PASSKEYS_ORIGINS, or set PASSKEYS_ENABLED=false',
    });
  return { problem };
}

function findProblem({ id, origins }: RelyingParty): string | undefined {
  if (!DOMAIN.test(id)) return `browsers make no passkeys for "${id}", which is no domain name`;
  return origins.map((origin) => findOriginProblem(origin, id)).find((problem) => problem !== undefined);
}

function findOriginProblem(origin: string, id: string): string | undefined {
  if (ANDROID_ORIGIN.test(origin)) return undefined;
  const url = URL.parse(origin);
  if (url?.origin !== origin) return `"${origin}" is no origin, such as https://cms.example.com`;
  const { hostname, protocol } = url;
  if (hostname !== id && !hostname.endsWith(`.${id}`)) return `pages of ${origin} get no passkeys of ${id}`;
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  if (protocol === 'https:' || (protocol === 'http:' && isLocal)) return undefined;
  return `browsers use passkeys on pages of https and of localhost only, and ${origin} is neither`;
}
