import { expect } from 'chai';
import type { HttpReply, InProcessService, RequestOptions } from '../../support/service.ts';

/** Sends a request with the token of one user. */
export type SendAsUser = (method: string, path: string, body?: unknown, options?: RequestOptions) => Promise<HttpReply>;

export const createUserSender =
  (service: Pick<InProcessService, 'request'>, token: string | null): SendAsUser =>
  (method, path, body, options = {}) =>
    service.request(method, path, { token, body, ...options });

export interface TestUserAccount {
  readonly id: string;
  readonly role: string;
  readonly email: string;
  readonly password: string;
  readonly token: string;
  readonly ask: SendAsUser;
}

let count = 0;

export interface PermissionInput {
  readonly collection: string;
  readonly action: string;
  readonly fields?: unknown;
  readonly permissions?: unknown;
  readonly validation?: unknown;
  readonly presets?: unknown;
}

/** Creates a role with these permissions and returns its id. */
export async function makeRole(
  service: InProcessService,
  role: Record<string, unknown> = {},
  grants: readonly PermissionInput[] = [],
): Promise<string> {
  const admin = createUserSender(service, service.admin.token);
  const created = await admin('POST', '/roles', { name: `Role ${++count}`, app_access: false, ...role });
  expect(created.status, JSON.stringify(created.body)).to.equal(200);
  const id = created.body.data.id as string;
  for (const grant of grants) await createTestPermission(service, id, grant);
  return id;
}

export async function createTestPermission(
  service: InProcessService,
  role: string | null,
  grant: PermissionInput,
): Promise<number> {
  const admin = createUserSender(service, service.admin.token);
  const created = await admin('POST', '/permissions', { role, fields: ['*'], ...grant });
  expect(created.status, JSON.stringify(created.body)).to.equal(200);
  return created.body.data.id as number;
}

/** Creates a user of this role with a static token, so that the test needs no sign-in. */
export async function createTestUserAccount(
  service: InProcessService,
  role: string,
  more: Record<string, unknown> = {},
): Promise<TestUserAccount> {
  const admin = createUserSender(service, service.admin.token);
  const token = `static-token-of-person-${++count}`;
  const account = { email: `person${count}@example.com`, password: `password ${count}`, role, token, ...more };
  const created = await admin('POST', '/users', account);
  expect(created.status, JSON.stringify(created.body)).to.equal(200);
  const { id } = created.body.data as { id: string };
  return { id, role, email: account.email, password: account.password, token, ask: createUserSender(service, token) };
}

export const errorCodeOf = (reply: HttpReply): unknown => reply.body?.errors?.[0]?.extensions?.code;

/** Status and error code of a response as a pair, so that a failed assertion shows both. */
export const statusAndCodeOf = (reply: HttpReply): readonly unknown[] => [reply.status, errorCodeOf(reply)];
