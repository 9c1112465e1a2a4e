import type { Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import {
  LDAP_ADMIN,
  LDAP_GROUPS,
  LDAP_PEOPLE,
  PERSON_PASSWORD,
  type TestDirectory,
} from '../../support/ldap-server.ts';
import type { HttpReply, RunningTestService } from '../../support/service.ts';

/** Settings of the provider `corp`, or of another one, for a directory of a test. */
export const ldapSettings = (
  directory: Pick<TestDirectory, 'url'>,
  others: Readonly<Record<string, string>> = {},
  name = 'CORP',
): Record<string, string> => ({
  [`AUTH_${name}_DRIVER`]: 'ldap',
  [`AUTH_${name}_CLIENT_URL`]: directory.url,
  [`AUTH_${name}_BIND_DN`]: LDAP_ADMIN.dn,
  [`AUTH_${name}_BIND_PASSWORD`]: LDAP_ADMIN.password,
  [`AUTH_${name}_USER_DN`]: LDAP_PEOPLE,
  [`AUTH_${name}_GROUP_DN`]: LDAP_GROUPS,
  [`AUTH_${name}_ALLOW_PUBLIC_REGISTRATION`]: 'true',
  ...others,
});

/** Signs in by the provider `corp`. */
export const signInByLdap = (
  service: Pick<RunningTestService, 'request'>,
  credentials: Readonly<Record<string, unknown>>,
): Promise<HttpReply> =>
  service.request('POST', '/auth/login/corp', { body: { password: PERSON_PASSWORD, ...credentials } });

/** Status and code of a refusal, as one text. */
export const refusalOf = ({ status, body }: HttpReply): string => `${status} ${body?.errors?.[0]?.extensions.code}`;

/** A server that is no directory. `answer` has each connection. */
export async function startFalseDirectory(
  answer: (socket: Socket) => void,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    answer(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `ldap://localhost:${port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
