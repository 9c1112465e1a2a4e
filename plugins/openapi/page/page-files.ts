import { createHash } from 'node:crypto';
import { access, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { fail } from '#kernel';
import type { Route } from '../../http/contract.ts';
import { PAGE_FILE_DESCRIPTION } from '../route-descriptions.ts';

const { resolve } = createRequire(import.meta.url);

/** The files that the page loads: those of Swagger UI, and the page's own. */
const SOURCES = {
  viewerScript: { base: 'viewer', extension: 'js', path: () => findViewerFile('swagger-ui-bundle.js') },
  viewerStyle: { base: 'viewer', extension: 'css', path: () => findViewerFile('swagger-ui.css') },
  documentPart: {
    base: 'document-part',
    extension: 'js',
    path: () => new URL('./browser/document-part.js', import.meta.url),
  },
  script: { base: 'page', extension: 'js', path: () => new URL('./browser/page.js', import.meta.url) },
  style: { base: 'page', extension: 'css', path: () => new URL('./browser/page.css', import.meta.url) },
} as const;

/** The installed package has a copy of the two files instead of Swagger UI, which is ten times as large. */
async function findViewerFile(name: string): Promise<URL | string> {
  const copy = new URL(`./viewer/${name}`, import.meta.url);
  return access(copy).then(
    () => copy,
    () => resolve(`swagger-ui-dist/${name}`),
  );
}

type PageFileKey = keyof typeof SOURCES;

/** Names of the files, which have a hash of their content. */
export type PageFileNames = Readonly<Record<PageFileKey, string>>;

export interface PageFiles {
  readonly names: PageFileNames;
  /** Contents by name, compressed with gzip, which nearly every client accepts. */
  readonly files: ReadonlyMap<string, Buffer>;
}

const TYPES = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8' } as const;

/** Reads the files once, with the first request; they stay in memory, half a megabyte. */
export function createPageFileLoader(): () => Promise<PageFiles> {
  let loading: Promise<PageFiles> | undefined;
  return () => {
    loading ??= readPageFiles().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}

async function readPageFiles(): Promise<PageFiles> {
  const files = new Map<string, Buffer>();
  const names = await Promise.all(
    Object.entries(SOURCES).map(async ([key, { base, extension, path }]) => {
      const content = await readFile(await path());
      const hash = createHash('sha256').update(content).digest('base64url').slice(0, 12);
      const name = `${base}-${hash}.${extension}`;
      files.set(name, await promisify(gzip)(content));
      return [key, name] as const;
    }),
  );
  return { names: Object.fromEntries(names) as PageFileNames, files };
}

/** The route of these files. It never reads a path of a request. */
export function createPageFileRoute(load: () => Promise<PageFiles>): Route {
  const unpacked = new WeakMap<Buffer, Promise<Buffer>>();
  return {
    method: 'GET',
    path: '/server/specs/oas/page/:file',
    description: PAGE_FILE_DESCRIPTION,
    async handle(ctx) {
      const name = ctx.params.file as string;
      const packed = (await load()).files.get(name);
      if (!packed) throw fail('ROUTE_NOT_FOUND', `Route ${ctx.path} doesn't exist.`, { path: ctx.path });
      ctx.status = 200;
      ctx.vary('Accept-Encoding');
      ctx.set('Cache-Control', 'public, max-age=31536000, immutable');
      ctx.set('Content-Type', name.endsWith('.css') ? TYPES.css : TYPES.js);
      if (ctx.acceptsEncodings('gzip', 'identity') === 'gzip') {
        ctx.set('Content-Encoding', 'gzip');
        ctx.body = packed;
        return;
      }
      // Once for all clients without gzip, so that many slow ones share the bytes.
      const plain = unpacked.get(packed) ?? promisify(gunzip)(packed);
      unpacked.set(packed, plain);
      ctx.body = await plain;
    },
  };
}
