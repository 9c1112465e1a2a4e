import { type Caller, fail } from '#kernel';
import type { HistoryRecorder } from '../activity/contract.ts';
import type { HttpContext, Route } from '../http/contract.ts';
import { bodyOf, hasBodyMatchingRouteSchema, sendData } from '../http/library.ts';
import { adminsOnly } from './admins-only.ts';
import type { DisabledPackages } from './contract.ts';
import { type ExtensionRow, toExtensionInfoRecord } from './records/info-record.ts';
import { EXTENSION_DELETE_ROUTE_DESCRIPTION, EXTENSION_UPDATE_ROUTE_DESCRIPTION } from './route-descriptions.ts';

export interface DecisionRouteDeps {
  /** Extensions and third-party plugins. */
  readonly rows: () => readonly ExtensionRow[];
  /** Loads what changed, here and in the other processes; `names` in any case. */
  reload(caller: Caller, names: readonly string[]): Promise<void>;
  /** Stores whether a package is required; null leaves it to its manifest. */
  setRequired(found: ExtensionRow['extension'], required: boolean | null): Promise<void> | undefined;
  /** Undefined where nothing keeps which extensions are switched off. */
  readonly disabled: () => DisabledPackages | undefined;
  readonly activity: Pick<HistoryRecorder, 'record'>;
}

interface Decision {
  readonly required?: boolean | null;
  readonly meta?: { readonly enabled: boolean };
}

/** The `collection` of activity entries about extensions; it is not a table. */
export const ACTIVITY_COLLECTION = 'platform_extensions';

/** `PATCH` and `DELETE /extensions/<id>`: what admins decide about packages. */
export function decisionRoutes(deps: DecisionRouteDeps): readonly Route[] {
  const { rows, activity } = deps;
  const findRow = (ctx: HttpContext) => rows().find(({ extension }) => extension.id === ctx.params.id);
  const requireRow = (ctx: HttpContext) => {
    const row = findRow(ctx);
    if (!row) throw fail('FORBIDDEN', 'there is no extension with this id');
    return row;
  };
  const record = ({ state: { caller } }: HttpContext, { extension }: ExtensionRow, action: string, comment?: string) =>
    activity.record(caller, {
      action,
      collection: ACTIVITY_COLLECTION,
      item: extension.name.slice(0, 255),
      ...(comment === undefined ? {} : { comment }),
    });

  async function setEnabled({ state: { caller } }: HttpContext, { extension }: ExtensionRow, isEnabled: boolean) {
    const disabled = deps.disabled();
    if (!disabled || extension.type === 'plugin')
      throw fail('INVALID_PAYLOAD', 'Only extensions can be switched off.', { path: ['meta', 'enabled'] });
    await disabled.set(extension.name, !isEnabled);
    await deps.reload(caller, [extension.name]);
  }

  return [
    {
      method: 'PATCH',
      path: '/extensions/:id',
      description: EXTENSION_UPDATE_ROUTE_DESCRIPTION,
      handle: adminsOnly(async (ctx) => {
        const { required, meta } = await parseDecision(bodyOf(ctx));
        const row = requireRow(ctx);
        if (required !== undefined) {
          await deps.setRequired(row.extension, required);
          await record(ctx, row, 'update', `required: ${required}`);
        }
        if (meta) {
          await setEnabled(ctx, row, meta.enabled);
          await record(ctx, row, 'update', `enabled: ${meta.enabled}`);
        }
        const now = findRow(ctx);
        sendData(ctx, now ? toExtensionInfoRecord(now) : null);
      }),
    },
    {
      method: 'DELETE',
      path: '/extensions/:id',
      description: EXTENSION_DELETE_ROUTE_DESCRIPTION,
      handle: adminsOnly(async (ctx) => {
        const row = requireRow(ctx);
        await deps.setRequired(row.extension, null);
        if (row.isDisabled) await setEnabled(ctx, row, true);
        await record(ctx, row, 'delete');
        sendData(ctx, undefined);
      }),
    },
  ];
}

/** @throws INVALID_PAYLOAD */
async function parseDecision(body: unknown): Promise<Decision> {
  if (await hasBodyMatchingRouteSchema(EXTENSION_UPDATE_ROUTE_DESCRIPTION, body)) return body as Decision;
  throw fail(
    'INVALID_PAYLOAD',
    'The body has "meta": { "enabled": true or false }, or "required": true, false or null.',
  );
}
