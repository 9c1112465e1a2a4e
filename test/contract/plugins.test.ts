import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import type { Host } from '#kernel';
import { boot } from '#kernel/boot';
import type { Plugin } from '../../kernel/plugin.ts';
import { listCorePlugins } from '../../plugins/core-plugins.ts';
import { type CorePluginFolderContents, readCorePluginFolders } from '../support/plugin-folders.ts';
import { silentSettings } from '../support/test-plugins.ts';
import { OPTIONAL_FEATURES } from './optional-features.ts';

const folders = readCorePluginFolders();
// Turns on features that are off by default, so that the plugins contribute everything that their manifests declare.
const environment = { ...silentSettings, ...OPTIONAL_FEATURES, EXTENSIONS_PATH: '/dev/null' };

/** The members, services, facets and contributions of the host that a plugin used while it registered. */
interface HostUse {
  readonly members: Set<string>;
  readonly provides: Set<string>;
  readonly uses: Set<string>;
  readonly facets: Set<string>;
  readonly contributes: Set<string>;
}

// biome-ignore lint/suspicious/noExplicitAny: plugins with different settings
type AnyPlugin = Plugin<any>;
type AnyHost = Parameters<AnyPlugin['register']>[0];

/** A host that passes every call on and records it. */
function createRecordingHost(host: AnyHost, hostUse: HostUse): AnyHost {
  const recorders: Record<string, (...args: never[]) => void> = {
    provide: (ref: { id: string }) => void hostUse.provides.add(ref.id),
    use: (refs: Record<string, { id: string }>) => Object.values(refs).forEach(({ id }) => void hostUse.uses.add(id)),
    define: (facet: { id: string }) => void hostUse.facets.add(facet.id),
    contribute: (facet: { id: string } | string) =>
      void hostUse.contributes.add(typeof facet === 'string' ? facet : facet.id),
  };
  return new Proxy(host, {
    get(target, key) {
      const value = Reflect.get(target, key);
      if (typeof key !== 'string') return value;
      hostUse.members.add(key);
      const record = recorders[key];
      if (!record) return value;
      return (...args: never[]) => {
        record(...args);
        return (value as unknown as (...all: never[]) => unknown)(...args);
      };
    },
  });
}

/** Boots the preset once, with every plugin's register function recorded. */
async function recordHostUse(): Promise<ReadonlyMap<string, HostUse>> {
  const all = new Map<string, HostUse>();
  const undo: (() => void)[] = [];
  for (const { folder, manifest } of folders) {
    const entry = new URL(`../../plugins/${folder}/${manifest.path}`, import.meta.url).href;
    const plugin = ((await import(entry)) as { default: AnyPlugin & { register(host: Host): void } }).default;
    const register = plugin.register;
    const hostUse: HostUse = {
      members: new Set(),
      provides: new Set(),
      uses: new Set(),
      facets: new Set(),
      contributes: new Set(),
    };
    all.set(folder, hostUse);
    plugin.register = (host) => register.call(plugin, createRecordingHost(host, hostUse));
    undo.push(() => void (plugin.register = register));
  }
  try {
    await (await boot(listCorePlugins(), { environment })).stop();
  } finally {
    for (const step of undo) step();
  }
  return all;
}

const LATE_FACETS = ['flows.operations', 'http.mounts', 'auth.drivers'];
const sorted = (names: Iterable<string>) => [...names].sort();
const MEMBERS: Readonly<Record<string, string>> = {
  log: 'log',
  events: 'events',
  system: 'asSystem',
  database: 'db',
  config: 'config',
  identity: 'identity',
  packages: 'packages',
};

describe('contract of every core plugin', () => {
  let recorded: ReadonlyMap<string, HostUse>;
  before(async () => {
    recorded = await recordHostUse();
  });

  it('register() of all core plugins starts no timer, no socket and no process', async () => {
    const kernel = new URL('../../kernel/boot.ts', import.meta.url).href;
    const preset = new URL('../../plugins/core-plugins.ts', import.meta.url).href;
    // Runs in a child process, so that timers and sockets of the test runner are not counted.
    const script = `
      const { boot } = await import('${kernel}');
      const { listCorePlugins } = await import('${preset}');
      await boot(listCorePlugins(), { environment: ${JSON.stringify(environment)} });
      await new Promise((resolve) => setImmediate(resolve));
      const ours = ['PipeWrap', 'TTYWrap', 'Immediate', 'FSReqPromise'];
      process.stdout.write(JSON.stringify(process.getActiveResourcesInfo().filter((one) => !ours.includes(one))));`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => (output += part));
    const [code] = await once(child, 'close');
    expect([output, code]).to.deep.equal(['[]', 0]);
  });

  for (const plugin of folders) {
    describe(plugin.folder, () => {
      const { manifest } = plugin;
      const text = plugin.sources.map((source) => source.text).join('\n');
      const hostUse = () => recorded.get(plugin.folder) as HostUse;
      const quoted = (name: string) => ["'", '"', '`'].some((quote) => text.includes(quote + name + quote));

      it('provides, uses, defines and contributes to exactly what its manifest declares', () => {
        expect(sorted(hostUse().provides), 'provides').to.deep.equal(sorted(Object.keys(manifest.provides ?? {})));
        expect(sorted(hostUse().uses), 'uses').to.deep.equal(sorted(Object.keys(manifest.uses ?? {})));
        expect(sorted(hostUse().facets), 'facets').to.deep.equal(sorted(manifest.facets ?? []));
        const declared = Object.keys(manifest.contributes ?? {});
        // Plugins that load extensions, or open the drivers of other plugins, contribute to these facets later, on behalf of those.
        const isLate = plugin.folder.startsWith('extensions-') || plugin.folder === 'auth-providers';
        const late = LATE_FACETS.filter((id) => declared.includes(id) && isLate);
        expect(sorted(new Set([...hostUse().contributes, ...late])), 'contributes').to.deep.equal(sorted(declared));
      });

      it('uses each capability that its manifest declares', () => {
        const declared = [...Object.keys(manifest.capabilities ?? {}), ...(manifest.config ? ['config'] : [])];
        // register() reads most members of the host; code that runs later reads others, so its text is searched as well.
        const isRead = (member: string) => hostUse().members.has(member) || text.includes(`host.${member}`);
        const unread = declared.filter((name) => name in MEMBERS && !isRead(MEMBERS[name] as string));
        expect(unread).to.deep.equal([]);
      });

      it('reads every setting it declares', () => {
        const idle = [...Object.keys(plugin.settings.own), ...plugin.settings.shared].filter(
          (key) => !new RegExp(`\\b${key}\\b`).test(text),
        );
        expect(idle).to.deep.equal([]);
      });

      it('acts as the system for every reason it declares', () => {
        const { reasons = [] } = (manifest.capabilities?.system ?? {}) as { reasons?: string[] };
        expect(reasons.filter((reason) => !quoted(reason))).to.deep.equal([]);
      });

      it('uses every part of its database grant', () => {
        const grant = (manifest.capabilities?.database ?? {}) as Record<string, unknown>;
        const tables = ['own', 'read', 'write', 'watch'].flatMap((part) => (grant[part] ?? []) as string[]);
        const idle = tables.filter((table) => !new RegExp(`\\b${table}\\b`).test(text));
        const handles = { own: ['own'], read: ['read'], write: ['write', 'table'], watch: ['watch'] };
        for (const [part, members] of Object.entries(handles)) {
          const isUsed = members.some((member) => new RegExp(`\\bdb\\s*\\.${member}\\(`).test(text));
          if (grant[part] && part !== 'own' && !isUsed) idle.push(part);
        }
        if (grant.sql && !/\.query\b|\bquery\s*[(<]/.test(text)) idle.push('sql');
        if (grant.ddl && !/\bddl\s*\(/.test(text)) idle.push('ddl');
        expect(idle).to.deep.equal([]);
      });

      it('listens to and emits every event pattern that its manifest declares', () => {
        const grant = (manifest.capabilities?.events ?? {}) as Record<string, string[]>;
        const idle: string[] = [];
        if (grant.filter?.length && !/\.onFilter\(/.test(text)) idle.push('filter');
        if (grant.action?.length && !/\.onAction\(/.test(text)) idle.push('action');
        if (grant.emit?.length && !/\.(?:filter|action)\(\s*(?:\[|names|events)/.test(text)) idle.push('emit');
        expect(idle).to.deep.equal([]);
      });

      it('registers with only the plugins that it needs', async () => {
        const needed = closure(plugin);
        const kernel = await boot(
          {
            plugins: listCorePlugins().plugins.filter((_url, at) =>
              needed.has(folders[at] as CorePluginFolderContents),
            ),
          },
          { environment },
        );
        expect(kernel.plugins.map((one) => one.name)).to.include(plugin.name);
        await kernel.stop();
      });
    });
  }
});

/** The plugin and all plugins that it needs, directly or indirectly. */
function closure(
  plugin: CorePluginFolderContents,
  found = new Set<CorePluginFolderContents>(),
): ReadonlySet<CorePluginFolderContents> {
  if (found.has(plugin)) return found;
  found.add(plugin);
  const { uses = {}, contributes = {}, capabilities = {} } = plugin.manifest;
  for (const other of folders) {
    const defined = (other.manifest.contributes?.capabilities as { names?: string[] } | undefined)?.names ?? [];
    const needed =
      Object.keys(other.manifest.provides ?? {}).some((id) => id in uses) ||
      (other.manifest.facets ?? []).some((id) => id in contributes) ||
      defined.some((name) => name in capabilities);
    if (needed) closure(other, found);
  }
  return found;
}
