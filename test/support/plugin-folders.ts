import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ConfigKey } from '#kernel';
import type { PluginPackage } from '../../kernel/manifest/validate.ts';
import { CORE_PLUGIN_FLOORS, listCorePlugins } from '../../plugins/core-plugins.ts';
import { type ParsedCodeFile, projectRoot, readTypeScriptFiles } from './sources.ts';

export interface CorePluginFolderContents extends PluginPackage {
  /** Name of the folder under `plugins/`. */
  readonly folder: string;
  readonly packageJson: Record<string, unknown>;
  readonly native: { readonly modules: readonly string[]; readonly packages: readonly string[] };
  readonly sources: readonly ParsedCodeFile[];
  readonly readme: string;
  /** Settings that the plugin declares as its own, and names of settings of other plugins that it shares. */
  readonly settings: { readonly own: Readonly<Record<string, ConfigKey>>; readonly shared: readonly string[] };
}

/** Number of the floor of a plugin in the preset, from 0 for the lowest; -1 for an unknown folder. */
export const pluginFloorOf = (folder: string): number =>
  CORE_PLUGIN_FLOORS.findIndex(({ plugins }) => (plugins as readonly string[]).includes(folder));

let folders: readonly CorePluginFolderContents[] | undefined;

/** Reads the core plugins from their folders, once per process. */
export function readCorePluginFolders(): readonly CorePluginFolderContents[] {
  folders ??= listCorePlugins().plugins.map((url) => read(fileURLToPath(url)));
  return folders;
}

function read(place: string): CorePluginFolderContents {
  const folder = basename(place);
  const packageJson = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'));
  const manifest = packageJson['service:extension'];
  const { shared = [], ...own } = manifest.config ?? {};
  return {
    folder,
    packageJson,
    name: packageJson.name,
    version: packageJson.version,
    manifest,
    native: { modules: [], packages: [], ...manifest.capabilities?.native },
    sources: readTypeScriptFiles(`plugins/${folder}`),
    readme: text(join(place, 'README.md')),
    settings: { own, shared },
  };
}

function text(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

export { projectRoot };
