import * as published from '@directus/sdk';
import { expect } from 'chai';
import type { InProcessService } from './service.ts';

// The client library's types describe system collections that differ from those of this service.
// biome-ignore lint/suspicious/noExplicitAny: see above
export type Untyped = any;

/** The published package @directus/sdk, unmodified and untyped. */
export const clientLibrary: Untyped = published;

/** Runs commands of the client library over REST, with the static token of the admin. */
export function createAdminClient(service: InProcessService): (command: Untyped) => Promise<Untyped> {
  const client = clientLibrary
    .createDirectus(service.url)
    .with(clientLibrary.staticToken(service.admin.token))
    .with(clientLibrary.rest());
  return (command) => client.request(command);
}

/** Asserts that `work` rejects with an error that the client library recognises, and returns its status, code and message. */
export async function expectClientError(
  work: Promise<unknown>,
): Promise<{ status: number; code: string; message: string }> {
  const error: Untyped = await work.then(
    () => expect.fail('it was expected to fail'),
    (reason: unknown) => reason,
  );
  expect(clientLibrary.isDirectusError(error), String(error)).to.equal(true);
  return { status: error.response.status, code: error.errors[0].extensions.code, message: error.errors[0].message };
}
