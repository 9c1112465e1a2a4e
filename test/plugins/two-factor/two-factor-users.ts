import { expect } from 'chai';
import { Secret, TOTP } from 'otpauth';
import type { FreshDatabase } from '../../support/database.ts';
import type { HttpReply, InProcessService, RunningTestService } from '../../support/service.ts';
import {
  createTestUserAccount,
  createUserSender,
  makeRole,
  type SendAsUser,
  type TestUserAccount,
} from '../users/test-users.ts';

const PERIOD = 30;

/**
 * The code of a secret, `ahead` time steps from now. A code of the current step or a later one is still accepted where the step ends
 * before the service compares it.
 */
export const codeOf = (secret: string, ahead = 0): string =>
  TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: Date.now() + ahead * PERIOD * 1000 });

/** A code that no step around now has. */
export const wrongCodeOf = (secret: string): string => {
  const near = new Set([-2, -1, 0, 1, 2, 3].map((ahead) => codeOf(secret, ahead)));
  for (let number = 0; ; number++) {
    const code = String(number).padStart(6, '0');
    if (!near.has(code)) return code;
  }
};

/** Makes all codes of now usable again, so that a test need not wait for the next time step. */
export const forgetUsedSteps = (database: FreshDatabase) =>
  database.query('update platform_second_factors set last_step = 0');

/** A user who may manage the own second factor, signed in with a password. */
export interface TwoFactorUser extends TestUserAccount {
  /** Sends a request with an access token. */
  readonly send: SendAsUser;
  login(more?: Record<string, unknown>, service?: RunningTestService): Promise<HttpReply>;
}

/** A role whose users may enroll because it has `enforce_tfa`. */
export const makeEnforcingRole = (service: InProcessService): Promise<string> =>
  makeRole(service, { app_access: true, enforce_tfa: true });

export async function createTwoFactorUser(
  service: InProcessService,
  role: string,
  more: Record<string, unknown> = {},
): Promise<TwoFactorUser> {
  const account = await createTestUserAccount(service, role, more);
  const { email, password } = account;
  const login: TwoFactorUser['login'] = (extra = {}, at = service) =>
    at.request('POST', '/auth/login', { body: { email, password, ...extra } });
  const { body } = await login();
  return { ...account, login, send: createUserSender(service, body.data.access_token) };
}

/** Turns the second factor of a user on, and answers the secret. The codes of now stay usable. */
export async function enroll(service: InProcessService, { password, send }: TwoFactorUser): Promise<string> {
  const { secret } = (await send('POST', '/users/me/tfa/generate', { password })).body.data as { secret: string };
  const reply = await send('POST', '/users/me/tfa/enable', { secret, otp: codeOf(secret) });
  expect(reply.status, JSON.stringify(reply.body)).to.equal(204);
  await forgetUsedSteps(service.database);
  return secret;
}
