import { once } from 'node:events';
import { createServer } from 'node:net';
import { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import type { BootFailure } from '#kernel';
import { renderBootFailure } from '../../../scripts/render-boot-failure.ts';
import { databaseServerUrl } from '../../support/database.ts';
import { SELF_SIGNED_CERTIFICATE, SELF_SIGNED_CERTIFICATE_KEY } from '../../support/self-signed-certificate.ts';
import { captureError } from '../../support/test-plugins.ts';
import { startTestKernel } from './test-kernel.ts';

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

/** A server that speaks the beginning of PostgreSQL's protocol: it agrees to TLS, and closes once TLS stands or has failed. */
async function startTlsServer() {
  const handshakes: { client?: string }[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
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

  it('one half of a key pair is refused', async () => {
    const { message, remedy } = await fail({ DB_SSL__CERT: SELF_SIGNED_CERTIFICATE });
    expect([message, remedy]).to.deep.equal([
      'DB_SSL__CERT is set, but DB_SSL__KEY is not',
      'set DB_SSL__KEY, or unset DB_SSL__CERT',
    ]);
  });
});
