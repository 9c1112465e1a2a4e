import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import type { BootFailure } from '#kernel';
import { type DatabaseMaintenance, maintenance } from '../../../plugins/database/contract.ts';
import { renderBootFailure } from '../../../scripts/render-boot-failure.ts';
import { databaseServerUrl } from '../../support/database.ts';
import { SELF_SIGNED_CERTIFICATE, SELF_SIGNED_CERTIFICATE_KEY } from '../../support/self-signed-certificate.ts';
import { captureError } from '../../support/test-plugins.ts';
import { createPluginWithDatabaseGrant, startTestKernel } from './test-kernel.ts';

const withUrl = (change: (url: URL) => void): Record<string, string> => {
  const url = new URL(databaseServerUrl());
  change(url);
  return { DB_CONNECTION_STRING: url.href };
};

describe('boot failure of a database that cannot be reached', () => {
  const failing = async (environment: Record<string, string>) => {
    const failed = await captureError<BootFailure>(startTestKernel([], { environment }));
    expect([failed.plugin, failed.phase]).to.deep.equal(['@tenon/database', 'migrate']);
    expect(failed.remedy).to.be.a('string');
    expect(renderBootFailure(failed)).not.to.contain('s3cret');
    return failed;
  };
  const parts = () => {
    const { hostname, port, username } = new URL(databaseServerUrl());
    return {
      DB_CONNECTION_STRING: '',
      DB_HOST: hostname,
      DB_PORT: port || '5432',
      DB_USER: username,
      DB_PASSWORD: 's3cret',
      DB_DATABASE: 'x',
    };
  };

  it('the message names a missing database', async () => {
    const failed = await failing(withUrl((url) => (url.pathname = '/ground_is_not_there')));
    expect(failed.message).to.match(/there is no database .*ground_is_not_there/);
  });

  it('the message names the address of a server that does not answer', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    taken.close();
    await once(taken, 'close');
    const failed = await failing({ ...parts(), DB_HOST: '127.0.0.1', DB_PORT: String(port) });
    expect(failed.message).to.equal(`nothing answers at 127.0.0.1:${port}/x`);
  });

  it('the message names an unknown host', async () => {
    const failed = await failing({ ...parts(), DB_HOST: 'nowhere.invalid' });
    expect(failed.message).to.match(/host of the database nowhere\.invalid:\d+\/x is unknown/);
  });

  it('the message names settings that are missing or malformed', async () => {
    expect((await failing({ ...parts(), DB_DATABASE: '' })).message).to.contain('DB_DATABASE is not');
    expect((await failing({ DB_CONNECTION_STRING: 'tenon:s3cret@there' })).message).to.contain('is not an address');
  });

  it('the message names a schema of DB_SCHEMAS that does not exist', async () => {
    const failed = await failing({ DB_SCHEMAS: 'public,Else"where' });
    expect(failed.message).to.contain('no schema Else"where');
  });

  it('toConnectError has a remedy for a wrong password, a full server and missing privileges', async () => {
    const { toConnectError } = await import('../../../plugins/database/connect-error-remedies.ts');
    const failure = (code: string) => toConnectError(Object.assign(new Error('no'), { code }), 'there:1/x');
    expect(failure('28P01')).to.include({ message: 'the database there:1/x refuses user name or password' });
    for (const code of ['28P01', '28000', '53300', '42501', 'ETIMEDOUT'])
      expect(failure(code).remedy).to.be.a('string');
  });
});

/** The code by which a client asks for TLS. */
const SSL_REQUEST = 80_877_103;

/** A server that speaks the beginning of PostgreSQL's protocol: it agrees to TLS, and closes once TLS stands or has failed. */
async function startTlsServer() {
  const handshakes: { client?: string }[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (request) => {
      if (request.readInt32BE(4) !== SSL_REQUEST) return socket.destroy();
      socket.write('S');
      const secure = new TLSSocket(socket, {
        isServer: true,
        cert: SELF_SIGNED_CERTIFICATE,
        key: SELF_SIGNED_CERTIFICATE_KEY,
        ca: SELF_SIGNED_CERTIFICATE,
        requestCert: true,
        rejectUnauthorized: false,
      });
      secure.on('error', () => {});
      // The first message of the client follows only where it trusts the server.
      secure.once('data', () => {
        const { subject } = secure.getPeerCertificate();
        handshakes.push(subject ? { client: String(subject.CN) } : {});
        secure.destroy();
      });
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: String((server.address() as { port: number }).port), handshakes, close: () => server.close() };
}

describe('TLS to the database', () => {
  let server: Awaited<ReturnType<typeof startTlsServer>>;
  beforeEach(async () => {
    server = await startTlsServer();
  });
  afterEach(() => server.close());
  const fail = (environment: Record<string, string>) =>
    captureError<BootFailure>(
      startTestKernel([], {
        environment: {
          DB_CONNECTION_STRING: '',
          DB_HOST: '127.0.0.1',
          DB_PORT: server.port,
          DB_USER: 'tenon',
          DB_DATABASE: 'x',
          ...environment,
        },
      }),
    );

  it('a certificate that nothing vouches for is refused, and the remedy names DB_SSL__CA', async () => {
    const { message, remedy } = await fail({ DB_SSL: 'true' });
    expect(message).to.match(/certificate of the database .* is not trusted/);
    expect(remedy).to.contain('DB_SSL__CA');
    expect(server.handshakes).to.deep.equal([]);
  });

  it('DB_SSL__CA switches TLS on and is trusted, for the name in DB_SSL__SERVERNAME', async () => {
    await fail({ DB_SSL__CA: SELF_SIGNED_CERTIFICATE, DB_SSL__SERVERNAME: 'localhost' });
    expect(server.handshakes).to.deep.equal([{}]);
    const { message } = await fail({ DB_SSL__CA: SELF_SIGNED_CERTIFICATE, DB_SSL__SERVERNAME: 'other.example.com' });
    expect(message).to.match(/certificate of the database .* is not trusted.*other\.example\.com/);
    expect(server.handshakes).to.have.length(1);
  });

  it('DB_SSL__CERT and DB_SSL__KEY are what the service shows the database', async () => {
    await fail({
      DB_SSL: 'no-verify',
      DB_SSL__CERT: SELF_SIGNED_CERTIFICATE,
      DB_SSL__KEY: SELF_SIGNED_CERTIFICATE_KEY,
    });
    expect(server.handshakes).to.deep.equal([{ client: 'localhost' }]);
  });

  describe('of pg_dump and pg_restore', () => {
    let folder: string;
    let [ca, key] = ['', ''];
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'tenon-tls-'));
      [ca, key] = [join(folder, 'ca.pem'), join(folder, 'key.pem')];
      await writeFile(ca, SELF_SIGNED_CERTIFICATE);
      await writeFile(key, SELF_SIGNED_CERTIFICATE_KEY);
    });
    after(() => rm(folder, { recursive: true, force: true }));

    /** The variables of TLS, and whether the driver verifies the certificate, by a connection to a server that nothing vouches for. */
    const tlsOf = async (query: string, settings: Readonly<Record<string, string>> = {}) => {
      let opened: DatabaseMaintenance | undefined;
      const { stop } = await startTestKernel(
        [
          createPluginWithDatabaseGrant(
            {},
            (host) => {
              opened = host.use({ 'database-maintenance': maintenance })['database-maintenance'];
            },
            { uses: { 'database-maintenance': '^1.0.0' } },
          ),
        ],
        {
          environment: {
            DB_CONNECTION_STRING: `postgres://tenon@127.0.0.1:${server.port}/x?${query}`,
            ...settings,
          },
          until: 'boot',
        },
      );
      try {
        const before = server.handshakes.length;
        await captureError((opened as DatabaseMaintenance).open());
        const variables = Object.entries((opened as DatabaseMaintenance).programEnvironment());
        return {
          isVerified: server.handshakes.length === before,
          variables: Object.fromEntries(variables.filter(([name]) => /^PGSSL/.test(name))),
        };
      } finally {
        await stop();
      }
    };
    const VERIFIED = { isVerified: true, variables: { PGSSLMODE: 'verify-full', PGSSLROOTCERT: 'system' } };
    const ENCRYPTED = { isVerified: false, variables: { PGSSLMODE: 'require' } };

    it('verifies the certificate where the driver does', async () => {
      for (const query of ['prefer', 'require', 'verify-ca', 'verify-full'].map((mode) => `sslmode=${mode}`))
        expect(await tlsOf(query), query).to.deep.equal(VERIFIED);
      expect(await tlsOf('ssl=true')).to.deep.equal(VERIFIED);
      expect(await tlsOf('', { DB_SSL: 'true' })).to.deep.equal(VERIFIED);
    });

    it('uses the files of the connection string, and leaves out the name of the server only where the driver does', async () => {
      expect((await tlsOf(`sslmode=require&sslrootcert=${ca}`)).variables).to.deep.equal({
        PGSSLMODE: 'verify-full',
        PGSSLROOTCERT: ca,
      });
      expect((await tlsOf(`sslrootcert=${ca}&sslcert=${ca}&sslkey=${key}`)).variables).to.deep.equal({
        ...{ PGSSLMODE: 'verify-full', PGSSLROOTCERT: ca, PGSSLCERT: ca, PGSSLKEY: key },
      });
      const compatible = `uselibpqcompat=true&sslmode=verify-ca&sslrootcert=${ca}`;
      expect((await tlsOf(compatible)).variables).to.deep.equal({ PGSSLMODE: 'verify-ca', PGSSLROOTCERT: ca });
    });

    it('only encrypts where the driver does not verify, and does not where the driver does not', async () => {
      expect(await tlsOf('sslmode=no-verify')).to.deep.equal(ENCRYPTED);
      expect(await tlsOf('ssl=no-verify')).to.deep.equal(ENCRYPTED);
      expect(await tlsOf('', { DB_SSL: 'no-verify' })).to.deep.equal(ENCRYPTED);
      expect((await tlsOf('sslmode=disable', { DB_SSL: 'true' })).variables).to.deep.equal({ PGSSLMODE: 'disable' });
      expect((await tlsOf('')).variables).to.deep.equal({});
    });

    it('is refused where certificates are in settings, which the programs cannot read', async () => {
      for (const [name, value] of [
        ['DB_SSL__CA', SELF_SIGNED_CERTIFICATE],
        ['DB_SSL__SERVERNAME', 'localhost'],
      ] as const)
        expect((await captureError(tlsOf('', { [name]: value }))).message).to.match(/cannot use the certificates/);
    });
  });

  it('one half of a key pair is refused', async () => {
    const { message, remedy } = await fail({ DB_SSL__CERT: SELF_SIGNED_CERTIFICATE });
    expect([message, remedy]).to.deep.equal([
      'DB_SSL__CERT is set, but DB_SSL__KEY is not',
      'set DB_SSL__KEY, or unset DB_SSL__CERT',
    ]);
  });
});
