import { expect } from 'chai';
import { createTestUserAccount, createUserSender, makeRole, statusAndCodeOf } from '../plugins/users/test-users.ts';
import { FOREIGN_URLS } from '../support/foreign-urls.ts';
import { expireLinkToken, forgeLinkTokens, signChangedLinkToken } from '../support/forged-link-tokens.ts';
import { type MailLinks, startMailLinks, tokenOf } from '../support/mail-links.ts';
import { type HttpReply, type InProcessService, startService } from '../support/service.ts';

const ALLOWED = 'https://good.example.com/reset, http://localhost:3000/, myapp://reset';
const PASSWORD = 'a password of mine';

interface HostileRequest {
  readonly title: string;
  readonly send: () => Promise<HttpReply>;
  /** Status and code of the answer. */
  readonly answer: readonly [status: number, code: string];
}

/** Requests that try to get more out of links in mails than their holders may. */
describe('hostile requests about links of accounts', function () {
  this.timeout(300_000);
  let mails: MailLinks;
  let service: InProcessService;
  /** A valid token of each purpose, and the mutation and the request that it is for. */
  let tokens: Readonly<Record<'reset' | 'invitation' | 'registration', string>>;
  let adminRole: string;
  let role: string;
  before(async () => {
    mails = await startMailLinks();
    service = await startService({
      env: {
        ...mails.env,
        PUBLIC_URL: 'https://content.example.com',
        PASSWORD_RESET_URL_ALLOW_LIST: ALLOWED,
        USER_INVITE_URL_ALLOW_LIST: ALLOWED,
        USER_REGISTER_URL_ALLOW_LIST: ALLOWED,
        RATE_LIMITER_REGISTRATION_ENABLED: 'false',
        REGISTER_STALL_TIME: '1',
      },
    });
    const admin = createUserSender(service, service.admin.token);
    adminRole = await makeRole(service, { admin_access: true });
    role = await makeRole(service);
    await admin('PATCH', '/settings', { public_registration: true, public_registration_role: role });
    const ann = await createTestUserAccount(service, role);
    await send('/auth/password/request', { email: ann.email });
    await admin('POST', '/users/invite', { email: 'invited@example.com', role });
    await send('/users/register', { email: 'registered@example.com', password: PASSWORD });
    tokens = {
      reset: tokenOf(await mails.linkFor(ann.email)),
      invitation: tokenOf(await mails.linkFor('invited@example.com')),
      registration: tokenOf(await mails.linkFor('registered@example.com')),
    };
  });
  after(async () => {
    await service?.stop();
    await mails?.server.stop();
  });

  const send = (path: string, body: unknown, token: string | null = null) =>
    service.request('POST', path, { body, token });
  const sendAsAdmin = (path: string, body: unknown) => send(path, body, service.admin.token);
  const reset = (token: unknown, more = {}) => send('/auth/password/reset', { token, password: PASSWORD, ...more });
  const accept = (token: unknown, more = {}) => send('/users/invite/accept', { token, password: PASSWORD, ...more });
  const verify = (token: string) =>
    service.request('GET', `/users/register/verify-email?token=${encodeURIComponent(token)}`);
  const mutate = async (field: string, token: string | null = null): Promise<HttpReply> => {
    const reply = await send('/graphql/system', { query: `mutation { ${field} }` }, token);
    // GraphQL answers 200; for the comparison the status of the code is what counts.
    return reply.body?.data?.[field.split('(')[0] as string] === true ? reply : { ...reply, status: 0 };
  };
  const text = (value: string) => JSON.stringify(value);

  function listForeignPages(): readonly HostileRequest[] {
    const answer = [400, 'INVALID_PAYLOAD'] as const;
    const email = 'victim@example.com';
    return FOREIGN_URLS.flatMap((url) => {
      const shown = text(url).slice(0, 60);
      return [
        { title: `reset_url ${shown}`, answer, send: () => send('/auth/password/request', { email, reset_url: url }) },
        {
          title: `invite_url ${shown}`,
          answer,
          send: () => sendAsAdmin('/users/invite', { email, role, invite_url: url }),
        },
        {
          title: `verification_url ${shown}`,
          answer,
          send: () => send('/users/register', { email, password: PASSWORD, verification_url: url }),
        },
      ];
    });
  }

  function listForgedTokens(): readonly HostileRequest[] {
    const invalid = [403, 'INVALID_TOKEN'] as const;
    const uses = [
      ['reset', reset, tokens.reset, ['invitation', 'registration']],
      ['accept', accept, tokens.invitation, ['password-reset', 'registration']],
      ['verify', verify, tokens.registration, ['password-reset', 'invitation']],
    ] as const;
    return uses.flatMap(([name, use, token, purposes]) => [
      ...Object.entries(forgeLinkTokens(token)).map(([title, forged]) => ({
        title: `${name} by a token ${title}`,
        // An invitation without its user is like one that was accepted.
        answer:
          name === 'accept' && title === 'with the id of another user' ? ([400, 'INVALID_PAYLOAD'] as const) : invalid,
        send: () => use(forged),
      })),
      ...[...purposes, 'access', 'toString'].map((scope) => ({
        title: `${name} by a token for ${scope}`,
        answer: invalid,
        send: () => use(signChangedLinkToken(token, { scope })),
      })),
      ...Object.entries(tokens)
        .filter(([, other]) => other !== token)
        .map(([of, other]) => ({ title: `${name} by the link of a ${of}`, answer: invalid, send: () => use(other) })),
      { title: `${name} by an access token`, answer: invalid, send: () => use(service.admin.token) },
      {
        title: `${name} by an expired token`,
        answer: [401, 'TOKEN_EXPIRED'] as const,
        send: () => use(expireLinkToken(token)),
      },
      {
        title: `the token for ${name} as an access token`,
        answer: invalid,
        send: () => service.request('GET', '/users/me', { token }),
      },
      {
        title: `the token for ${name} as an access token of an admin`,
        answer: invalid,
        send: () =>
          service.request('GET', '/users', {
            token: signChangedLinkToken(token, { admin_access: true, app_access: true, role: adminRole }),
          }),
      },
    ]);
  }

  function listMassAssignments(): readonly HostileRequest[] {
    const answer = [400, 'INVALID_PAYLOAD'] as const;
    const extras = {
      role: adminRole,
      status: 'active',
      token: 'a static token',
      provider: 'ldap',
      external_identifier: 'x',
      tfa_secret: 'x',
      id: '00000000-0000-4000-8000-000000000000',
      admin_access: true,
      $type: 'x',
      constructor: { role: adminRole },
    };
    const email = 'assigned@example.com';
    return Object.entries(extras).flatMap(([name, value]) => {
      const more = { [name]: value };
      const isOwn = (members: readonly string[]) => members.includes(name);
      return [
        {
          title: `register with ${name}`,
          answer,
          send: () => send('/users/register', { email, password: PASSWORD, ...more }),
        },
        ...(isOwn(['role'])
          ? []
          : [
              {
                title: `invite with ${name}`,
                answer,
                send: () => sendAsAdmin('/users/invite', { email, role, ...more }),
              },
            ]),
        ...(isOwn(['token'])
          ? []
          : [
              { title: `accept with ${name}`, answer, send: () => accept(tokens.invitation, more) },
              { title: `reset with ${name}`, answer, send: () => reset(tokens.reset, more) },
            ]),
        {
          title: `request a link with ${name}`,
          answer,
          send: () => send('/auth/password/request', { email, ...more }),
        },
      ];
    });
  }

  function listGraphqlRequests(): readonly HostileRequest[] {
    const foreign = text('https://good.example.com.evil.org/reset');
    const password = `password: ${text(PASSWORD)}`;
    const email = `email: ${text('victim@example.com')}`;
    const expired = (token: string) => `token: ${text(expireLinkToken(token))}`;
    const cases: readonly (readonly [field: string, code: string, token?: string])[] = [
      [`auth_password_request(${email}, reset_url: ${foreign})`, 'INVALID_PAYLOAD'],
      [`users_invite(${email}, role: ${text(role)}, invite_url: ${foreign})`, 'INVALID_PAYLOAD', service.admin.token],
      [`users_register(${email}, ${password}, verification_url: ${foreign})`, 'INVALID_PAYLOAD'],
      [`auth_password_reset(token: ${text(tokens.invitation)}, ${password})`, 'INVALID_TOKEN'],
      [`auth_password_reset(${expired(tokens.reset)}, ${password})`, 'TOKEN_EXPIRED'],
      [`users_invite_accept(token: ${text(tokens.reset)}, ${password})`, 'INVALID_TOKEN'],
      [`users_invite_accept(${expired(tokens.invitation)}, ${password})`, 'TOKEN_EXPIRED'],
      [`users_register_verify(token: ${text(tokens.reset)})`, 'INVALID_TOKEN'],
      [`users_register_verify(${expired(tokens.registration)})`, 'TOKEN_EXPIRED'],
    ];
    return cases.map(([field, code, token]) => ({
      title: field.slice(0, 60),
      answer: [0, code],
      send: () => mutate(field, token),
    }));
  }

  it('are all refused with the documented status and code, and change nothing', async function () {
    const state = () =>
      service.database.query(
        `select u.id, u.email, u.role, u.status, u.password, u.provider, u.token, u.external_identifier, u.tfa_secret
        from platform_users u order by u.id`,
      );
    const before = await state();
    const { length: mailed } = mails.server.received;
    const requests = [...listForeignPages(), ...listForgedTokens(), ...listMassAssignments(), ...listGraphqlRequests()];
    const wrong: string[] = [];
    const waiting = [...requests];
    const work = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const [status, code] = statusAndCodeOf(await next.send());
        const [expectedStatus, expectedCode] = next.answer;
        if (status !== expectedStatus || code !== expectedCode) wrong.push(`${next.title}: ${status} ${code}`);
      }
    };
    await Promise.all(Array.from({ length: 6 }, work));
    if (this.test) this.test.title += ` (${requests.length} requests)`;
    expect(wrong).to.deep.equal([]);
    expect(requests).to.have.length.above(300);
    expect(await state()).to.deep.equal(before);
    // The links are good all the same.
    expect((await reset(tokens.reset)).status).to.equal(200);
    expect((await accept(tokens.invitation)).status).to.equal(204);
    expect((await verify(tokens.registration)).status).to.equal(302);
    expect(mails.server.received).to.have.length(mailed);
  });
});
