import * as published from '@directus/sdk';
import { expect } from 'chai';
import type { InProcessService } from './service.ts';

// The types of the client library describe the collections of another product.
// biome-ignore lint/suspicious/noExplicitAny: see above
export type Untyped = any;

/** A published client library, unmodified and untyped. */
export const sdk: Untyped = published;

/** Runs commands of the client library over REST, with the static token of the admin. */
export function adminRequest(service: InProcessService): (command: Untyped) => Promise<Untyped> {
  const client = sdk.createDirectus(service.url).with(sdk.staticToken(service.admin.token)).with(sdk.rest());
  return (command) => client.request(command);
}

/** Expects an error that the client library recognises. */
export async function expectClientError(
  work: Promise<unknown>,
): Promise<{ status: number; code: string; message: string }> {
  const error: Untyped = await work.then(
    () => expect.fail('it was expected to fail'),
    (reason: unknown) => reason,
  );
  expect(sdk.isDirectusError(error), String(error)).to.equal(true);
  return { status: error.response.status, code: error.errors[0].extensions.code, message: error.errors[0].message };
}
