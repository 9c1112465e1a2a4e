import type { Difference, JsonObject, SchemaSnapshotDocument, SnapshotDiff } from '../contract.ts';
import { applyDifferences } from '../diff/deep-diff.ts';

/** Collections by which a permission to write leads to more permissions, or to code. */
const AUTHORITY = ['platform_users', 'platform_roles', 'platform_permissions', 'platform_flows', 'platform_operations'];

/** Sentences about changes of roles and permissions that give far-reaching rights. */
export function findAdminGrants(diff: SnapshotDiff, current: SchemaSnapshotDocument): readonly string[] {
  const after = (
    list: readonly JsonObject[] | undefined,
    isSame: (record: JsonObject) => boolean,
    differences: readonly Difference[],
  ) => applyDifferences(list?.find(isSame), differences) as JsonObject | undefined;
  const roles = (diff.roles ?? []).flatMap(({ id, diff: differences }) => {
    const before = current.roles?.find(({ key }) => key === id);
    const role = after(current.roles, ({ key }) => key === id, differences);
    return role?.admin_access === true && before?.admin_access !== true
      ? [`role "${id}" gets ADMIN ACCESS: its users may do everything`]
      : [];
  });
  const permissions = (diff.permissions ?? []).flatMap(({ id, diff: differences }) => {
    if (differences[0]?.kind === 'D' && differences[0].path === undefined) return [];
    const [role, collection = '', action = ''] = splitPermissionId(id);
    if (AUTHORITY.includes(collection) && ['create', 'update', 'delete'].includes(action))
      return [`role "${role}" may ${action} in ${collection}`];
    return role === 'public' ? [`PUBLIC, anyone without a sign-in, may ${action} in ${collection}`] : [];
  });
  return [...roles, ...permissions];
}

/** Neither an action nor a name of a collection has a slash; the key of a role may. */
function splitPermissionId(id: string): readonly [string, string, string] {
  const steps = id.split('/');
  return [steps.slice(0, -2).join('/'), steps.at(-2) ?? '', steps.at(-1) ?? ''];
}
