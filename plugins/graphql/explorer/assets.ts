import { extname } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { fail } from '#kernel';
import type { HttpContext, Route } from '../../http/contract.ts';
import { EXPLORER_FILE_ROUTE_DESCRIPTION } from '../http/route-descriptions.ts';
import type { ExplorerBundle } from './bundle.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.ttf': 'font/ttf',
};

/**
 * The route of the explorer page's files (scripts, styles, fonts). It serves files of the bundle in memory and never
 * reads a path.
 */
export const createExplorerFileRoute = (loadBundle: () => Promise<ExplorerBundle>): Route => ({
  method: 'GET',
  path: '/graphql/explorer/:file',
  description: EXPLORER_FILE_ROUTE_DESCRIPTION,
  async handle(ctx) {
    const name = ctx.params.file as string;
    const type = TYPES[extname(name)];
    const compressed = type === undefined ? undefined : (await loadBundle()).files.get(name);
    if (type === undefined || !compressed)
      throw fail('ROUTE_NOT_FOUND', `Route ${ctx.path} doesn't exist.`, { path: ctx.path });
    await send(ctx, type, compressed);
  },
});

async function send(ctx: HttpContext, type: string, compressed: Uint8Array): Promise<void> {
  const acceptsGzip = ctx.acceptsEncodings('gzip', 'identity') === 'gzip';
  ctx.status = 200;
  ctx.vary('Accept-Encoding');
  ctx.set('Cache-Control', 'public, max-age=31536000, immutable');
  ctx.set('Content-Type', type);
  if (acceptsGzip) ctx.set('Content-Encoding', 'gzip');
  ctx.body = acceptsGzip
    ? Buffer.from(compressed.buffer, compressed.byteOffset, compressed.byteLength)
    : await decompressExplorerFile(compressed);
}

const decompressedFiles = new WeakMap<Uint8Array, Promise<Buffer>>();

/**
 * Decompresses a file once for all clients without gzip: otherwise a client with a hundred unread requests would hold
 * it in memory a hundred times.
 */
export function decompressExplorerFile(compressed: Uint8Array): Promise<Buffer> {
  const decompressed = decompressedFiles.get(compressed) ?? promisify(gunzip)(compressed);
  decompressedFiles.set(compressed, decompressed);
  return decompressed;
}
