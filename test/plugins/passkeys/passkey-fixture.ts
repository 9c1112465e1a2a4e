import { expect } from 'chai';
import type { HttpReply, RunningTestService, SendRequest } from '../../support/service.ts';
import {
  createSoftwareAuthenticator,
  type ResponseChanges,
  type SoftwareAuthenticator,
  type SoftwarePasskey,
} from '../../support/software-authenticator.ts';

export const ORIGIN = 'http://localhost:8055';
export const RP_ID = 'localhost';
/** Settings under which passkeys work: the services of tests have an address of numbers. */
export const PASSKEY_SETTINGS = { PASSKEYS_RP_ID: RP_ID, PASSKEYS_ORIGINS: ORIGIN } as const;

export const authenticator: SoftwareAuthenticator = createSoftwareAuthenticator(ORIGIN, RP_ID);

/** A user with the access token of a sign-in by password. */
export interface SignedInUser {
  readonly id: string;
  readonly email: string;
  readonly password: string;
  readonly token: string;
}

let count = 0;

/** Creates an active user and signs in by the password. */
export async function createSignedInUser(
  { request, admin }: Pick<RunningTestService, 'request' | 'admin'>,
  more: Readonly<Record<string, unknown>> = {},
): Promise<SignedInUser> {
  const email = `passkey-user-${++count}@example.com`;
  const password = `password ${count}`;
  const created = await request('POST', '/users', { token: admin.token, body: { email, password, ...more } });
  expect(created.status, JSON.stringify(created.body)).to.equal(200);
  const reply = await request('POST', '/auth/login', { body: { email, password } });
  expect(reply.status, JSON.stringify(reply.body)).to.equal(200);
  return { id: created.body.data.id, email, password, token: reply.body.data.access_token };
}

export async function beginRegistration(
  request: SendRequest,
  { token, password }: Pick<SignedInUser, 'token' | 'password'>,
) {
  const reply = await request('POST', '/users/me/passkeys/options', { token, body: { password } });
  expect(reply.status, JSON.stringify(reply.body)).to.equal(200);
  return reply.body.data;
}

/** Registers a passkey for a user, and answers it with its key in the database. */
export async function registerPasskey(
  request: SendRequest,
  user: SignedInUser,
  { name, ...changes }: ResponseChanges & { readonly name?: string } = {},
): Promise<SoftwarePasskey & { readonly key: string }> {
  const { passkey, credential } = authenticator.register(await beginRegistration(request, user), changes);
  const reply = await request('POST', '/users/me/passkeys', { token: user.token, body: { credential, name } });
  expect(reply.status, JSON.stringify(reply.body)).to.equal(200);
  return Object.assign(passkey, { key: reply.body.data.id as string });
}

export async function beginSignIn(request: SendRequest) {
  const reply = await request('POST', '/auth/login/passkey/options');
  expect(reply.status, JSON.stringify(reply.body)).to.equal(200);
  return reply.body.data;
}

/** Asks for a challenge and signs in by the passkey. */
export async function signInByPasskey(
  request: SendRequest,
  passkey: SoftwarePasskey,
  changes: ResponseChanges = {},
  more: Readonly<Record<string, unknown>> = {},
): Promise<HttpReply> {
  const credential = authenticator.signIn(await beginSignIn(request), passkey, changes);
  return request('POST', '/auth/login/passkey', { body: { credential, ...more } });
}
