import { type Caller, VERSION } from '#kernel';
import type { Query } from '../query/contract.ts';
import type { Settings, SettingsValues } from '../settings/contract.ts';

/** What anybody may know, before he has signed in as well. */
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
  readonly query: Pick<Query, 'ceilings'>;
  readonly settings: Settings;
}

/** As much as the caller's level may know (specification, "Server endpoints"). */
export async function describeInfo(
  { user, admin, share }: Caller,
  { query: { ceilings }, settings }: InfoDeps,
): Promise<Record<string, unknown>> {
  const values = await settings.current();
  return {
    project: Object.fromEntries(PUBLIC_SETTINGS.map((name) => [name, values[name]])),
    ...(user === null ? {} : { rateLimit: false, rateLimitGlobal: false, websocket: false }),
    ...(user === null && !share ? {} : { queryLimit: { default: ceilings.default, max: ceilings.max } }),
    ...(admin ? { service: { version: VERSION } } : {}),
  };
}
