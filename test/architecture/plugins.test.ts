import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { validatePluginPackageJson } from '../../kernel/manifest/validate.ts';
import {
  type CorePluginFolderContents,
  pluginFloorOf,
  projectRoot,
  readCorePluginFolders,
} from '../support/plugin-folders.ts';
import { isPureCodeFile, type ParsedCodeFile, packageNameOf, readTypeScriptFiles } from '../support/sources.ts';

const plugins = readCorePluginFolders();
const byFolder = new Map(plugins.map((plugin) => [plugin.folder, plugin]));

/** Ids of the services and capabilities of `other` that the manifest of `plugin` names: `plugin` does not run without `other`. */
function needsOf(plugin: CorePluginFolderContents, other: CorePluginFolderContents): readonly string[] {
  const { uses = {}, capabilities = {} } = plugin.manifest;
  const defined = (other.manifest.contributes?.capabilities as { names?: string[] } | undefined)?.names ?? [];
  return [
    ...Object.keys(other.manifest.provides ?? {}).filter((id) => id in uses),
    ...defined.filter((name) => name in capabilities),
  ];
}

/** Ids of the facets of `other` to which the plugin's manifest contributes: the plugin also runs without `other`. */
const facetsOf = ({ manifest }: CorePluginFolderContents, other: CorePluginFolderContents): readonly string[] =>
  (other.manifest.facets ?? []).filter((id) => id in (manifest.contributes ?? {}));

/** The only plugin that may import code of `sandbox/`, and the folders that it may import. */
const SANDBOX = { plugin: 'sandbox', parts: ['sandbox/host/', 'sandbox/protocol/'] };
const isOfSandbox = (folder: string, target: string): boolean =>
  folder === SANDBOX.plugin && SANDBOX.parts.some((part) => target.startsWith(part));

/** The files that run in the service's process because of a plugin: its own, and those of `sandbox/` that they import. */
function sourcesOf(plugin: CorePluginFolderContents): readonly ParsedCodeFile[] {
  if (plugin.folder !== SANDBOX.plugin) return plugin.sources;
  const all = new Map(readTypeScriptFiles('sandbox').map((source) => [source.path, source]));
  const found = new Set(plugin.sources);
  for (const { imports } of found) {
    for (const { target, typeOnly } of imports) {
      const source = all.get(target ?? '');
      if (source && !typeOnly) found.add(source);
    }
  }
  return [...found];
}

/** Files of a plugin that other plugins may import: keys and types (`contract.ts`), and functions (`library.ts`). */
const OPEN_FILES = ['contract.ts', 'library.ts'];

/** The reason why a plugin may not import this; undefined where it may. */
function importProblem(
  plugin: CorePluginFolderContents,
  { specifier, target, typeOnly }: ParsedCodeFile['imports'][number],
): string | undefined {
  if (specifier === '#kernel') return undefined;
  if (specifier.startsWith('node:')) {
    return plugin.native.modules.includes(specifier.slice(5))
      ? undefined
      : 'a module that native.modules does not list';
  }
  if (target === null) {
    return plugin.native.packages.includes(packageNameOf(specifier))
      ? undefined
      : 'a package that native.packages does not list';
  }
  const [area, folder, ...rest] = target.split('/') as [string, string, ...string[]];
  if (isOfSandbox(plugin.folder, target)) return undefined;
  if (area !== 'plugins') return 'a file outside of plugins';
  if (folder === plugin.folder) return undefined;
  if (!OPEN_FILES.includes(rest.join('/'))) return "another plugin's file that is neither its contract nor its library";
  const other = byFolder.get(folder);
  if (!other) return 'a plugin that is not in the preset';
  if (pluginFloorOf(folder) > pluginFloorOf(plugin.folder)) {
    const isFacetType = typeOnly && rest.join('/') === 'contract.ts' && facetsOf(plugin, other).length > 0;
    return isFacetType
      ? undefined
      : 'a plugin on a higher floor, of which it may import the types of facets it adds to';
  }
  // Imports of types, and of libraries that only compute, give access to nothing, so they need no entry in the manifest.
  if (typeOnly || (rest.join('/') === 'library.ts' && isPureCodeFile(target, other.sources))) return undefined;
  if (needsOf(plugin, other).length + facetsOf(plugin, other).length === 0)
    return 'a plugin of which its manifest names nothing';
  return undefined;
}

describe('architecture: plugins', () => {
  it('all plugin folders are in the preset, each on one floor', () => {
    const folders = readdirSync(join(projectRoot, 'plugins'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name);
    expect([...byFolder.keys()].sort()).to.deep.equal(folders.sort());
    expect(folders.filter((folder) => pluginFloorOf(folder) < 0)).to.deep.equal([]);
  });

  it('plugins use no service and hold no capability of a higher floor', () => {
    const upwards = plugins.flatMap((plugin) =>
      plugins
        .filter(
          (other) => pluginFloorOf(other.folder) > pluginFloorOf(plugin.folder) && needsOf(plugin, other).length > 0,
        )
        .map((other) => `${plugin.folder} → ${other.folder}`),
    );
    expect(upwards).to.deep.equal([]);
  });

  it('contributions to facets of a higher floor are optional', () => {
    const upwards = plugins.flatMap((plugin) =>
      plugins
        .filter((other) => pluginFloorOf(other.folder) > pluginFloorOf(plugin.folder))
        .flatMap((other) => facetsOf(plugin, other))
        .filter((id) => (plugin.manifest.contributes?.[id] as { optional?: boolean } | undefined)?.optional !== true)
        .map((id) => `${plugin.folder} → ${id}`),
    );
    expect(upwards).to.deep.equal([]);
  });

  it('only access imports sealing, so that no other plugin creates a Restricted tree', () => {
    expect(
      plugins.filter((plugin) => plugin.manifest.uses && 'sealing' in plugin.manifest.uses).map((one) => one.folder),
    ).to.deep.equal(['access']);
  });

  it('only plugins that work on user tables may run any statement', () => {
    const holders = plugins.filter(({ manifest }) => (manifest.capabilities?.database as { sql?: string })?.sql);
    expect(holders.map(({ folder }) => folder)).to.deep.equal(['schema', 'query', 'row-feed', 'items']);
  });

  it('any statement is granted to extensions with full authority only', () => {
    const granting = plugins.flatMap(({ sources }) =>
      sources.filter(({ text }) => /\bdatabase:\s*\{[^}]*\bsql\b/.test(text)).map(({ path }) => path),
    );
    expect(granting).to.deep.equal(['plugins/extensions-full/extension-runtime.ts']);
  });

  for (const plugin of plugins) {
    describe(plugin.folder, () => {
      it('has a valid package.json with a name of its own folder', () => {
        validatePluginPackageJson(plugin.packageJson, plugin.folder);
        expect(plugin.packageJson).to.deep.include({ name: `@tenon/${plugin.folder}`, private: true, type: 'module' });
      });

      it('imports only #kernel, itself, what native lists, and contracts and libraries of its floor or below', () => {
        const wrong = plugin.sources.flatMap(({ path, imports }) =>
          imports.flatMap((one) => {
            const what = importProblem(plugin, one);
            return what ? [`${path} imports ${one.specifier}: ${what}`] : [];
          }),
        );
        expect(wrong).to.deep.equal([]);
      });

      it('lists under native all modules and packages that it imports', () => {
        const brought = sourcesOf(plugin).filter((source) => !plugin.sources.includes(source));
        const wrong = brought.flatMap(({ path, imports }) =>
          imports
            .filter(({ target, typeOnly }) => target === null && !typeOnly)
            .flatMap((one) => {
              const what = importProblem(plugin, one);
              return what ? [`${path} imports ${one.specifier}: ${what}`] : [];
            }),
        );
        expect(wrong).to.deep.equal([]);
      });

      it('lists nothing under native that it does not import', () => {
        const imported = new Set(sourcesOf(plugin).flatMap((source) => source.imports.map((one) => one.specifier)));
        const text = sourcesOf(plugin)
          .map((source) => source.text)
          .join('\n');
        const packages = new Set([...imported].map(packageNameOf));
        // A plugin may also look up the path of a package without loading it: `require.resolve('…')`.
        const resolved = (name: string) => text.includes(`.resolve('${name}')`);
        const idle = [
          ...plugin.native.modules.filter((name) => !imported.has(`node:${name}`)),
          ...plugin.native.packages.filter((name) => !packages.has(name) && !resolved(name)),
        ];
        expect(idle).to.deep.equal([]);
      });

      it('has computed import paths only where its manifest lists the module system', () => {
        if (plugin.native.modules.includes('module')) return;
        expect(plugin.sources.filter((one) => one.computedImports > 0).map((one) => one.path)).to.deep.equal([]);
      });

      it('uses no global that reaches the network, other processes or the environment', () => {
        const globals =
          /(?<![.\w])(?:fetch|eval|Function)\s*\(|\bnew\s+(?:WebSocket|EventSource|Function)\b|\bprocess\s*\.\s*(?:env|binding|dlopen|getBuiltinModule)\b/;
        expect(plugin.sources.filter((one) => globals.test(one.text)).map((one) => one.path)).to.deep.equal([]);
      });

      it('has settings whose defaults are of their declared type', () => {
        const kinds: Readonly<Record<string, string>> = {
          string: 'string',
          boolean: 'boolean',
          array: 'array',
          json: 'any',
        };
        const wrong = Object.entries(plugin.settings.own).filter(([, { type, default: value }]) => {
          const kind = Array.isArray(value) ? 'array' : typeof value;
          return value !== undefined && (kinds[type] ?? 'number') !== 'any' && kind !== (kinds[type] ?? 'number');
        });
        expect(wrong.map(([key]) => key)).to.deep.equal([]);
      });

      it('names every setting in its README', () => {
        expect(plugin.readme, 'README.md').not.to.equal('');
        const missing = [...Object.keys(plugin.settings.own), ...plugin.settings.shared].filter(
          (key) => !plugin.readme.includes(key),
        );
        expect(missing).to.deep.equal([]);
      });
    });
  }
});

describe('architecture: environment', () => {
  // scripts/ and test/ may read process.env: the first start processes, the others are no part of the product.
  it('process.env is read by kernel/config only', () => {
    const reads =
      /\bprocess\s*\??\.\s*env\b|\bprocess\s*\[|\{[^}]*\benv\b[^}]*\}\s*=\s*process\b|from\s*['"](?:node:)?process['"]/;
    const readers = ['kernel', 'plugins', 'sandbox', 'extensions']
      .flatMap(readTypeScriptFiles)
      .filter((one) => reads.test(one.text))
      .map((one) => one.path);
    expect(readers).to.deep.equal(['kernel/config/environment.ts']);
  });
});
