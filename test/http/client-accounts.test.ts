import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { clientLibrary, createAdminClient, expectClientError, type Untyped } from '../support/client-library.ts';
import { type MailLinks, startMailLinks, tokenOf } from '../support/mail-links.ts';
import { type InProcessService, startService } from '../support/service.ts';

/** The commands of a published client library for passwords, invitations and registrations. */
describe('a published client library on accounts', function () {
  this.timeout(120_000);
  let mails: MailLinks;
  let service: InProcessService;
  /** Serves the pages below PUBLIC_URL. */
  let pages: Server;
  let asAdmin: (command: Untyped) => Promise<Untyped>;
  let asVisitor: (command: Untyped) => Promise<Untyped>;
  before(async () => {
    pages = createServer(({ url }, response) =>
      response.writeHead(200, { 'content-type': 'text/plain' }).end(`page ${url}`),
    ).listen(0, '127.0.0.1');
    await new Promise((resolve) => pages.once('listening', resolve));
    mails = await startMailLinks();
    service = await startService({
      env: { ...mails.env, PUBLIC_URL: `http://127.0.0.1:${(pages.address() as AddressInfo).port}` },
    });
    asAdmin = createAdminClient(service);
    const client = clientLibrary.createDirectus(service.url).with(clientLibrary.rest());
    asVisitor = (command) => client.request(command);
  });
  after(async () => {
    await service?.stop();
    await mails?.server.stop();
    pages?.close();
  });

  const login = (email: string, password: string) =>
    asVisitor(clientLibrary.login({ email, password }, { mode: 'json' }));

  it('passwordRequest and passwordReset set a new password', async () => {
    const email = 'forgetful@example.com';
    await asAdmin(clientLibrary.createUser({ email, password: 'forgotten' }));
    await asVisitor(clientLibrary.passwordRequest(email));
    const token = tokenOf(await mails.linkFor(email));
    await asVisitor(clientLibrary.passwordReset(token, 'remembered'));
    expect((await login(email, 'remembered')).access_token).to.be.a('string');
    expect(await expectClientError(asVisitor(clientLibrary.passwordReset(token, 'again')))).to.include({
      status: 403,
      code: 'INVALID_TOKEN',
    });
  });

  it('inviteUser and acceptUserInvite make an active user', async () => {
    const email = 'invited@example.com';
    const role = (await asAdmin(clientLibrary.createRole({ name: 'invited' }))).id;
    await asAdmin(clientLibrary.inviteUser(email, role));
    const token = tokenOf(await mails.linkFor(email));
    await asVisitor(clientLibrary.acceptUserInvite(token, 'a password'));
    expect((await login(email, 'a password')).access_token).to.be.a('string');
    expect(await expectClientError(asVisitor(clientLibrary.acceptUserInvite(token, 'x')))).to.include({ status: 400 });
  });

  it('registerUser and registerUserVerify make an active user', async () => {
    const email = 'visitor@example.com';
    const register = () => asVisitor(clientLibrary.registerUser(email, 'a password', { first_name: 'Ann' }));
    expect(await expectClientError(register())).to.include({ status: 403, code: 'FORBIDDEN' });
    await asAdmin(clientLibrary.updateSettings({ public_registration: true }));
    await register();
    const token = tokenOf(await mails.linkFor(email));
    expect(await asVisitor(clientLibrary.registerUserVerify(token))).to.equal('page /admin/login');
    expect((await login(email, 'a password')).access_token).to.be.a('string');
  });
});
