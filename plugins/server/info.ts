import { type Caller, VERSION } from '#kernel';
import type { QueryEngine } from '../query/contract.ts';
import type { RateLimits } from '../rate-limit/contract.ts';
import type { SettingsService, SettingsValues } from '../settings/contract.ts';
import type { WebsocketInfo } from './contract.ts';

/** Settings that every caller may read, also without signing in. */
const PUBLIC_SETTINGS = [
  'project_name',
  'project_descriptor',
  'project_logo',
  'project_color',
  'default_language',
  'public_foreground',
  'public_background',
  'public_favicon',
  'public_note',
  'custom_css',
] as const satisfies readonly (keyof SettingsValues)[];

export interface InfoDeps {
  readonly query: Pick<QueryEngine, 'ceilings'>;
  readonly rateLimits: RateLimits;
  readonly settings: SettingsService;
  readonly websocket: () => WebsocketInfo | false;
}

/** The answer of `GET /server/info`, as far as the caller may see it (specification, "Server endpoints"). */
export async function buildServerInfo(
  { user, admin, share }: Caller,
  { query: { ceilings }, rateLimits, settings, websocket }: InfoDeps,
): Promise<Record<string, unknown>> {
  const values = await settings.current();
  return {
    project: Object.fromEntries(PUBLIC_SETTINGS.map((name) => [name, values[name]])),
    ...(user === null
      ? {}
      : { rateLimit: rateLimits.address, rateLimitGlobal: rateLimits.global, websocket: websocket() }),
    ...(user === null && !share ? {} : { queryLimit: { default: ceilings.default, max: ceilings.max } }),
    ...(admin ? { service: { version: VERSION } } : {}),
  };
}
