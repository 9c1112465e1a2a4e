import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unpackDebianPackages } from './debian-packages.ts';
import { findFreePort } from './free-port.ts';
import { IDP_CERTIFICATE, IDP_KEY, SP_CERTIFICATE } from './saml-keys.ts';
import { until } from './until.ts';

/** SimpleSAMLphp as identity provider, with a page that asks for user and password. */
export interface SimpleSamlPhp {
  readonly origin: string;
  readonly metadataUrl: string;
  stop(): Promise<void>;
}

export interface SimpleSamlPhpOptions {
  /** The address of the provider at the service, `<PUBLIC_URL>/auth/login/<name>`. */
  readonly service: string;
  readonly encrypts: boolean;
  /** Attributes by user; each user's password is the user's name. */
  readonly users: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
}

const NAME_FORMAT = 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified';
const POST = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST';
const EXTENSIONS = [
  'ctype',
  'dom',
  'iconv',
  'mbstring',
  'posix',
  'simplexml',
  'tokenizer',
  'xml',
  'xmlreader',
  'xmlwriter',
];

/** Starts SimpleSAMLphp by PHP's own web server, of the Debian packages, unpacked into `node_modules/.simplesamlphp`. */
export async function startSimpleSamlPhp(options: SimpleSamlPhpOptions): Promise<SimpleSamlPhp> {
  const { root, libraryPath } = await unpackDebianPackages({
    names: ['simplesamlphp', 'php-cli', 'php-xml', 'php-mbstring'],
    folder: '.simplesamlphp',
    remedy: 'these tests cannot run.',
  });
  const folder = await mkdtemp(join(tmpdir(), 'tenon-simplesamlphp-'));
  const port = await findFreePort();
  const origin = `http://localhost:${port}`;
  await writeSettings(folder, origin, options);
  const child = await startPhp({ root, libraryPath, folder, port });
  const provider: SimpleSamlPhp = {
    origin,
    metadataUrl: `${origin}/saml2/idp/metadata.php`,
    async stop() {
      if (child.exitCode === null) {
        const ended = once(child, 'close');
        child.kill('SIGKILL');
        await ended;
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
  try {
    await until(async () => (await fetch(provider.metadataUrl).catch(() => undefined))?.ok === true, 60_000);
    return provider;
  } catch (error) {
    await provider.stop();
    throw error;
  }
}

interface Place {
  readonly root: string;
  readonly libraryPath: string;
  readonly folder: string;
  readonly port: number;
}

async function startPhp({ root, libraryPath, folder, port }: Place): Promise<ChildProcess> {
  const find = async (path: string, pattern: RegExp) =>
    join(root, path, (await readdir(join(root, path))).find((name) => pattern.test(name)) ?? '');
  const program = await find('usr/bin', /^php[\d.]+$/);
  const extensions = await find('usr/lib/php', /^\d{8}$/);
  const args = [
    '-n',
    '-d',
    'display_errors=0',
    '-d',
    `extension_dir=${extensions}`,
    ...EXTENSIONS.flatMap((name) => ['-d', `extension=${name}`]),
    '-d',
    `session.save_path=${folder}`,
    '-S',
    `127.0.0.1:${port}`,
    '-t',
    join(root, 'usr/share/simplesamlphp/www'),
  ];
  return spawn(program, args, {
    stdio: 'ignore',
    env: {
      PATH: process.env.PATH,
      LD_LIBRARY_PATH: libraryPath,
      SIMPLESAMLPHP_CONFIG_DIR: folder,
    },
  });
}

async function writeSettings(folder: string, origin: string, { service, encrypts, users }: SimpleSamlPhpOptions) {
  await mkdir(join(folder, 'metadata'));
  const write = (name: string, text: string) => writeFile(join(folder, name), text);
  await write('idp.key', IDP_KEY);
  await write('idp.crt', IDP_CERTIFICATE);
  await write(
    'config.php',
    `<?php $config = ${toPhp({
      baseurlpath: `${origin}/`,
      certdir: `${folder}/`,
      loggingdir: `${folder}/`,
      datadir: `${folder}/`,
      tempdir: `${folder}/`,
      metadatadir: `${folder}/metadata/`,
      'logging.handler': 'file',
      secretsalt: 'a salt of the tests',
      'auth.adminpassword': 'a password of the tests',
      timezone: 'UTC',
      'store.type': 'phpsession',
      'session.cookie.secure': false,
      'session.phpsession.savepath': folder,
      'enable.saml20-idp': true,
      'module.enable': { core: true, saml: true, exampleauth: true },
      'metadata.sources': [{ type: 'flatfile' }],
    })};`,
  );
  const accounts = Object.entries(users).map(([name, attributes]) => [
    `${name}:${name}`,
    { uid: [name], ...attributes },
  ]);
  await write(
    'authsources.php',
    `<?php $config = ['people' => ['exampleauth:UserPass'] + ${toPhp(Object.fromEntries(accounts))}];`,
  );
  await write(
    'metadata/saml20-idp-hosted.php',
    `<?php $metadata['urn:example:simplesamlphp'] = ${toPhp({
      host: '__DEFAULT__',
      privatekey: 'idp.key',
      certificate: 'idp.crt',
      auth: 'people',
      NameIDFormat: NAME_FORMAT,
      authproc: { 10: { class: 'saml:AttributeNameID', attribute: 'uid', Format: NAME_FORMAT } },
    })};`,
  );
  const certData = SP_CERTIFICATE.replace(/-----[^-]+-----|\s/g, '');
  await write(
    'metadata/saml20-sp-remote.php',
    `<?php $metadata['${service}/metadata'] = ${toPhp({
      AssertionConsumerService: [{ index: 0, isDefault: true, Binding: POST, Location: `${service}/acs` }],
      SingleLogoutService: [{ Binding: POST, Location: `${service}/logout` }],
      NameIDFormat: NAME_FORMAT,
      certData,
      'validate.authnrequest': true,
      'sign.logout': true,
      'validate.logout': true,
      'assertion.encryption': encrypts,
    })};`,
  );
}

function toPhp(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toPhp).join(', ')}]`;
  if (typeof value === 'object' && value !== null)
    return `[${Object.entries(value)
      .map(([name, inner]) => `${/^\d+$/.test(name) ? name : toPhp(name)} => ${toPhp(inner)}`)
      .join(', ')}]`;
  return typeof value === 'string' ? `'${value.replace(/[\\']/g, '\\$&')}'` : String(value);
}
