import { randomBytes } from 'node:crypto';
import type { RunningTestService } from '../support/service.ts';

/** One permission of a role created for a test. */
export interface TestPermission {
  readonly collection: string;
  readonly action: 'create' | 'read' | 'update' | 'delete' | 'share';
  readonly fields?: readonly string[];
  readonly permissions?: object | null;
  readonly validation?: object | null;
  readonly presets?: object | null;
}

export interface TestUserWithToken {
  readonly id: string;
  readonly role: string;
  readonly token: string;
}

/** Creates a role with these permissions, and an active user of the role with a static token, by requests of the first admin. */
export async function createUserWithPermissions(
  service: RunningTestService,
  grants: readonly TestPermission[],
  role: object = {},
): Promise<TestUserWithToken> {
  const name = `role ${randomBytes(4).toString('hex')}`;
  const created = await requestAsAdmin(service, 'POST', '/roles', { name, app_access: false, ...role });
  for (const grant of grants) {
    await requestAsAdmin(service, 'POST', '/permissions', {
      fields: ['*'],
      permissions: null,
      ...grant,
      role: created.id,
    });
  }
  const token = randomBytes(16).toString('hex');
  const user = await requestAsAdmin(service, 'POST', '/users', {
    email: `${token}@example.com`,
    role: created.id,
    token,
  });
  return { id: user.id, role: created.id, token };
}

/** Sends a request as the first admin and answers `data`. Throws an error with the body for a status of 300 or more. */
export async function requestAsAdmin(service: RunningTestService, method: string, path: string, body?: unknown) {
  const reply = await service.request(method, path, { token: service.admin.token, body });
  if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
  return reply.body?.data;
}
