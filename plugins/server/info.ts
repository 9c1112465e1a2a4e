import { type Caller, VERSION } from '#kernel';
import type { Query } from '../query/contract.ts';

/** What a service without settings says of itself. */
const PROJECT = {
  project_name: 'Tenon',
  project_descriptor: null,
  project_logo: null,
  project_color: null,
  default_language: 'en-US',
  public_foreground: null,
  public_background: null,
  public_note: null,
  custom_css: null,
} as const;

/** As much as the caller's level may know (specification, "Server endpoints"). */
export function infoFor(
  { user, admin, share }: Caller,
  { ceilings }: Pick<Query, 'ceilings'>,
): Record<string, unknown> {
  return {
    project: PROJECT,
    ...(user === null ? {} : { rateLimit: false, rateLimitGlobal: false, websocket: false }),
    ...(user === null && !share ? {} : { queryLimit: { default: ceilings.default, max: ceilings.max } }),
    ...(admin ? { service: { version: VERSION } } : {}),
  };
}
