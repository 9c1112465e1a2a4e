import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunningTestService } from '../support/service.ts';

/** A folder that a test uses as EXTENSIONS_PATH and into which it writes confined packages. */
export interface ConfinedPackageFolder {
  readonly path: string;
  /** Writes a package whose source and built file are both `code`; the manifest gets host, runtime and paths as defaults. */
  put(name: string, manifest: object, code: string, options?: { version?: string; folder?: string }): Promise<void>;
  drop(folder: string): Promise<void>;
  remove(): Promise<void>;
}

export async function createConfinedPackageFolder(path?: string): Promise<ConfinedPackageFolder> {
  const root = path ?? (await realpath(await mkdtemp(join(tmpdir(), 'tenon-confined-'))));
  return {
    path: root,
    async put(name, manifest, code, { version = '1.0.0', folder = name.replace('/', '-').replace('@', '') } = {}) {
      const place = join(root, folder);
      await mkdir(place, { recursive: true });
      const { type } = manifest as { type: string };
      const halves = { app: 'app.js', api: 'index.js' };
      const paths =
        type === 'bundle'
          ? { path: halves }
          : type === 'operation'
            ? { path: halves, source: halves }
            : { path: 'index.js', source: 'index.js' };
      const own = { host: '^1.0.0', runtime: 'confined-server', ...paths, ...manifest };
      await writeFile(
        join(place, 'package.json'),
        JSON.stringify({ name, version, type: 'module', 'service:extension': own }),
      );
      await writeFile(join(place, 'index.js'), code);
      await writeFile(join(place, 'app.js'), `export default { id: '${randomUUID()}', name: 'A', options: [] };`);
    },
    drop: (folder) => rm(join(root, folder), { recursive: true, force: true }),
    remove: () => rm(root, { recursive: true, force: true }),
  };
}

/** The source of a confined endpoint with this id, whose handler is the function in the text `handler`. */
export const renderConfinedEndpoint = (id: string, handler: string): string =>
  `export default { id: ${JSON.stringify(id)}, handler: ${handler} };`;

interface Row {
  readonly name: string;
  readonly status: string;
  readonly reason?: { readonly code: string; readonly detail: string };
  readonly entries?: readonly {
    readonly name: string;
    readonly status: string;
    readonly reason?: { readonly code: string };
  }[];
  readonly [key: string]: unknown;
}

/** The rows that GET /extensions answers, by package name. Of several rows with one name the last one is kept. */
export async function listExtensions(service: RunningTestService): Promise<Readonly<Record<string, Row>>> {
  const { body } = await service.request('GET', '/extensions', { token: service.admin.token });
  return Object.fromEntries((body.data as Row[]).map((row) => [row.name, row]));
}

export const reloadExtensions = (service: RunningTestService) =>
  service.request('POST', '/extensions/reload', { token: service.admin.token });

/** A failure of a package as GET /extensions shows it to admins: where it happened and how often. */
export interface PackageFailureRecord {
  readonly code: string;
  readonly message?: string;
  readonly at?: string;
  readonly count: number;
}

export const listPackageFailures = async (
  service: RunningTestService,
  name: string,
): Promise<readonly PackageFailureRecord[]> =>
  ((await listExtensions(service))[name]?.failures ?? []) as readonly PackageFailureRecord[];
