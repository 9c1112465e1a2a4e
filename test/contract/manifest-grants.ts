import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type CorePluginFolderContents, projectRoot, readCorePluginFolders } from '../support/plugin-folders.ts';

/** One grant of a plugin's manifest, by its path in the member `service:extension` of package.json. */
export interface ManifestGrant {
  readonly plugin: CorePluginFolderContents;
  /** Path of the grant, for example `['capabilities', 'events', 'emit', 'auth.login']`. */
  readonly path: readonly string[];
}

type Json = unknown;
const isRecord = (value: Json): value is Record<string, Json> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Members of a manifest that grant nothing. */
const IGNORED = new Set(['type', 'path', 'host']);
/** Members inside a section that grant nothing by themselves. */
const NO_GRANT = new Set(['optional']);
/** Sections whose members are one grant each, whatever their value contains. */
const WHOLE = new Set(['config', 'uses', 'provides']);

/** All grants of a plugin's manifest, one for each entry of a list and each member of an object. */
export function grantsOf(plugin: CorePluginFolderContents): readonly ManifestGrant[] {
  const found: (readonly string[])[] = [];
  const walk = (value: Json, path: readonly string[]): void => {
    if (Array.isArray(value) && value.every((one) => typeof one === 'string')) {
      for (const entry of value) found.push([...path, entry]);
    } else if (
      isRecord(value) &&
      Object.keys(value).length > 0 &&
      !(path.length === 2 && WHOLE.has(path[0] as string))
    ) {
      for (const [name, inner] of Object.entries(value)) if (!NO_GRANT.has(name)) walk(inner, [...path, name]);
    } else {
      found.push(path);
    }
  };
  for (const [name, value] of Object.entries(plugin.manifest)) if (!IGNORED.has(name)) walk(value, [name]);
  return found.map((path) => ({ plugin, path }));
}

/** The manifest without the grant at this path. A list or an object that is empty afterwards is removed as well. */
export function removeGrantFromManifest(manifest: Json, [name, ...rest]: readonly string[]): Json {
  if (name === undefined) return undefined;
  if (Array.isArray(manifest)) {
    const left = manifest.filter((entry) => entry !== name);
    return left.length > 0 ? left : undefined;
  }
  const { [name]: inner, ...others } = manifest as Record<string, Json>;
  const left = removeGrantFromManifest(inner, rest);
  if (left !== undefined) return { ...(manifest as object), [name]: left };
  return Object.keys(others).some((other) => !NO_GRANT.has(other)) ? others : undefined;
}

/** Writes a package that runs the plugin's code under its manifest without the grant, into a temporary folder. */
export async function writePackageWithoutGrant({
  plugin,
  path,
}: ManifestGrant): Promise<{ readonly url: URL; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'tenon-without-'));
  const manifest = removeGrantFromManifest(plugin.manifest, path) as Record<string, Json>;
  const entry = pathToFileURL(join(projectRoot, 'plugins', plugin.folder, plugin.manifest.path)).href;
  await writeFile(
    join(folder, 'package.json'),
    JSON.stringify({ ...plugin.packageJson, imports: {}, 'service:extension': { ...manifest, path: 'index.js' } }),
  );
  await writeFile(join(folder, 'index.js'), `export { default } from ${JSON.stringify(entry)};\n`);
  return { url: pathToFileURL(`${folder}/`), remove: () => rm(folder, { recursive: true, force: true }) };
}

/** The plugin and all plugins that it needs, directly or indirectly, in the order of the preset. */
export function requiredPluginsOf(plugin: CorePluginFolderContents): readonly CorePluginFolderContents[] {
  const all = readCorePluginFolders();
  const found = new Set<string>();
  const visit = (one: CorePluginFolderContents): void => {
    if (found.has(one.folder)) return;
    found.add(one.folder);
    const { uses = {}, contributes = {}, capabilities = {} } = one.manifest;
    for (const other of all) {
      const defined = (other.manifest.contributes?.capabilities as { names?: string[] } | undefined)?.names ?? [];
      const isNeeded =
        Object.keys(other.manifest.provides ?? {}).some((id) => id in uses) ||
        (other.manifest.facets ?? []).some((id) => id in contributes && contributes[id]?.optional !== true) ||
        defined.some((name) => name in capabilities) ||
        one.settings.shared.some((key) => key in other.settings.own);
      if (isNeeded) visit(other);
    }
  };
  visit(plugin);
  return all.filter(({ folder }) => found.has(folder));
}
