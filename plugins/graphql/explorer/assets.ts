import { extname } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { fail } from '#kernel';
import type { HttpContext, Route } from '../../http/contract.ts';
import type { Bundle } from './bundle.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.ttf': 'font/ttf',
};

/** The page's files. A name is looked up among those that were made; there is no path behind it. */
export const assetRoute = (bundleOf: () => Promise<Bundle>): Route => ({
  method: 'GET',
  path: '/graphql/explorer/:file',
  async handle(ctx) {
    const name = ctx.params.file as string;
    const type = TYPES[extname(name)];
    const compressed = type === undefined ? undefined : (await bundleOf()).files.get(name);
    if (type === undefined || !compressed)
      throw fail('ROUTE_NOT_FOUND', `Route ${ctx.path} doesn't exist.`, { path: ctx.path });
    await send(ctx, type, compressed);
  },
});

async function send(ctx: HttpContext, type: string, compressed: Uint8Array): Promise<void> {
  const isTaken = ctx.acceptsEncodings('gzip', 'identity') === 'gzip';
  ctx.status = 200;
  ctx.vary('Accept-Encoding');
  ctx.set('Cache-Control', 'public, max-age=31536000, immutable');
  ctx.set('Content-Type', type);
  if (isTaken) ctx.set('Content-Encoding', 'gzip');
  ctx.body = isTaken
    ? Buffer.from(compressed.buffer, compressed.byteOffset, compressed.byteLength)
    : await promisify(gunzip)(compressed);
}
