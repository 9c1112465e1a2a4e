import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { ProviderDriverDeclaration } from '../../../plugins/auth-providers/contract.ts';
import { type AuthDriverKit, describeAuthDriver, readAuthDriverDeclarations } from '../../support/auth-driver-suite.ts';
import { LDAP_ADMIN, LDAP_GROUPS, LDAP_PEOPLE, PERSON_PASSWORD, startDirectory } from '../../support/ldap-server.ts';

type Fault = Parameters<NonNullable<AuthDriverKit['setFault']>>[0];

/** Passes connections on to a port of this machine, or has one of the faults. */
async function startFaultyProxy(port: number) {
  let fault: Fault = 'none';
  const sockets = new Set<Socket>();
  const add = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    return socket;
  };
  const server: Server = createServer((socket) => {
    add(socket);
    if (fault === 'down') socket.destroy();
    else if (fault === 'garbage') socket.end('\u0001<');
    else if (fault === 'none') socket.pipe(add(connect(port, '127.0.0.1'))).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `ldap://localhost:${(server.address() as AddressInfo).port}`,
    setFault: (next: Fault) => void (fault = next),
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

async function openLdapKit(): Promise<AuthDriverKit> {
  const declaration = (await readAuthDriverDeclarations(['auth-ldap'])).get('ldap') as ProviderDriverDeclaration;
  const directory = await startDirectory();
  await directory.addPerson('ann');
  await directory.addPerson('bob');
  await directory.setGroup('editors', ['ann']);
  await directory.setGroup('staff', ['ann', 'bob']);
  const proxy = await startFaultyProxy(Number(new URL(directory.url).port));
  return {
    declaration,
    settings: {
      CLIENT_URL: proxy.url,
      BIND_DN: LDAP_ADMIN.dn,
      BIND_PASSWORD: LDAP_ADMIN.password,
      USER_DN: LDAP_PEOPLE,
      GROUP_DN: LDAP_GROUPS,
    },
    secrets: [LDAP_ADMIN.password, PERSON_PASSWORD],
    knowsVerifiedEmail: false,
    credentialsOf: (user) => ({ identifier: user, password: PERSON_PASSWORD }),
    wrongCredentials: [
      { identifier: 'ann', password: 'wrong' },
      { identifier: 'ann', password: '' },
      { identifier: 'unknown', password: PERSON_PASSWORD },
      { identifier: '*', password: PERSON_PASSWORD },
      { identifier: 'a*', password: PERSON_PASSWORD },
      { identifier: 'ann)(cn=*', password: PERSON_PASSWORD },
      { identifier: 'ann\0', password: PERSON_PASSWORD },
      { email: '*', password: PERSON_PASSWORD },
    ],
    setFault: proxy.setFault,
    async stop() {
      await proxy.stop();
      await directory.stop();
    },
  };
}

describeAuthDriver('ldap', 'credentials', openLdapKit);
