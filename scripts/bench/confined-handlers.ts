import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The handlers that are measured against each other: `full` and `work` are in the service's own process, `work` and `calls`
 * ask for a setting several times.
 */
export const BENCH_HANDLER_NAMES: readonly string[] = ['full', 'work', 'fresh', 'reused', 'calls'];

const BODY = `{ hello: query.name ?? 'world', list: [1, 2, 3] }`;

const confined = (id: string, before = '') => `export default {
  id: '${id}',
  async handler({ query }, { host }) {
    ${before}
    return { body: ${BODY} };
  },
};
`;

const runtime = { runtime: 'confined-server', capabilities: { endpoint: { access: 'public' } } };

/** Installs a confined endpoint as a package. `before`: code that its handler runs before it answers. */
export const installConfinedEndpoint = (folder: string, name: string, before?: string): Promise<void> =>
  install(folder, name, confined(name, before), runtime);

/** Installs the handlers as packages, and six more packages that are called only once. */
export async function installBenchPackages(folder: string, calls: number): Promise<void> {
  await install(
    folder,
    'full',
    `export default (router) => {\n  router.get('/', ({ query }, response) => response.json(${BODY}));\n};\n`,
    {},
  );
  await install(
    folder,
    'work',
    `export default (router, { extensionSettings }) => {
  router.get('/', async ({ query }, response) => {
    for (let at = 0; at < ${calls}; at++) await extensionSettings.get('nothing');
    response.json(${BODY});
  });
};
`,
    {},
  );
  await installConfinedEndpoint(folder, 'fresh');
  await install(folder, 'reused', confined('reused'), { ...runtime, stateful: true });
  await install(
    folder,
    'calls',
    confined('calls', `for (let at = 0; at < ${calls}; at++) await host.settings.get('nothing');`),
    runtime,
  );
  for (let at = 0; at < 6; at++) await installConfinedEndpoint(folder, `first${at}`);
}

async function install(folder: string, name: string, code: string, more: object): Promise<void> {
  const place = join(folder, `service-extension-${name}`);
  await mkdir(place, { recursive: true });
  await writeFile(join(place, 'index.js'), code);
  const manifest = { type: 'endpoint', path: 'index.js', source: 'index.js', host: '^1.0.0', ...more };
  const text = { name: `service-extension-${name}`, version: '1.0.0', type: 'module', 'service:extension': manifest };
  await writeFile(join(place, 'package.json'), JSON.stringify(text));
}
