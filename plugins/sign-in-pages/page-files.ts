import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fail } from '#kernel';
import type { Route } from '../http/contract.ts';
import type { ReadBranding } from './branding.ts';
import type { PageFileNames } from './page.ts';
import { PAGE_FILE_ROUTE_DESCRIPTION } from './route-descriptions.ts';

interface PageFile {
  readonly type: string;
  readonly content: string;
}

const TYPES = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8', svg: 'image/svg+xml' } as const;
const IMMUTABLE = 'public, max-age=31536000, immutable';
const THEME = /^theme-[\w-]+\.css$/;

/** The files that pages load, read once: they are small. */
export function readPageFiles(): { readonly names: PageFileNames; readonly files: ReadonlyMap<string, PageFile> } {
  const files = new Map<string, PageFile>();
  const add = (base: string, extension: keyof typeof TYPES): string => {
    const content = readFileSync(new URL(`./browser/${base}.${extension}`, import.meta.url), 'utf8');
    const hash = createHash('sha256').update(content).digest('base64url').slice(0, 12);
    const name = `${base}-${hash}.${extension}`;
    files.set(name, { type: TYPES[extension], content });
    return name;
  };
  return { names: { style: add('pages', 'css'), passkeys: add('passkeys', 'js'), icon: add('icon', 'svg') }, files };
}

/** The route of these files and of the project's style sheet. It never reads a path. */
export const createPageFileRoute = (files: ReadonlyMap<string, PageFile>, readBranding: ReadBranding): Route => ({
  method: 'GET',
  path: '/admin/sign-in/:file',
  description: PAGE_FILE_ROUTE_DESCRIPTION,
  async handle(ctx) {
    const name = ctx.params.file as string;
    const file = files.get(name);
    if (file) {
      ctx.set('Cache-Control', IMMUTABLE);
      ctx.set('Content-Type', file.type);
      ctx.body = file.content;
      return;
    }
    if (!THEME.test(name)) throw fail('ROUTE_NOT_FOUND', `Route ${ctx.path} doesn't exist.`, { path: ctx.path });
    const { theme } = await readBranding();
    // A page that was opened before the settings changed gets what they are now.
    ctx.set('Cache-Control', name === theme.name ? IMMUTABLE : 'no-cache');
    ctx.set('Content-Type', TYPES.css);
    ctx.body = theme.content;
  },
});
