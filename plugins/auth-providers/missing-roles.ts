import type { Caller, Log } from '#kernel';
import type { ItemsEngine } from '../items/contract.ts';
import type { OpenProvider } from './providers.ts';

interface Deps {
  readonly items: Pick<ItemsEngine, 'rows'>;
  readonly log: Log;
  readonly systemCaller: () => Caller;
}

/** Logs the roles of settings that do not exist: sign-ins that are to have them would fail with INVALID_FOREIGN_KEY. */
export async function warnOfMissingRoles(providers: readonly OpenProvider[], { items, log, systemCaller }: Deps) {
  const ids = new Set(providers.flatMap(({ roles }) => [roles.byDefault ?? [], ...rolesOf(roles.mapping)].flat()));
  if (ids.size === 0) return;
  const query = { fields: ['id'], filter: { id: { _in: [...ids] } } };
  const found = new Set(
    (await items.rows<{ id: string }>(systemCaller(), 'platform_roles', query)).map(({ id }) => id),
  );
  for (const { settings, roles } of providers) {
    const missing = [roles.byDefault ?? [], ...rolesOf(roles.mapping)].flat().filter((id) => !found.has(id));
    if (missing.length > 0)
      log.warn(
        { provider: settings.name, roles: missing },
        'the settings of a sign-in provider name roles that do not exist',
      );
  }
}

const rolesOf = (mapping: OpenProvider['rules']['roles']['mapping']): readonly string[] =>
  (mapping ?? []).map(([, role]) => role);
