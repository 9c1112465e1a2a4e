import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'ldapts';
import { unpackDebianPackages } from './debian-packages.ts';
import { findFreePort } from './free-port.ts';
import { SELF_SIGNED_CERTIFICATE, SELF_SIGNED_CERTIFICATE_KEY } from './self-signed-certificate.ts';
import { until } from './until.ts';

export const LDAP_SUFFIX = 'dc=example,dc=com';
export const LDAP_PEOPLE = `ou=people,${LDAP_SUFFIX}`;
export const LDAP_GROUPS = `ou=groups,${LDAP_SUFFIX}`;
export const LDAP_ADMIN = { dn: `cn=admin,${LDAP_SUFFIX}`, password: 'the password of the directory' } as const;

/** A directory of one test file, with the folders for people and groups in it. */
export interface TestDirectory {
  /** `ldap://`; StartTLS is there. */
  readonly url: string;
  /** `ldaps://`, with `SELF_SIGNED_CERTIFICATE`. */
  readonly secureUrl: string;
  /** Adds a person below `LDAP_PEOPLE`. */
  addPerson(name: string, values?: Readonly<Record<string, string>>): Promise<void>;
  /** Makes the group have exactly these members; without any the group is deleted. */
  setGroup(name: string, people: readonly string[]): Promise<void>;
  /** A client that is bound as the admin of the directory. */
  asAdmin<T>(work: (client: Client) => Promise<T>): Promise<T>;
  /** Stops and continues the process: connections stay open, and requests get no answer meanwhile. */
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
}

export const dnOfPerson = (name: string): string => `cn=${name.replaceAll(/[,+=]/g, '\\$&')},${LDAP_PEOPLE}`;
/** The password of each person that a test adds. */
export const PERSON_PASSWORD = 'a password of the directory';

/** Starts OpenLDAP's `slapd`, of the Debian package, unpacked into `node_modules/.slapd`. */
export async function startDirectory(): Promise<TestDirectory> {
  const { root, libraryPath } = await unpackDebianPackages({
    names: ['slapd'],
    folder: '.slapd',
    remedy: 'these tests cannot run.',
  });
  const folder = await mkdtemp(join(tmpdir(), 'tenon-slapd-'));
  const [port, securePort] = [await findFreePort(), await findFreePort()];
  const url = `ldap://localhost:${port}`;
  const child = await startSlapd({ root, libraryPath, folder, port, securePort });

  async function asAdmin<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const client = new Client({ url });
    try {
      await client.bind(LDAP_ADMIN.dn, LDAP_ADMIN.password);
      return await work(client);
    } finally {
      await client.unbind();
    }
  }

  const directory: TestDirectory = {
    url,
    secureUrl: `ldaps://localhost:${securePort}`,
    asAdmin,
    addPerson: (name, values = {}) =>
      asAdmin((client) =>
        client.add(dnOfPerson(name), {
          objectClass: ['inetOrgPerson', 'extensibleObject'],
          cn: name,
          sn: 'Example',
          givenName: name,
          mail: `${name.replace(/\W/g, '')}@example.com`.toLowerCase(),
          userPassword: PERSON_PASSWORD,
          ...values,
        }),
      ),
    async setGroup(name, people) {
      const dn = `cn=${name},${LDAP_GROUPS}`;
      await asAdmin(async (client) => {
        await client.del(dn).catch(() => {});
        if (people.length === 0) return;
        await client.add(dn, { objectClass: ['groupOfNames'], cn: name, member: people.map(dnOfPerson) });
      });
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    async stop() {
      const ended = once(child, 'close');
      if (child.exitCode === null) {
        child.kill('SIGKILL');
        await ended;
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
  try {
    await until(() => asAdmin(async () => true).catch(() => false), 60_000);
    await asAdmin(async (client) => {
      await client.add(LDAP_SUFFIX, { objectClass: ['dcObject', 'organization'], dc: 'example', o: 'Example' });
      for (const dn of [LDAP_PEOPLE, LDAP_GROUPS]) await client.add(dn, { objectClass: ['organizationalUnit'] });
    });
    return directory;
  } catch (error) {
    await directory.stop();
    throw error;
  }
}

interface Slapd {
  readonly root: string;
  readonly libraryPath: string;
  readonly folder: string;
  readonly port: number;
  readonly securePort: number;
}

async function startSlapd({ root, libraryPath, folder, port, securePort }: Slapd): Promise<ChildProcess> {
  const file = (name: string) => join(folder, name);
  await mkdir(file('data'));
  await writeFile(file('certificate.pem'), SELF_SIGNED_CERTIFICATE);
  await writeFile(file('key.pem'), SELF_SIGNED_CERTIFICATE_KEY, { mode: 0o600 });
  const schemas = ['core', 'cosine', 'inetorgperson'];
  await writeFile(
    file('slapd.conf'),
    [
      ...schemas.map((name) => `include ${root}/etc/ldap/schema/${name}.schema`),
      // Of Active Directory: bit 2 says that the account is disabled.
      "attributetype ( 1.2.840.113556.1.4.8 NAME 'userAccountControl' SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 SINGLE-VALUE )",
      "attributetype ( 1.2.840.113556.1.4.159 NAME 'accountExpires' SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 SINGLE-VALUE )",
      "attributetype ( 1.2.840.113556.1.4.1460 NAME 'msDS-User-Account-Control-Computed' SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 SINGLE-VALUE )",
      `modulepath ${root}/usr/lib/ldap`,
      'moduleload back_mdb',
      // Locks and expires accounts and passwords.
      'moduleload ppolicy',
      `TLSCertificateFile ${file('certificate.pem')}`,
      `TLSCertificateKeyFile ${file('key.pem')}`,
      // A bind with a name and without a password succeeds, as in directories that allow it.
      'allow bind_anon_cred bind_anon_dn',
      'database mdb',
      'maxsize 67108864',
      `suffix "${LDAP_SUFFIX}"`,
      `rootdn "${LDAP_ADMIN.dn}"`,
      `rootpw "${LDAP_ADMIN.password}"`,
      `directory ${file('data')}`,
      'access to attrs=userPassword by anonymous auth by * none',
      'access to * by users read by anonymous auth',
      'overlay ppolicy',
      `ppolicy_default "cn=policy,${LDAP_SUFFIX}"`,
      '',
    ].join('\n'),
  );
  const addresses = `ldap://127.0.0.1:${port} ldaps://127.0.0.1:${securePort}`;
  return spawn(join(root, 'usr/sbin/slapd'), ['-d', '0', '-h', addresses, '-f', file('slapd.conf')], {
    stdio: 'ignore',
    env: { ...process.env, LD_LIBRARY_PATH: libraryPath },
  });
}
