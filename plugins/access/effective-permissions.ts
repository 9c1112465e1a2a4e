import type { Collection, SchemaOverview } from '../schema/contract.ts';
import type {
  CollectionActionAccess,
  CollectionPermissions,
  FieldsAndPresets,
  Permission,
  PermissionAction,
  PermissionSet,
} from './contract.ts';

/** The actions that the effective permissions of a collection list. `comment` is not among them. */
const ACTIONS = ['create', 'read', 'update', 'delete', 'share'] as const;
/** Actions whose permissions have field lists. */
const FIELD_ACTIONS: readonly PermissionAction[] = ['create', 'read', 'update'];

const EVERYTHING: CollectionActionAccess = { access: 'full', fields: ['*'] };
const ALL_ACTIONS_FULL = Object.fromEntries(
  ACTIONS.map((action) => [action, EVERYTHING]),
) as unknown as CollectionPermissions;

/** The access by collection, without collections that the permissions give no access to. */
export function effectivePermissions(
  set: PermissionSet,
  { collections }: SchemaOverview,
): Readonly<Record<string, CollectionPermissions>> {
  if (set.admin) return Object.fromEntries([...collections.keys()].map((name) => [name, ALL_ACTIONS_FULL]));
  return Object.fromEntries(
    [...collections.values()].flatMap((collection) => {
      const actions = ACTIONS.map((action) => [action, effectiveAction(collection, action, set)] as const);
      return actions.every(([, { access }]) => access === 'none')
        ? []
        : [[collection.name, Object.fromEntries(actions)]];
    }),
  ) as Readonly<Record<string, CollectionPermissions>>;
}

function effectiveAction(collection: Collection, action: PermissionAction, set: PermissionSet): CollectionActionAccess {
  const rows = set.of(collection.name, action);
  if (rows.length === 0) return { access: 'none' };
  // The row rule of `create` is not used, since there is no row yet.
  const isFull = action === 'create' || rows.some(({ rule }) => rule === null || Object.keys(rule).length === 0);
  const access = isFull ? 'full' : 'partial';
  return FIELD_ACTIONS.includes(action) ? { access, ...mergePermissionFields(collection, rows) } : { access };
}

/**
 * Joins the field lists and the presets of several permissions; when two have a preset for one field, the first permission wins.
 */
export function mergePermissionFields({ fields }: Collection, permissions: readonly Permission[]): FieldsAndPresets {
  const listed = [...new Set(permissions.flatMap((one) => one.fields))];
  // `*` is all fields but the sensitive ones, so listed sensitive fields stay beside it.
  const isBeside = (name: string) => name !== '*' && fields.get(name)?.sensitive === true;
  const names = listed.includes('*') ? ['*', ...listed.filter(isBeside)] : listed;
  const presets = Object.assign({}, ...permissions.map((one) => one.presets ?? {}).reverse()) as Record<
    string,
    unknown
  >;
  return { fields: names, ...(Object.keys(presets).length > 0 ? { presets } : {}) };
}
