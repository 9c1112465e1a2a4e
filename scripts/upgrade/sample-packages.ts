import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from '../pack/folders.ts';

const EXAMPLES = ['service-extension-hello', 'service-extension-shout'];

const manifest = (name: string, members: object) =>
  JSON.stringify({ name, version: '1.0.0', type: 'module', 'service:extension': { host: '^1.0.0', ...members } });

/** An endpoint with full authority, and a plugin in TypeScript: both import the service by the names of the installed package. */
const WRITTEN: Readonly<Record<string, string>> = {
  'service-extension-size/package.json': manifest('service-extension-size', {
    type: 'endpoint',
    path: 'index.js',
    source: 'index.js',
  }),
  'service-extension-size/index.js': `import { defineEndpoint } from 'tenon/extension';
export default defineEndpoint({
  id: 'size',
  handler: (router, { services, getSchema }) =>
    router.get('/', async (req, res) => {
      const notes = new services.ItemsService('note', { schema: await getSchema(), accountability: req.accountability });
      res.json({ notes: (await notes.readByQuery({ limit: -1 })).length });
    }),
});
`,
  'trial-plugin/package.json': manifest('trial-plugin', {
    type: 'plugin',
    path: 'index.ts',
    contributes: { 'http.middleware': { phases: ['route'] } },
  }),
  'trial-plugin/index.ts': `import { definePlugin, middleware } from 'tenon/kernel';
import manifest from './package.json' with { type: 'json' };

export default definePlugin({
  manifest,
  register(host) {
    host.contribute(middleware, {
      name: 'trial-plugin',
      phase: 'route',
      handle: (ctx, next) => (ctx.path === '/trial-plugin' ? void (ctx.body = 'Hello.') : next()),
    });
  },
});
`,
};

/** Writes one package of each kind into `extensions/local` of a project. */
export function writeSamplePackages(project: string): void {
  const folder = join(project, 'extensions/local');
  for (const name of EXAMPLES) cpSync(join(ROOT, 'extensions/examples', name), join(folder, name), { recursive: true });
  for (const [path, text] of Object.entries(WRITTEN)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}
