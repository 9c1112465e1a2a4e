import { type EventsApi, fail } from '#kernel';
import { PERMISSION_ACTIONS, PUBLIC_ROLE_ID } from '../../access/contract.ts';
import { type Payload, setsField, type UserRoleWriteCheckDeps } from './rule-deps.ts';

const PERMISSIONS = 'platform_permissions';
const OBJECTS = ['permissions', 'validation', 'presets'];

/** Registers filters that validate permissions on every write path: an invalid permission must not look like one that allows. */
export function registerPermissionWriteChecks(deps: UserRoleWriteCheckDeps, events: EventsApi): void {
  for (const verb of ['create', 'update'] as const) {
    events.onFilter(`permissions.${verb}`, async (payload, { caller }) => {
      await deps.access.assertAllowed(caller, verb, PERMISSIONS);
      return validatePermissionPayload(payload as Payload);
    });
  }
}

const invalidPermission = (field: string, expected: string) =>
  fail('INVALID_PAYLOAD', `${field} must be ${expected}.`, { field, path: [field] });

export function validatePermissionPayload(payload: Payload): Payload {
  if (setsField(payload, 'action') && !PERMISSION_ACTIONS.some((one) => one === payload.action)) {
    throw invalidPermission('action', `one of ${PERMISSION_ACTIONS.join(', ')}`);
  }
  for (const field of OBJECTS) {
    const value = payload[field];
    if (value !== undefined && value !== null && (typeof value !== 'object' || Array.isArray(value))) {
      throw invalidPermission(field, 'an object or null');
    }
  }
  assertFieldList(payload.fields);
  // A write with `role: null` means the Public role, whose permissions are stored with its key.
  return Object.hasOwn(payload, 'role') && payload.role === null ? { ...payload, role: PUBLIC_ROLE_ID } : payload;
}

function assertFieldList(fields: unknown): void {
  if (fields === undefined || fields === null || typeof fields === 'string') return;
  const fits =
    Array.isArray(fields) && fields.every((name) => typeof name === 'string' && name !== '' && !name.includes(','));
  if (!fits) throw invalidPermission('fields', 'a list of field names or null');
}
