import type { Caller } from '#kernel';
import type { Route } from '../http/contract.ts';
import { TEXT_SCHEMA } from '../http/library.ts';

/** `GET /server/specs/types`: one file of TypeScript with what the caller may read. */
export const typesRoute = (typesOf: (caller: Caller) => Promise<string>): Route => ({
  method: 'GET',
  path: '/server/specs/types',
  description: {
    summary: 'Sends the types of the collections that the caller may read, as a file of TypeScript.',
    tag: 'server',
    access: 'public',
    answers: { 200: { 'text/plain': TEXT_SCHEMA } },
  },
  async handle(ctx) {
    const text = await typesOf(ctx.state.caller);
    ctx.vary('Authorization');
    ctx.status = 200;
    ctx.attachment('schema.ts');
    ctx.type = 'text/plain; charset=utf-8';
    ctx.body = text;
  },
});
