import { randomUUID } from 'node:crypto';
import type { Server } from '@tus/server';
import { type Caller, fail } from '#kernel';
import { isUuid } from '../database/library.ts';
import type { HttpContext, Route } from '../http/contract.ts';
import type { SchemaService } from '../schema/contract.ts';
import { createTusDataStore, type TusDataStoreDeps } from './data-store.ts';
import { createTusVersionFailure, createUnknownUploadFailure } from './failures.ts';
import { type FinishUploadDeps, finishUpload } from './finish.ts';
import { parseUploadMetadata, type UploadDescription } from './metadata.ts';
import {
  TUS_APPEND_DESCRIPTION,
  TUS_CREATE_DESCRIPTION,
  TUS_OFFSET_DESCRIPTION,
  TUS_OPTIONS_DESCRIPTION,
  TUS_OPTIONS_WITH_ID_DESCRIPTION,
  TUS_TERMINATE_DESCRIPTION,
} from './route-descriptions.ts';
import { forwardToTusServer } from './tus-server-adapter.ts';
import { hasReceivedAllBytes, type ResumableUpload } from './upload-repository.ts';

export interface TusRoutesDeps extends TusDataStoreDeps, FinishUploadDeps {
  readonly schema: Pick<SchemaService, 'snapshot'>;
  /** Bytes of the largest upload; undefined is no limit. */
  readonly maxSize: number | undefined;
  /** Path of PUBLIC_URL, such as `/api`; empty without one. */
  readonly base: string;
}

const PATH = '/files/tus';
const VERSION = '1.0.0';

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

/** The routes `/files/tus` and `/files/tus/:id`: version 1.0.0 of the tus protocol, implemented by the library `@tus/server`. */
export function tusRoutes(deps: TusRoutesDeps): readonly Route[] {
  const one = `${PATH}/:id`;
  const unread = { body: 'unread', cors: CORS } as const;
  return [
    {
      method: 'POST',
      path: PATH,
      ...unread,
      description: TUS_CREATE_DESCRIPTION,
      handle: (ctx) => createUpload(deps, ctx),
    },
    {
      method: 'HEAD',
      path: one,
      ...unread,
      description: TUS_OFFSET_DESCRIPTION,
      handle: (ctx) => sendOffset(deps, ctx),
    },
    {
      method: 'PATCH',
      path: one,
      ...unread,
      description: TUS_APPEND_DESCRIPTION,
      handle: (ctx) => changeUpload(deps, ctx),
    },
    {
      method: 'DELETE',
      path: one,
      ...unread,
      description: TUS_TERMINATE_DESCRIPTION,
      handle: (ctx) => changeUpload(deps, ctx),
    },
    {
      method: '*',
      path: PATH,
      cors: CORS,
      description: TUS_OPTIONS_DESCRIPTION,
      handle: (ctx) => handleOtherMethods(deps, ctx, ['POST', 'OPTIONS']),
    },
    {
      method: '*',
      path: one,
      cors: CORS,
      description: TUS_OPTIONS_WITH_ID_DESCRIPTION,
      handle: (ctx) => handleOtherMethods(deps, ctx, ['HEAD', 'PATCH', 'DELETE', 'OPTIONS']),
    },
  ];
}

async function createUpload(deps: TusRoutesDeps, ctx: HttpContext): Promise<void> {
  assertVersion(ctx);
  await handleTusRequest(deps, ctx, randomUUID());
}

async function changeUpload(deps: TusRoutesDeps, ctx: HttpContext): Promise<void> {
  assertVersion(ctx);
  const upload = await findUpload(deps, ctx);
  // Permissions may have changed since the upload began: no bytes are stored that cannot become a file.
  if (ctx.method === 'PATCH' && !upload.completed) {
    // Throws if the location of the pieces is not configured, which is not a mistake of the client.
    deps.storage.at(upload.storage);
    const { incoming, replaces } = await (await loadLibrary(deps)).aboutOf(upload.metadata);
    await deps.files.check(ctx.state.caller, incoming, replaces ?? undefined);
  }
  await handleTusRequest(deps, ctx, upload.id);
}

async function sendOffset(deps: TusRoutesDeps, ctx: HttpContext): Promise<void> {
  assertVersion(ctx);
  const upload = await findUpload(deps, ctx);
  // After a crash or a temporary failure all bytes may have arrived without a file. A client that reads the last offset never
  // returns, so the file is created before the offset is sent.
  if (hasReceivedAllBytes(upload) && !upload.completed && upload.expires.getTime() > Date.now()) {
    await finishUpload(deps, ctx.state.caller, upload.id, (await loadLibrary(deps)).aboutOf);
  }
  await handleTusRequest(deps, ctx, upload.id);
}

async function handleOtherMethods(deps: TusRoutesDeps, ctx: HttpContext, allow: readonly string[]): Promise<void> {
  if (ctx.method !== 'OPTIONS') throw fail('METHOD_NOT_ALLOWED', `${ctx.method} is not allowed here.`, { allow });
  await handleTusRequest(deps, ctx, undefined);
}

/** Asserts the protocol version of the request. Every response except that of OPTIONS names the version, errors included. */
function assertVersion(ctx: HttpContext): void {
  ctx.set('Tus-Resumable', VERSION);
  if (ctx.get('Tus-Resumable') === VERSION) return;
  ctx.set('Tus-Version', VERSION);
  throw createTusVersionFailure();
}

/** The upload of the path, if the caller began it or is an admin. @throws FORBIDDEN for every other caller. */
async function findUpload({ uploads }: TusRoutesDeps, ctx: HttpContext): Promise<ResumableUpload> {
  const id = ctx.params.id as string;
  // Ids are locked by their text, so one upload has one text.
  const upload = isUuid(id) && id === id.toLowerCase() ? await uploads.find(id) : undefined;
  if (!upload) throw createUnknownUploadFailure(`there is no upload ${id}`);
  if (!mayUse(ctx.state.caller, upload)) throw createUnknownUploadFailure(`the upload ${id} belongs to another user`);
  return upload;
}

/** An upload begun without signing in is accessible to every caller that knows its URL. */
const mayUse = (caller: Caller, { user }: ResumableUpload): boolean =>
  caller.admin || user === null || user === caller.user;

/** Loads the tus library with the first request. */
async function loadLibrary({ schema }: TusRoutesDeps) {
  const tus = await import('@tus/server');
  return {
    tus,
    aboutOf: (metadata: string): Promise<UploadDescription> =>
      parseUploadMetadata(schema, metadata === '' ? {} : tus.Metadata.parse(metadata)),
  };
}

async function handleTusRequest(deps: TusRoutesDeps, ctx: HttpContext, id: string | undefined): Promise<void> {
  const loaded = await loadLibrary(deps);
  const { caller } = ctx.state;
  const metadata = ctx.get('Upload-Metadata');
  const server: Server = new loaded.tus.Server({
    path: PATH,
    datastore: createTusDataStore(loaded.tus, deps, { caller, metadata, describeUpload: loaded.aboutOf }),
    locker: deps.locker,
    ...(deps.maxSize === undefined ? {} : { maxSize: deps.maxSize }),
    // Milliseconds in which a request that gives way may still finish.
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
      await finishUpload(deps, caller, upload.id, loaded.aboutOf);
      return {};
    },
  });
  await forwardToTusServer(ctx, server, deps.maxSize);
  // The library computes the header Upload-Expires from the state before this request, so it is set again.
  if (ctx.response.get('Upload-Expires') === '') return;
  const after = await deps.uploads.find(id as string);
  if (after) ctx.set('Upload-Expires', after.expires.toUTCString());
}
