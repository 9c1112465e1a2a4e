import { randomUUID } from 'node:crypto';
import type { Server } from '@tus/server';
import { type Caller, fail } from '#kernel';
import type { HttpContext, Route } from '../http/contract.ts';
import type { Schema } from '../schema/contract.ts';
import { APPEND, CREATE, OFFSET, OPTIONS, OPTIONS_OF_ONE, TERMINATE } from './descriptions.ts';
import { exchange } from './exchange.ts';
import { unknownUpload, wrongVersion } from './failures.ts';
import { type FinishDeps, finish } from './finish.ts';
import { type About, aboutOf } from './metadata.ts';
import { type StoreDeps, storeFor } from './store.ts';
import { isWhole, type Upload } from './uploads.ts';

export interface RoutesDeps extends StoreDeps, FinishDeps {
  readonly schema: Pick<Schema, 'overview'>;
  /** Bytes; undefined: any number. */
  readonly maxSize: number | undefined;
  /** What clients have before the path, `/api` for example; empty where there is nothing. */
  readonly base: string;
}

const PATH = '/files/tus';
const VERSION = '1.0.0';
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const CORS: Route['cors'] = {
  allowed: [
    'Content-Type',
    'Tus-Resumable',
    'Upload-Defer-Length',
    'Upload-Length',
    'Upload-Metadata',
    'Upload-Offset',
    'X-Request-ID',
    'X-Requested-With',
  ],
  exposed: [
    'Location',
    'Tus-Extension',
    'Tus-Max-Size',
    'Tus-Resumable',
    'Tus-Version',
    'Upload-Defer-Length',
    'Upload-Expires',
    'Upload-Length',
    'Upload-Metadata',
    'Upload-Offset',
  ],
};

/** `/files/tus` and `/files/tus/:id`: version 1.0.0 of the protocol, spoken by the library. */
export function tusRoutes(deps: RoutesDeps): readonly Route[] {
  const one = `${PATH}/:id`;
  const unread = { body: 'unread', cors: CORS } as const;
  return [
    { method: 'POST', path: PATH, ...unread, description: CREATE, handle: (ctx) => create(deps, ctx) },
    { method: 'HEAD', path: one, ...unread, description: OFFSET, handle: (ctx) => tell(deps, ctx) },
    { method: 'PATCH', path: one, ...unread, description: APPEND, handle: (ctx) => change(deps, ctx) },
    { method: 'DELETE', path: one, ...unread, description: TERMINATE, handle: (ctx) => change(deps, ctx) },
    {
      method: '*',
      path: PATH,
      cors: CORS,
      description: OPTIONS,
      handle: (ctx) => others(deps, ctx, ['POST', 'OPTIONS']),
    },
    {
      method: '*',
      path: one,
      cors: CORS,
      description: OPTIONS_OF_ONE,
      handle: (ctx) => others(deps, ctx, ['HEAD', 'PATCH', 'DELETE', 'OPTIONS']),
    },
  ];
}

async function create(deps: RoutesDeps, ctx: HttpContext): Promise<void> {
  checkVersion(ctx);
  await speak(deps, ctx, randomUUID());
}

async function change(deps: RoutesDeps, ctx: HttpContext): Promise<void> {
  checkVersion(ctx);
  const upload = await reachable(deps, ctx);
  // What was allowed when it began need not be any more: nothing is kept that no file can be made of.
  if (ctx.method === 'PATCH' && !upload.completed) {
    // Where its pieces are is known to be a location: one that is none now is not the client's mistake.
    deps.storage.at(upload.storage);
    const { incoming, replaces } = await (await library(deps)).aboutOf(upload.metadata);
    await deps.files.check(ctx.state.caller, incoming, replaces ?? undefined);
  }
  await speak(deps, ctx, upload.id);
}

async function tell(deps: RoutesDeps, ctx: HttpContext): Promise<void> {
  checkVersion(ctx);
  const upload = await reachable(deps, ctx);
  // All bytes came, but no file: a crash, or a failure that was not for ever. A client that hears of the last byte never
  // comes again, so it hears of it when the file is there.
  if (isWhole(upload) && !upload.completed && upload.expires.getTime() > Date.now()) {
    await finish(deps, ctx.state.caller, upload.id, (await library(deps)).aboutOf);
  }
  await speak(deps, ctx, upload.id);
}

async function others(deps: RoutesDeps, ctx: HttpContext, allow: readonly string[]): Promise<void> {
  if (ctx.method !== 'OPTIONS') throw fail('METHOD_NOT_ALLOWED', `${ctx.method} is not allowed here.`, { allow });
  await speak(deps, ctx, undefined);
}

/** Every answer but that of OPTIONS names the version, refusals included. */
function checkVersion(ctx: HttpContext): void {
  ctx.set('Tus-Resumable', VERSION);
  if (ctx.get('Tus-Resumable') === VERSION) return;
  ctx.set('Tus-Version', VERSION);
  throw wrongVersion();
}

/** The upload of the path, for whoever began it and for admins; for all others it is not there. */
async function reachable({ uploads }: RoutesDeps, ctx: HttpContext): Promise<Upload> {
  const id = ctx.params.id as string;
  const upload = UUID.test(id) ? await uploads.find(id) : undefined;
  if (!upload) throw unknownUpload(`there is no upload ${id}`);
  if (!mayUse(ctx.state.caller, upload)) throw unknownUpload(`the upload ${id} is somebody else's`);
  return upload;
}

/** Whoever is not signed in is known by nothing but the address of the upload. */
const mayUse = (caller: Caller, { user }: Upload): boolean => caller.admin || user === null || user === caller.user;

/** Loaded with the first request. */
async function library({ schema }: RoutesDeps) {
  const tus = await import('@tus/server');
  return {
    tus,
    aboutOf: (metadata: string): Promise<About> => aboutOf(schema, metadata === '' ? {} : tus.Metadata.parse(metadata)),
  };
}

async function speak(deps: RoutesDeps, ctx: HttpContext, id: string | undefined): Promise<void> {
  const loaded = await library(deps);
  const { caller } = ctx.state;
  const metadata = ctx.get('Upload-Metadata');
  const server: Server = new loaded.tus.Server({
    path: PATH,
    datastore: storeFor(loaded.tus, deps, { caller, metadata, aboutOf: loaded.aboutOf }),
    locker: deps.locker,
    ...(deps.maxSize === undefined ? {} : { maxSize: deps.maxSize }),
    // Milliseconds in which a request that was asked to give way may still come to its own end.
    lockDrainTimeout: 1000,
    namingFunction: () => id as string,
    getFileIdFromRequest: () => id,
    generateUrl: () => `${deps.base}${PATH}/${id}`,
    async onUploadCreate(_request, { size }) {
      const { incoming, replaces } = await loaded.aboutOf(metadata);
      await deps.files.check(caller, { ...incoming, ...(size === undefined ? {} : { size }) }, replaces ?? undefined);
      return {};
    },
    async onUploadFinish(_request, upload) {
      await finish(deps, caller, upload.id, loaded.aboutOf);
      return {};
    },
  });
  await exchange(ctx, server, deps.maxSize);
  // The library counts from what it saw at first.
  if (ctx.response.get('Upload-Expires') === '') return;
  const after = await deps.uploads.find(id as string);
  if (after) ctx.set('Upload-Expires', after.expires.toUTCString());
}
